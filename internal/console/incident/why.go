package incident

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/explain"
	incidents "tocsin/internal/incident"
)

// explanation is what the operations that explain answer.
type explanation struct{ explain.Explanation }

// triedStep is a rule that was tried.
type triedStep struct{ explain.Step }

// InChannel reports whether the rule is one of a channel.
func (s triedStep) InChannel() bool {
	return s.Stage == "drop" || s.Stage == "silence" || s.Stage == "inhibit"
}

// Reached returns the names of the persons who were notified; empty when no person was.
func (x explanation) Reached() string {
	var all []string
	for _, s := range x.Incidents {
		for _, n := range s.Notices {
			if n.Status == "sent" && n.PersonName != "" && !slices.Contains(all, n.PersonName) {
				all = append(all, n.PersonName)
			}
		}
	}
	return strings.Join(all, ", ")
}

// explainIncident explains an incident.
func explainIncident(v *page.Visit, id string) (explanation, error) {
	x, err := page.Call[explain.Explanation](v, "/incident/explain", incidents.OneRequest{IncidentID: id})
	return explanation{x}, err
}

// explainAlert explains an alert, or an event or an issue that may have become none.
func explainAlert(v *page.Visit, request explain.AlertRequest) (explanation, error) {
	x, err := page.Call[explain.Explanation](v, "/alert/explain", request)
	return explanation{x}, err
}

// link is one part of the chain from an event to the person who was notified.
type link struct {
	At      int64 // Unix seconds; 0: not yet
	Text    string
	Title   string         // of the event, or what a person wrote
	Reason  sentence.Words // as the engine stored it
	Steps   []triedStep    // the rules that were tried
	Channel int64
	Rules   string // the page of the rules of Steps; empty: none
	Alert   string
	Person  int64
	Bad     bool
}

// outcomes are the texts of verdicts.
var outcomes = map[string]string{
	"discarded": "The event was discarded.", "unrouted": "No channel takes the event.", "dropped": "The event was discarded.",
	"repeated": "The event repeats one that is known.", "silenced": "The alert was silenced.", "inhibited": "The alert was inhibited.",
	"flapping": "The alert changes too often.", "channel_disabled": "The alert is muted: its channel is disabled.",
	"opened":    "The alert opened the incident.",
	"grouped":   "The alert joined the incident.",
	"recovered": "The alert ended.", "unmatched": "An end came for an alert that is not known.", "failed": "The event could not be decided.",
}

// chain returns the links of an explanation in the order in which they happened, with the feed of an incident between
// them: notifications are in both, and taken from the explanation, which has their reasons.
func chain(v *page.Visit, x explanation, happened []feedLine) []link {
	var all []link
	for _, w := range slices.Concat(x.Verdicts, x.Later) {
		l := link{
			At: w.DecidedAt / 1000, Text: v.T(cmp.Or(outcomes[w.Outcome], w.Outcome)), Title: w.Headline, Channel: w.ChannelID,
			Alert: w.AlertID,
		}
		for _, s := range w.Trace {
			l.Steps = append(l.Steps, triedStep{s})
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
			all = append(all, noticeLink(v, n))
		}
	}
	slices.SortStableFunc(all, func(a, b link) int { return cmp.Compare(a.At, b.At) })
	for _, s := range x.Incidents {
		if s.Next != nil {
			all = append(all, link{Text: v.T("Next: %s at %s, if no person acknowledges before.", notifiedNext(v, s.Next), v.When(s.Next.At))})
		}
	}
	return all
}

// noticeLink describes a notification.
func noticeLink(v *page.Visit, n explain.Notice) link {
	who := cmp.Or(n.PersonName, v.T("a chat or address"))
	l := link{At: n.CreatedAt / 1000, Person: n.PersonID, Reason: n.Reason}
	switch n.Status {
	case "sent":
		l.Text = v.T("Notified %s by %s.", who, v.Way(n.Method))
	case "failed":
		l.Text, l.Bad = v.T("Could not notify %s by %s.", who, v.Way(n.Method)), true
	case "cancelled":
		l.Text = v.T("The notification to %s by %s was cancelled.", who, v.Way(n.Method))
	default:
		l.Text = v.T("The notification to %s by %s waits until %s.", who, v.Way(n.Method), v.When(n.DueAt/1000))
	}
	if n.Outcome != "" && n.Status != "sent" {
		l.Reason = sentence.Words(sentence.Join(sentence.Value(l.Reason), sentence.Value(n.Outcome)))
	}
	return l
}

type whyView struct {
	page.Titled
	Back    string // the address of what is explained
	Name    string
	Reached string         // the persons who were notified
	Summary sentence.Words // why no person was
	Waiting bool
	Chain   []link
	Words   []sentence.Words
}

func showIncidentWhy(v *page.Visit) (page.View, error) {
	i, err := findIncident(v)
	if err != nil {
		return nil, err
	}
	x, err := explainIncident(v, i.IncidentID)
	if err != nil {
		return nil, err
	}
	request := incidents.FeedRequest{OneRequest: i.one(), FeedRequest: alert.FeedRequest{Asc: true, Types: chainTypes}}
	request.Limit = 100
	reply, err := page.Call[api.CursorPage[alert.Entry]](v, "/incident/feed", request)
	if err != nil {
		return nil, err
	}
	entries, err := feedEntries(reply.Items)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e feedEntry) bool { return e.Type == "i_notify" && e.Detail.By != "nobody" })
	happened, err := described(v, entries)
	return whyOf(v, x, i.Headline, "/incidents/"+i.IncidentID, happened), err
}

// whyOf returns the view of an explanation of something with a name, which has its page at back.
func whyOf(v *page.Visit, x explanation, name, back string, happened []feedLine) whyView {
	return whyView{
		Titled: page.Titled(v.T("Why: %s", name)), Back: back, Name: name, Reached: x.Reached(), Summary: x.Summary, Waiting: x.Waiting,
		Chain: chain(v, x, happened), Words: x.Words,
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

// stage names a stage of deciding.
func stage(v *page.Visit, name string) string { return v.T(cmp.Or(stages[name], name)) }

// verdictTags are the outcomes of events that became no part of an alert, in a word.
var verdictTags = map[string]string{"dropped": "Discarded", "discarded": "Discarded", "unrouted": "No channel", "failed": "Failed"}

// outcomeOfEvent names the outcome of an event in a word.
func outcomeOfEvent(v *page.Visit, name string) string { return v.T(cmp.Or(verdictTags[name], name)) }
