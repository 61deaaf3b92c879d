package console

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// explanation is what the operations that explain answer.
type explanation struct {
	Summary   string    `json:"summary"`
	Words     []string  `json:"words"`
	Waiting   bool      `json:"waiting"`
	Verdicts  []verdict `json:"verdicts"`
	Later     []verdict `json:"later"`
	Incidents []story   `json:"incidents"`
}

// verdict is what was decided about an event.
type verdict struct {
	EventID    string `json:"event_id"`
	At         int64  `json:"decided_at"` // Unix milliseconds
	ChannelID  int64  `json:"channel_id"`
	Outcome    string `json:"outcome"`
	AlertID    string `json:"alert_id"`
	IncidentID string `json:"incident_id"`
	Name       string `json:"headline"`
	Trace      []step `json:"trace"`
}

// step is a rule that was tried.
type step struct {
	Stage   string `json:"stage"`
	RuleID  string `json:"rule_id"`
	Rule    string `json:"rule_name"`
	Matched bool   `json:"matched"`
	Why     string `json:"why"`
	Until   int64  `json:"until"`
}

// InChannel reports whether the rule is one of a channel.
func (s step) InChannel() bool {
	return s.Stage == "drop" || s.Stage == "silence" || s.Stage == "inhibit"
}

// story is what happened to an incident.
type story struct {
	ID      string   `json:"incident_id"`
	Title   string   `json:"title"`
	Notices []notice `json:"notices"`
	Next    *next    `json:"next"`
}

// notice is a notification.
type notice struct {
	PersonID int64  `json:"person_id"`
	Person   string `json:"person_name"`
	Way      string `json:"way"`
	Reason   string `json:"reason"`
	Status   string `json:"status"`
	Attempts int64  `json:"attempts"`
	Created  int64  `json:"created_at"` // Unix milliseconds
	Settled  int64  `json:"settled_at"`
	Due      int64  `json:"due_at"`
	Outcome  string `json:"outcome"`
}

// Reached returns the names of the persons who were notified; empty when no person was.
func (x explanation) Reached() string {
	var all []string
	for _, s := range x.Incidents {
		for _, n := range s.Notices {
			if n.Status == "sent" && n.Person != "" && !slices.Contains(all, n.Person) {
				all = append(all, n.Person)
			}
		}
	}
	return strings.Join(all, ", ")
}

// explain calls an operation that explains.
func (v *visit) explain(path string, request map[string]any) (x explanation, err error) {
	err = v.call(path, request, &x)
	return x, err
}

// link is one part of the chain from an event to the person who was notified.
type link struct {
	At      int64 // Unix seconds; 0: not yet
	Text    string
	Title   string // of the event, or what a person wrote
	Reason  string // in the words that the engine stored
	Steps   []step // the rules that were tried
	Channel int64
	Rules   string // the page of the rules of Steps; empty: none
	Alert   string
	Person  int64
	Bad     bool
}

// outcomes are the texts of verdicts.
var outcomes = map[string]string{
	"discarded": "An event was discarded.", "unrouted": "No channel takes the event.", "dropped": "The event was dropped.",
	"repeated": "The event repeats one that is known.", "silenced": "The alert was silenced.", "inhibited": "The alert was inhibited.",
	"flapping": "The alert changes too often.", "channel_disabled": "The alert is held back: its channel is disabled.",
	"opened":    "The alert opened the incident.",
	"grouped":   "The alert joined the incident.",
	"recovered": "The alert is over.", "unmatched": "An end came for an alert that is not known.", "failed": "The event could not be decided.",
}

// chain returns the links of an explanation in the order in which they happened, with the feed of an incident between
// them: notifications are in both, and taken from the explanation, which has their reasons.
func (v *visit) chain(x explanation, happened []feedLine) []link {
	var all []link
	for _, w := range slices.Concat(x.Verdicts, x.Later) {
		l := link{
			At: w.At / 1000, Text: v.T(cmp.Or(outcomes[w.Outcome], w.Outcome)), Title: w.Name, Steps: w.Trace, Channel: w.ChannelID,
			Alert: w.AlertID,
		}
		l.Bad = w.Outcome == "unrouted" || w.Outcome == "failed"
		if w.ChannelID != 0 {
			l.Rules = "/channels/" + strconv.FormatInt(w.ChannelID, 10)
		}
		all = append(all, l)
	}
	for _, f := range happened {
		text := f.Text
		if f.Who != "" {
			text = f.Who + ": " + text
		}
		all = append(all, link{At: f.At, Text: text, Title: f.Words, Reason: f.Reason, Bad: f.Bad})
	}
	for _, s := range x.Incidents {
		for _, n := range s.Notices {
			all = append(all, v.noticeLink(n))
		}
	}
	slices.SortStableFunc(all, func(a, b link) int { return cmp.Compare(a.At, b.At) })
	for _, s := range x.Incidents {
		if s.Next != nil {
			all = append(all, link{Text: v.T("Next: %s at %s, if no person acknowledges before.", v.NotifiedNext(s.Next), v.When(s.Next.At))})
		}
	}
	return all
}

