package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/route"
)

// Outcome is the verdict on an event in a channel.
type Outcome struct {
	EventID    string `json:"event_id" doc:"The event; empty: its alert was decided again, because what muted it ended."`
	DecidedAt  int64  `json:"decided_at" doc:"When, Unix milliseconds."`
	ChannelID  int64  `json:"channel_id" doc:"The channel; 0: no channel accepts it."`
	Outcome    string `json:"outcome" doc:"discarded, unrouted, dropped, repeated, silenced, inhibited, channel_disabled, flapping, opened, grouped, recovered, unmatched or failed."`
	AlertID    string `json:"alert_id" doc:"Its alert; empty: none."`
	IncidentID string `json:"incident_id" doc:"Its incident; empty: none."`
	Title      string `json:"title" doc:"Title of the event at that time."`
	Headline   string `json:"headline" doc:"What people read of the event: what is wrong, and in brackets where."`
	AlertKey   string `json:"alert_key" doc:"The key by which it is merged into its alert."`
	Trace      []Step `json:"trace" doc:"Every rule that was tried, in order."`
	trace      []decide.Step
	source     int64          // the integration that the event came from
	severity   sentence.Value // a sentence about the severity that the source sent; empty: no explanation is needed
	number     int64          // in the order of the account's verdicts
	over       bool           // the event is an Ok
	shortened  bool           // see event.Shorten
}

// Step is a rule that was tried, as a reply shows it.
type Step struct {
	Stage    string         `json:"stage" doc:"enrichment, pipeline, route, channel, drop, merge, silence, inhibit, flapping or group."`
	Rule     string         `json:"rule_id,omitzero" doc:"The rule that was looked at."`
	Name     string         `json:"rule_name,omitzero" doc:"Its name at that time."`
	Matched  bool           `json:"matched" doc:"Whether it applied."`
	Why      sentence.Words `json:"why" doc:"The condition that was met or not with the value it saw, or what was done, in words."`
	WhyData  sentence.Data  `json:"why_data,omitzero" doc:"Why as data, see docs/sentences.md; absent: it is no sentence of the table."`
	Channels []int64        `json:"channel_ids,omitempty" doc:"Of a case of a route: the channels that it leads to."`
	Until    int64          `json:"until,omitzero" doc:"Of a rule that mutes the alert: until when, Unix seconds, unless the rules change; it is decided again then."`
	Joins    bool           `json:"joins,omitzero" doc:"The alert joins an incident that was open already."`
}

// show makes the trace of a verdict one of replies.
func (v *Outcome) show() {
	v.Trace = make([]Step, len(v.trace))
	for i, s := range v.trace {
		v.Trace[i] = Step{Stage: s.Stage, Rule: s.Rule, Name: s.Name, Matched: s.Matched, Why: sentence.Words(s.Why), WhyData: s.Why.Data(),
			Channels: s.Channels, Until: s.Until, Joins: s.Joins}
	}
}

const verdicts = `SELECT verdict_id, event_id, decided_at, channel_id, integration_id, outcome, alert_id, incident_id, body, trace
	FROM verdict WHERE account_id = $1`

// verdictsOf returns the verdicts that a condition selects; $1 is the account.
func verdictsOf(c *api.Call, condition string, args ...any) ([]Outcome, error) {
	return db.All(c.Tx, scanVerdict, verdicts+condition, append([]any{c.Who.AccountID}, args...)...)
}

// lastOfAlert returns the last verdicts on an alert, the oldest first.
func lastOfAlert(c *api.Call, alert string) ([]Outcome, error) {
	all, err := verdictsOf(c, ` AND alert_id = $2 ORDER BY verdict_id DESC LIMIT 50`, alert)
	slices.Reverse(all)
	return all, err
}

