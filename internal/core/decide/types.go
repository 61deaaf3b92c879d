// Package decide is what happens to an event: enriched, run through the pipeline, routed to channels, and in
// each channel dropped, merged into its alert, silenced, inhibited, muted for flapping or grouped into an
// incident. It is pure: given the same configuration, state and moment it says the same, with every reason
// beside it, so that "why" is never put together afterwards.
//
// It must never read or write anything: what it needs to know of alerts and incidents it asks State for, and
// what shall become of them it says in a Verdict.
package decide

import "tocsin/internal/core/event"

// Outcome is what became of an event in a channel. Every event ends with exactly one in each channel it was
// routed to, or with Unrouted, Discarded or Failed in none.
type Outcome string

// The outcomes.
const (
	Discarded Outcome = "discarded" // the pipeline dropped it
	Unrouted  Outcome = "unrouted"  // no channel takes it: no case of its route matched, or there is no route
	Dropped   Outcome = "dropped"   // the channel is disabled, a drop rule matched, or a silence or inhibit rule that discards
	Repeated  Outcome = "repeated"  // it says what its alert's last event said: the alert was refreshed
	Silenced  Outcome = "silenced"  // a silence rule matched: its alert is kept, nobody is told
	Inhibited Outcome = "inhibited" // an active alert that inhibits it is there: likewise
	Flapping  Outcome = "flapping"  // its alert changes too often and is muted: likewise
	Opened    Outcome = "opened"    // it opened an incident
	Grouped   Outcome = "grouped"   // its alert joined an incident, or already was in one
	Recovered Outcome = "recovered" // it ended its alert
	Unmatched Outcome = "unmatched" // an Ok without an open alert: nothing to end
	Failed    Outcome = "failed"    // deciding it failed again and again; the reason is kept and a person has to look
)

// Muted tells whether the outcome keeps an alert without telling anybody.
func (o Outcome) Muted() bool { return o == Silenced || o == Inhibited || o == Flapping }

// Verdict is what becomes of an event in one channel.
type Verdict struct {
	Channel  int64       // 0: in none
	Outcome  Outcome     // what became of it
	Event    event.Event // as enrichment and pipeline left it
	Alert    *Alert      // its alert as it is from now on; nil when none is touched
	New      bool        // the alert did not exist
	Grouping Grouping    // what it means for incidents
	Feed     []string    // types of entries for the alert's feed, such as a_new and a_m_silence
	Trace    []Step      // every look at every rule
	Steps    int64       // what deciding the event took, up to this verdict (see filter.Meter)
	Over     []Step      // of these, the looks at rules that would have cost too much and count as not matching
}

// Grouping says which incident an alert belongs to.
type Grouping struct {
	Join  string // the incident it joins; empty: it stays where it is
	Open  bool   // open a new incident with it
	Key   string // what the alerts of an incident have in common, for the next one to join; empty: none may
	Storm int64  // the storm threshold that is reached with it; 0: none
}

// Step is one look at one rule, or one thing that was done, in the order it happened.
type Step struct {
	Stage   string `json:"stage" doc:"enrichment, pipeline, route, channel, drop, merge, silence, inhibit, flapping or group."`
	Rule    string `json:"rule_id,omitzero" doc:"The rule that was looked at."`
	Name    string `json:"rule_name,omitzero" doc:"Its name at that time."`
	Matched bool   `json:"matched" doc:"Whether it applied."`
	Why     string `json:"why" doc:"The condition that was met or not with the value it saw, or what was done, in words."`
	Over    bool   `json:"-"` // it would have cost too much and counts as not matching
}

// Alert is what is known of an alert.
type Alert struct {
	ID          string // empty: not stored yet
	Channel     int64
	Incident    string // the incident it is in; empty: none
	Key         string
	Integration int64
	TitleRule   string
	Title       string
	Description string
	Severity    string // the highest so far
	Status      string // of the last event
	Labels      map[string]string
	Images      []event.Image
	Start       int64 // Unix seconds, as all times here
	Last        int64
	End         int64 // 0: active
	Events      int64 // how many it has had
	EverMuted   bool
	Muted       Outcome // why nobody is told just now: Silenced, Inhibited or Flapping; empty: people are told
	MutedBy     string  // the rule, or for Inhibited the alert that inhibits it
	MutedUntil  int64   // when to decide again, Unix seconds; 0: not muted
	Changes     []int64 // moments of its latest changes between active and over, oldest first, at most 100
}

// Active tells whether the alert is not over.
func (a *Alert) Active() bool { return a.End == 0 }

// Source is an active alert that may inhibit others.
type Source struct {
	Alert
	Acked bool // its incident is acknowledged
}

// Group is an open incident that alerts may join.
type Group struct {
	Incident string
	Started  int64 // Unix seconds
	Last     int64 // when its latest alert joined
	Alerts   int64 // how many it has
}

// State is what a decision asks about the account: its configuration, made ready, and its alerts and
// incidents at the moment before the event. An error ends the decision.
type State interface {
	// Inlet says where the events of an integration go; nil: there is none of this id.
	Inlet(integration int64) (*Inlet, error)
	// Channel says how a channel handles its alerts; nil: there is none of this id.
	Channel(id int64) (*Channel, error)
	// Alert is the channel's latest alert of this key, over or not; nil: there is none.
	Alert(channel int64, key string) (*Alert, error)
	// Sources lists the channel's active alerts that had an event at since or later, by their ids.
	Sources(channel int64, since int64) ([]Source, error)
	// Group is the latest incident of the channel with this group key that is open; nil: there is none.
	Group(channel int64, key string) (*Group, error)
}
