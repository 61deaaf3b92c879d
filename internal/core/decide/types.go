// Package decide decides what happens to an event. The event is enriched, passes the pipeline and is routed to
// channels. In each channel it is dropped, merged into its alert, silenced, inhibited, muted for flapping or
// grouped into an incident. The package is pure: the same configuration, state and time have the same verdict. The
// verdict contains every reason, so that no explanation is composed afterwards.
//
// It must never read or write anything: it asks State for alerts and incidents, and returns their changes in a
// Verdict.
package decide

import (
	"iter"
	"maps"

	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
)

// Outcome is the result of an event in a channel. Every event has exactly one in each channel it was routed to, or
// Unrouted, Discarded or Failed in none.
type Outcome string

// The outcomes.
const (
	Discarded Outcome = "discarded"        // the pipeline dropped the event
	Unrouted  Outcome = "unrouted"         // no channel takes the event: no case of its route matched, or there is no route
	Dropped   Outcome = "dropped"          // the channel is gone, a drop rule matched, or a silence or inhibit rule that discards
	Repeated  Outcome = "repeated"         // the event equals its alert's last event: the alert was refreshed
	Silenced  Outcome = "silenced"         // a silence rule matched: the alert is kept, no notification is sent
	Inhibited Outcome = "inhibited"        // another active alert inhibits the alert, which is kept: no notification is sent
	Disabled  Outcome = "channel_disabled" // the channel is disabled: the alert is kept, no notification is sent
	Flapping  Outcome = "flapping"         // an Ok of an alert that changes too often: the alert ends once it has been quiet
	Opened    Outcome = "opened"           // the event opened an incident
	Grouped   Outcome = "grouped"          // the alert joined an incident, or already was in one
	Recovered Outcome = "recovered"        // the event ended its alert
	Unmatched Outcome = "unmatched"        // an Ok without an open alert: nothing to end
	Failed    Outcome = "failed"           // deciding the event failed repeatedly; the reason is stored for a person to check
)

// Muted reports whether the outcome keeps the alert without a notification.
func (o Outcome) Muted() bool { return o == Silenced || o == Inhibited || o == Disabled }

// Words names the outcome in a sentence. Others than these have sentences of their own.
func (o Outcome) Words() sentence.Value {
	switch o {
	case Dropped:
		return sentence.New("dropped")
	case Silenced:
		return sentence.New("silenced")
	case Inhibited:
		return sentence.New("inhibited")
	case Flapping:
		return sentence.New("flapping")
	}
	return sentence.Raw(string(o))
}

// Verdict is the decision about an event in one channel.
type Verdict struct {
	Channel  int64 // 0: in none
	Outcome  Outcome
	Event    event.Event // after enrichment and pipeline
	Alert    *Alert      // its alert with all changes; nil when none changes
	New      bool        // the alert did not exist
	Grouping Grouping    // which incident the alert joins or opens
	Feed     []string    // types of entries for the alert's feed, such as a_new and a_m_silence
	Trace    []Step      // every evaluation of a rule
	Steps    int64       // what deciding the event took, up to this verdict (see filter.Meter)
	Frees    bool        // the alert is over or has changed: what it inhibits must be decided again
	Over     []Step      // the steps of Trace that exceeded the budget and count as not matching

	Flaps     Flaps // the settings by which the alert changes too often; zero: the alert does not
	Settled   bool  // the alert does not change too often any more
	Again     Again // why the alert notifies again in its incident
	Unchanged bool  // the alert was decided again, and nothing changed that a person wants explained
}

// Grouping is the incident that an alert belongs to.
type Grouping struct {
	Join  string // the incident it joins; empty: it stays where it is
	Open  bool   // open a new incident with it
	Key   string // the group key by which later alerts join the incident; empty: none may
	Storm int64  // the storm threshold that is reached with it; 0: none
	// BySource reports whether the group is the source's own: the key is of group_key alone.
	BySource bool
}

// Step is one evaluation of a rule, or one action, in the order in which they happened. It is stored as JSON.
type Step struct {
	Stage   string         `json:"stage"` // enrichment, pipeline, route, channel, drop, merge, silence, inhibit, flapping or group
	Rule    string         `json:"rule_id,omitzero"`
	Name    string         `json:"rule_name,omitzero"` // of the rule, at that time
	Matched bool           `json:"matched"`
	Why     sentence.Value `json:"why"` // the condition that was met or not with the value it saw, or what was done
	// Channels and Until are what follows from a step that matched.
	Channels []int64 `json:"channel_ids,omitempty"` // of a case of a route: the channels that it leads to
	Until    int64   `json:"until,omitzero"`        // of a rule that mutes the alert: until when, Unix seconds, unless the rules change
	Joins    bool    `json:"joins,omitzero"`        // the alert joins an incident that was open already
	Over     bool    `json:"-"`                     // the rule exceeded its budget and counts as not matching
}

// Alert is an alert with all that decisions depend on.
type Alert struct {
	ID            string // empty: not stored yet
	Channel       int64
	Incident      string // the alert's incident; empty: none
	Key           string
	Integration   int64
	TitleRule     string
	Title         string
	Description   string
	Severity      string // the highest so far
	Status        string // status of the last event
	Labels        map[string]string
	Identifying   string // the names of labels that identify the alert at its source (see event.Identifying)
	Images        []event.Image
	GroupKey      string // the group into which the source puts the alert; empty: none
	Start         int64  // Unix seconds, as all times here
	Last          int64
	End           int64 // 0: active
	Events        int64 // how many events the alert has had
	EverMuted     bool
	Muted         Outcome // why no notification is sent now: Silenced, Inhibited or Disabled; empty: not muted
	MutedBy       string  // the rule, or for Inhibited the alert that inhibits it
	MutedUntil    int64   // when to decide again, Unix seconds; 0: not before its next event
	FlapsUntil    int64   // when an alert that changes too often has been quiet for long enough; 0: the alert does not
	FlapsNotified int64   // notification about an alert that changes too often: 0, NotifiedEarlier or NotifiedNow
	Changes       []int64 // times of the alert's latest changes between active and ended, oldest first, at most 100
}

// Active reports whether the alert has not ended.
func (a *Alert) Active() bool { return a.End == 0 }

// alike reports whether two states of an alert are equal in everything that rules match.
func (a *Alert) alike(b *Alert) bool {
	return a.Status == b.Status && a.Title == b.Title && a.Description == b.Description && a.GroupKey == b.GroupKey &&
		maps.Equal(a.Labels, b.Labels)
}

// Group is an open incident that alerts may join.
type Group struct {
	Incident string
	Started  int64 // Unix seconds
	Last     int64 // when its latest alert joined
	Alerts   int64 // how many alerts it has
}

// State is the account as decisions see it: its compiled configuration, and its alerts and incidents before the event.
// An error ends the decision.
type State interface {
	// Inlet returns where the events of an integration go; nil: there is no integration of this id.
	Inlet(integration int64) (*Inlet, error)
	// Channel returns how a channel handles its alerts; nil: there is no channel of this id.
	Channel(id int64) (*Channel, error)
	// Alert returns the channel's latest alert of this key, active or ended; nil: there is none.
	Alert(channel int64, key string) (*Alert, error)
	// Sources returns the channel's active alerts, those with the latest events first.
	Sources(channel int64) (iter.Seq[*Alert], error)
	// Source returns an active alert of the channel; nil: there is none of this id.
	Source(channel int64, id string) (*Alert, error)
	// Group returns the channel's latest open incident with this group key; nil: there is none.
	Group(channel int64, key string) (*Group, error)
}