// scanVerdict reads a row and decodes its event and trace.
func scanVerdict(scan db.Scan) (v Outcome, err error) {
	var body, trace string
	err = scan(&v.number, &v.EventID, &v.DecidedAt, &v.ChannelID, &v.source, &v.Outcome, &v.AlertID, &v.IncidentID,
		&body, &trace)
	if err != nil {
		return v, err
	}
	var e event.Event
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		return v, err
	}
	v.Title, v.Headline = e.Title, render.AlertName(e.Title, e.Labels)
	v.AlertKey = e.AlertKey
	v.severity = severitySent(&e)
	v.over, v.shortened = e.Status == event.Ok, e.Shortened
	return v, json.Unmarshal([]byte(trace), &v.trace)
}

// severitySent returns a sentence about the word that a source sent as the severity; empty if the event needs none.
func severitySent(e *event.Event) sentence.Value {
	switch {
	case e.Word == "" || e.Status == event.Ok || strings.EqualFold(e.Word, e.Severity):
		return ""
	case e.UnknownWord:
		return sentence.New("severity_unknown", e.Word)
	}
	return sentence.New("severity_word", e.Word)
}

// eventOf returns the integration that a stored event came from, and whether the event has been decided.
func eventOf(c *api.Call, id string) (source int64, decided, found bool, err error) {
	waits, found, err := db.One(c.Tx, func(scan db.Scan) (waits int64, err error) { return waits, scan(&source, &waits) },
		`SELECT integration_id, (SELECT count(*) FROM event_waiting WHERE account_id = $1 AND event_id = $2) FROM event
			WHERE account_id = $1 AND event_id = $2`, c.Who.AccountID, id)
	return source, waits == 0, found, err
}

// visible returns the verdicts in channels that the caller may read. If the caller may read none of them, the error is
// AccessDenied.
func visible(c *api.Call, all []Outcome) ([]Outcome, error) {
	seen := []Outcome{}
	var denied error
	for _, v := range all {
		switch err := readable(c, v.ChannelID, v.source); {
		case fault.KindOf(err) == fault.AccessDenied:
			denied = err
		case err != nil:
			return nil, err
		default:
			seen = append(seen, v)
		}
	}
	if len(seen) == 0 {
		return seen, denied
	}
	return seen, nil
}

// readable returns an error for a caller who may not read a private channel, or, for an event that reached no channel, the
// private channel of its integration. A channel or integration that was deleted hides nothing.
func readable(c *api.Call, ch, source int64) error {
	if ch != 0 || source == 0 {
		return channel.PermitAll(c.Tx, c.Who, ch)
	}
	if err := integration.Permit(c, source); fault.KindOf(err) != fault.NotFound {
		return err
	}
	return nil
}