// noticeLink describes a notification.
func (v *visit) noticeLink(n notice) link {
	who := cmp.Or(n.Person, v.T("a chat or address"))
	l := link{At: n.Created / 1000, Person: n.PersonID, Reason: n.Reason}
	switch n.Status {
	case "sent":
		l.Text = v.T("Notified %s over %s.", who, v.Way(n.Way))
	case "failed":
		l.Text, l.Bad = v.T("Could not notify %s over %s.", who, v.Way(n.Way)), true
	case "cancelled":
		l.Text = v.T("The notification to %s over %s was cancelled.", who, v.Way(n.Way))
	default:
		l.Text = v.T("The notification to %s over %s waits until %s.", who, v.Way(n.Way), v.When(n.Due/1000))
	}
	if n.Outcome != "" && n.Status != "sent" {
		l.Reason = strings.Trim(l.Reason+"; "+n.Outcome, "; ")
	}
	return l
}

type whyView struct {
	titled
	Back    string // the address of what is explained
	Name    string
	Reached string // the persons who were notified
	Summary string // why no person was
	Waiting bool
	Chain   []link
	Words   []string
}

func showIncidentWhy(v *visit) (view, error) {
	i, err := v.findIncident()
	if err != nil {
		return nil, err
	}
	x, err := v.explain("/incident/explain", map[string]any{"incident_id": i.ID})
	if err != nil {
		return nil, err
	}
	var reply struct {
		Items []feedEntry `json:"items"`
	}
	request := map[string]any{"incident_id": i.ID, "limit": 100, "asc": true, "types": chainTypes}
	if err := v.call("/incident/feed", request, &reply); err != nil {
		return nil, err
	}
	reply.Items = slices.DeleteFunc(reply.Items, func(e feedEntry) bool { return e.Type == "i_notify" && e.Detail.By != "nobody" })
	happened, err := v.described(reply.Items)
	return v.whyOf(x, i.Title, "/incidents/"+i.ID, happened), err
}

// whyOf returns the view of an explanation of something with a name, which has its page at back.
func (v *visit) whyOf(x explanation, name, back string, happened []feedLine) whyView {
	return whyView{
		titled: titled(v.T("Why: %s", name)), Back: back, Name: name, Reached: x.Reached(), Summary: x.Summary, Waiting: x.Waiting,
		Chain: v.chain(x, happened), Words: x.Words,
	}
}

// chainTypes are the entries of a feed that belong into the chain.
var chainTypes = []string{
	"i_new", "i_assign", "i_a_rspd", "i_notify", "i_exhausted", "i_escalate", "i_ack", "i_unack", "i_answer", "i_snooze",
	"i_wake", "i_rslv", "i_reopen", "i_merge", "i_r_severity", "i_join", "i_flap", "i_storm", "i_silence", "i_undone",
}

// stages names the stages of deciding.
var stages = map[string]string{
	"enrichment": "Enrichment", "pipeline": "Pipeline", "route": "Route", "channel": "Channel", "drop": "Drop rule", "merge": "Merging",
	"silence": "Silence", "inhibit": "Inhibition", "flapping": "Flapping", "group": "Grouping",
}

// Stage names a stage of deciding.
func (v *visit) Stage(name string) string { return v.T(cmp.Or(stages[name], name)) }

// verdictTags are the outcomes of events that became no part of an alert, in a word.
var verdictTags = map[string]string{"dropped": "Dropped", "discarded": "Discarded", "unrouted": "No channel", "failed": "Failed"}

// Outcome names the outcome of an event in a word.
func (v *visit) Outcome(name string) string { return v.T(cmp.Or(verdictTags[name], name)) }