// withoutPrivateRoutes hides the results of route cases that the caller may not read.
func (x *Explanation) withoutPrivateRoutes() error {
	for _, list := range [][]Outcome{x.Verdicts, x.Later} {
		for _, v := range list {
			private, err := denied(route.Permit(x.c, v.source))
			if err != nil {
				return err
			}
			for i := range v.trace {
				if err := x.hideRoute(&v.trace[i], private); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// hideRoute hides the result of a route case if its route is private, or leads to a channel that the caller may not read:
// the route may have changed since.
func (x *Explanation) hideRoute(step *decide.Step, private bool) error {
	if step.Stage != "route" {
		return nil
	}
	leads, err := denied(channel.PermitAll(x.c.Tx, x.c.Who, step.Channels...))
	if private || leads {
		step.Why, step.Channels = sentence.New("hidden_route"), nil
	}
	return err
}

// denied reports whether an error is AccessDenied, and returns any other.
func denied(err error) (bool, error) {
	if fault.KindOf(err) == fault.AccessDenied {
		return true, nil
	}
	return false, err
}

// mutedFlapping is the outcome flapping of older versions, which muted an alert that changed too often.
const mutedFlapping decide.Outcome = "muted_flapping"

// outcome returns the verdict's outcome.
func (v *Outcome) outcome() decide.Outcome {
	if v.Outcome == string(decide.Flapping) && !v.over {
		return mutedFlapping
	}
	return decide.Outcome(v.Outcome)
}

// happened returns what became of the event of a verdict in a channel.
func (v *Outcome) happened(channel sentence.Value) sentence.Value {
	title, id := quoted(v.Headline), v.EventID
	switch v.outcome() {
	case decide.Discarded:
		return sentence.New("event_discarded", title, id)
	case decide.Unrouted:
		return sentence.New("event_unrouted", title, id)
	case decide.Dropped:
		return sentence.New("event_dropped", title, id, channel)
	case decide.Repeated:
		return sentence.New("event_repeated", title, id, channel)
	case decide.Silenced:
		return sentence.New("event_silenced", title, id, channel)
	case decide.Inhibited:
		return sentence.New("event_inhibited", title, id, channel)
	case decide.Disabled:
		return sentence.New("event_disabled", title, id, channel)
	case decide.Flapping:
		return sentence.New("event_waits_quiet", title, id, channel)
	case mutedFlapping:
		return sentence.New("event_flapping", title, id, channel)
	case decide.Opened:
		return sentence.New("event_opened", title, id, channel)
	case decide.Grouped:
		return sentence.New("event_grouped", title, id, channel)
	case decide.Recovered:
		return sentence.New("event_recovered", title, id, channel)
	case decide.Unmatched:
		return sentence.New("event_unmatched", title, id, channel)
	case decide.Failed:
		return sentence.New("event_failed", title, id)
	}
	return ""
}

// happenedAgain returns what became of an alert that was decided again without an event.
func (v *Outcome) happenedAgain(channel sentence.Value) sentence.Value {
	switch v.outcome() {
	case decide.Dropped:
		return sentence.New("it_dropped", channel)
	case decide.Silenced:
		return sentence.New("it_silenced", channel)
	case decide.Inhibited:
		return sentence.New("it_inhibited", channel)
	case decide.Disabled:
		return sentence.New("it_disabled", channel)
	case mutedFlapping:
		return sentence.New("it_flapping", channel)
	case decide.Opened:
		return sentence.New("it_opened", channel)
	case decide.Grouped:
		return sentence.New("it_grouped", channel)
	case decide.Recovered:
		return sentence.New("it_recovered", channel)
	}
	return "" // only an event has another outcome
}

// follows returns what follows from a verdict, and until when: that is stored with the step that decided it.
func (x *Explanation) follows(v *Outcome, last *decide.Step) sentence.Value {
	until := ""
	if last != nil && last.Until != 0 {
		until = x.clock.Minute(last.Until)
	}
	switch v.outcome() {
	case decide.Discarded, decide.Dropped, decide.Unmatched:
		return sentence.New("so_nobody")
	case decide.Unrouted:
		return sentence.New("so_fallback")
	case decide.Repeated:
		return sentence.New("so_nobody_again")
	case decide.Inhibited:
		return sentence.New("so_inhibited")
	case decide.Disabled:
		return sentence.New("so_disabled")
	case decide.Opened:
		return sentence.New("so_escalates")
	case decide.Grouped:
		return x.grouped(v)
	case decide.Recovered:
		return sentence.New("so_over")
	case decide.Failed:
		return sentence.New("so_failed")
	case decide.Flapping:
		if until == "" {
			return sentence.New("so_open")
		}
		return sentence.New("so_open_until", until)
	case decide.Silenced, mutedFlapping:
		if until == "" {
			return sentence.New("so_silent")
		}
		return sentence.New("so_silent_until", until)
	}
	return ""
}

// describeVerdicts adds the sentences about each verdict.
func (x *Explanation) describeVerdicts() error {
	routed := map[string]bool{"": true} // events whose route is described: it is the same for all their channels
	for _, list := range [][]Outcome{x.Verdicts, x.Later} {
		for _, v := range list {
			channel, err := x.channelNamed(v.ChannelID)
			if err != nil {
				return err
			}
			sentences := []sentence.Value{v.happened(channel)}
			if v.EventID == "" {
				sentences = []sentence.Value{sentence.New("again", quoted(v.Headline), v.AlertID), v.happenedAgain(channel)}
			}
			if !routed[v.EventID] {
				routed[v.EventID] = true
				if err := x.describeEvent(&sentences, &v); err != nil {
					return err
				}
			}
			sentences = append(sentences, x.because(&v)...)
			x.add(v.DecidedAt, ofVerdict, sentences...)
		}
	}
	return nil
}

// describeEvent adds what holds for the event of a verdict in all its channels.
func (x *Explanation) describeEvent(sentences *[]sentence.Value, v *Outcome) error {
	*sentences = append(*sentences, v.severity)
	if v.shortened {
		*sentences = append(*sentences, sentence.New("shortened"))
	}
	return x.describeRoute(sentences, v.trace)
}

// describeRoute adds a sentence for each case of a route that was looked at.
func (x *Explanation) describeRoute(sentences *[]sentence.Value, trace []decide.Step) error {
	for _, step := range trace {
		switch {
		case step.Stage != "route" || step.Name == "":
			continue
		case !step.Matched:
			*sentences = append(*sentences, sentence.New("route_not_met", step.Name, step.Why))
			continue
		}
		*sentences = append(*sentences, sentence.New("route_met", step.Name, step.Why))
		var names []sentence.Value
		for _, id := range step.Channels {
			name, err := x.channelNamed(id)
			if err != nil {
				return err
			}
			names = append(names, name)
		}
		switch len(names) {
		case 0:
		case 1:
			*sentences = append(*sentences, sentence.New("leads_to", names[0]))
		default:
			*sentences = append(*sentences, sentence.New("leads_to_all", names))
		}
	}
	return nil
}

// because returns the sentences about the rules that changed the event, the reason of a verdict, and what follows from it.
func (x *Explanation) because(v *Outcome) []sentence.Value {
	var sentences []sentence.Value
	var last *decide.Step // the last that matched, or just the last if none did
	for i := range v.trace {
		step := &v.trace[i]
		switch {
		case !step.Matched:
		case step.Stage == "enrichment":
			sentences = append(sentences, sentence.New("before_enrichment", step.Name, step.Why))
		case step.Stage == "pipeline":
			sentences = append(sentences, sentence.New("before_pipeline", step.Name, step.Why))
		}
		if last == nil || step.Matched || !last.Matched {
			last = step
		}
	}
	if last != nil {
		if described := last.Stage == "route" && last.Name != ""; !described && v.Outcome != string(decide.Recovered) {
			sentences = append(sentences, reason(last))
		}
	}
	return append(sentences, x.follows(v, last))
}

// reason returns the reason of a verdict: the rule that a step is about, and why it applied.
func reason(s *decide.Step) sentence.Value {
	if s.Name == "" && s.Rule == "" {
		return sentence.New("reason", s.Why)
	}
	switch s.Stage {
	case "drop":
		return sentence.New("reason_drop", ruleNamed(s.Name, s.Rule), s.Why)
	case "silence":
		return sentence.New("reason_silence", ruleNamed(s.Name, s.Rule), s.Why)
	case "inhibit":
		return sentence.New("reason_inhibit", ruleNamed(s.Name, s.Rule), s.Why)
	}
	return sentence.New("reason_rule", s.Stage+" "+s.Name, s.Why)
}

// channelNamed returns the name and the number of a channel; empty: the channel of a verdict in none.
func (x *Explanation) channelNamed(id int64) (sentence.Value, error) {
	if id == 0 {
		return "", nil
	}
	ch, found, err := channel.Find(x.c.Tx, x.c.Who.AccountID, id)
	if err != nil {
		return "", err
	}
	if !found {
		return sentence.New("channel_deleted", id), nil
	}
	return sentence.Raw(fmt.Sprintf("%s (%d)", ch.ChannelName, id)), nil
}
