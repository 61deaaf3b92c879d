package triage

import (
	"embed"
	"iter"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops returns the operations of the package.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{{
		Path: "/channel/rules/try", Allow: []auth.Permission{auth.ChannelsRead}, Effect: api.Snapshot,
		Doc: "Shows what a channel would do with an alert: each of its rules with the condition that is met or not, and who would be notified.",
		Notes: "It is decided by the functions that decide about events, as of now: " +
			"the alert is taken for a new one with an incident of its own, " +
			"and alerts that are active now may inhibit it. A described alert with an integration_id passes the enrichment and the pipeline of " +
			"that integration first. Nothing is stored and nothing is sent. escalation needs Incidents Read (on-call).",
		Example: `{"channel_id": 1001, "alert": {"title": "Disk full", "alert_severity": "Critical", "labels": {"service": "db"}}}`,
		Do:      api.Do(r.tryRules),
	}})
}

// TryRequest asks what a channel would do with an alert.
type TryRequest struct {
	ChannelID int64            `json:"channel_id" minimum:"1" doc:"The channel."`
	AlertID   string           `json:"alert_id,omitzero" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"A stored alert, of any channel."`
	Alert     *alert.Described `json:"alert,omitzero" doc:"Or an alert, described."`
}

// Check returns fault.Invalid for a request that does not name exactly one alert.
func (in TryRequest) Check() error {
	if (in.AlertID == "") == (in.Alert == nil) {
		return fault.Invalid("alert", "or alert_id is required, one of the two")
	}
	return nil
}

// Trial is the reply.
type Trial struct {
	Outcome    decide.Outcome      `json:"outcome" doc:"opened: an incident would begin; dropped, silenced or inhibited: no person would be notified; unmatched: it is over."`
	Why        sentence.Words      `json:"why" doc:"What decided so, in words."`
	Severity   string              `json:"alert_severity" doc:"Of the alert as the rules saw it."`
	Title      string              `json:"title" doc:"Likewise."`
	Headline   string              `json:"headline" doc:"What people would read: what is wrong, and in brackets where."`
	Rules      []TriedRule         `json:"rules" doc:"The rules in the order in which they are evaluated; the first that applies decides."`
	Escalation *escalation.Preview `json:"escalation" doc:"Who would be notified, as /incident/escalation/preview answers; null: no incident would begin, or the caller may not read incidents."`
}

// TriedRule is what came of one rule.
type TriedRule struct {
	Stage   string         `json:"stage" doc:"drop, silence or inhibit."`
	ID      string         `json:"rule_id" doc:"The rule."`
	Name    string         `json:"rule_name" doc:"Its name."`
	Matched bool           `json:"matched" doc:"Whether it applies to the alert, be it by itself or behind another that decides."`
	Decides bool           `json:"decides" doc:"Whether it decides: it is the first that applies."`
	Why     sentence.Words `json:"why" doc:"The condition that is met or not, in words."`
	Until   int64          `json:"until,omitzero" doc:"Of a silence rule that decides: until when, Unix seconds."`
}

// tryRules is POST /channel/rules/try.
func (r *Service) tryRules(c *api.Call, in TryRequest) (reply Trial, err error) {
	if err := channel.Readable(c.Tx, c.Who, in.ChannelID); err != nil {
		return reply, err
	}
	s := trial{tx: c.Tx, account: c.Who.AccountID, id: in.ChannelID, stored: strings.ToLower(in.AlertID)}
	zone, err := person.Zone(c.Tx, s.account)
	if err != nil {
		return reply, err
	}
	s.channel, err = channel.Ready(c.Tx, s.account, s.id, zone)
	if err != nil {
		return reply, err
	}
	e, err := s.event(c, in)
	if err != nil {
		return reply, err
	}
	verdicts, err := decide.Event(&s, e, c.Unix())
	if err != nil {
		return reply, err
	}
	v := &verdicts[0]
	reply = Trial{Outcome: v.Outcome, Severity: v.Event.Severity, Title: v.Event.Title, Rules: []TriedRule{}}
	reply.Headline = render.AlertName(v.Event.Title, v.Event.Labels)
	if v.Channel != 0 {
		reply.Rules = s.rules(v, c.Unix())
	}
	reply.Why = sentence.Words(why(v.Trace))
	if v.Outcome != decide.Opened || !c.Who.May(auth.IncidentsRead) || r.Escalation == nil {
		return reply, nil
	}
	i := incident.From(v.Alert, alert.Origin{})
	i.AccountID, i.Progress = s.account, incident.Triggered
	preview, err := r.Escalation.PreviewOf(c.Tx, &i, c.Unix())
	reply.Escalation = &preview
	return reply, err
}

// why returns the reason of the last step that applied.
func why(trace []decide.Step) sentence.Value {
	for _, s := range slices.Backward(trace) {
		if s.Matched {
			return s.Why
		}
	}
	return trace[len(trace)-1].Why
}

// rules returns what came of each rule of the channel. Whether an inhibit rule applies depends on the alerts that are
// active: the decision looked at those of the rules that it came to.
func (s *trial) rules(v *decide.Verdict, now int64) []TriedRule {
	list := []TriedRule{}
	for _, step := range slices.Concat(s.channel.Drops.Each("drop", &v.Event, now), s.channel.Silences.Each("silence", &v.Event, now),
		s.channel.Targets.Each("inhibit", &v.Event, now)) {
		one := TriedRule{Stage: step.Stage, ID: step.Rule, Name: step.Name, Matched: step.Matched, Why: sentence.Words(step.Why)}
		looked := slices.IndexFunc(v.Trace, func(t decide.Step) bool { return t.Rule == step.Rule && t.Stage == step.Stage })
		if looked >= 0 {
			t := v.Trace[looked]
			one.Matched = t.Matched
			one.Decides = t.Matched
			one.Why = sentence.Words(t.Why)
			one.Until = t.Until
		} else if step.Stage == "inhibit" && step.Matched {
			one.Matched, one.Why = false, sentence.Words(sentence.New("inhibit_not_asked", step.Why))
		}
		list = append(list, one)
	}
	return list
}

// trial is what a decision about an alert that does not exist sees: the channel as it is, the alerts that are active in it,
// and no other alert of the same key and no incident.
type trial struct {
	tx       *db.Tx
	account  int64
	id       int64
	stored   string // id of the alert that is tried; empty: it is described
	channel  *decide.Channel
	pipeline bool // the event comes through its integration
	active   []*decide.Alert
}

// event returns the event that is tried. A stored alert is tried as if it were active.
func (s *trial) event(c *api.Call, in TryRequest) (e event.Event, err error) {
	if in.Alert == nil {
		e, err = alert.EventOf(c, s.stored)
		if err != nil {
			return e, err
		}
		e.Status = e.Severity
	} else {
		e = in.Alert.Event()
		s.pipeline = e.Integration != 0
	}
	e.Time, e.Received = c.Unix(), c.Now.UnixNano()
	return e, nil
}

// Inlet leads every event to the channel.
func (s *trial) Inlet(integration int64) (*decide.Inlet, error) {
	answer := decide.Inlet{Channel: s.id}
	if s.pipeline {
		in, err := compileInlet(s.tx, s.account, strconv.FormatInt(integration, 10))
		if err != nil {
			return nil, err
		}
		if in == nil {
			return nil, fault.Missing("integration", integration)
		}
		answer.Enrichments, answer.Rules = in.Enrichments, in.Rules
	}
	return &answer, nil
}

// Channel returns the channel.
func (s *trial) Channel(int64) (*decide.Channel, error) { return s.channel, nil }

// Alert returns nil: the alert begins.
func (s *trial) Alert(int64, string) (*decide.Alert, error) { return nil, nil }

// Group returns nil: the alert begins an incident of its own.
func (s *trial) Group(int64, string) (*decide.Group, error) { return nil, nil }

// Sources returns the active alerts of the channel, without the one that is tried and those that it inhibits itself.
func (s *trial) Sources(id int64) (iter.Seq[*decide.Alert], error) {
	if s.active == nil {
		rows, err := alert.Sources(s.tx, s.account, id)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			a, err := rows[i].Alert()
			if err != nil || s.stored != "" && (a.ID == s.stored || a.MutedBy == s.stored) {
				continue // a corrupt alert inhibits nothing
			}
			s.active = append(s.active, &a)
		}
	}
	return slices.Values(s.active), nil
}

// Source returns an active alert of the channel.
func (s *trial) Source(id int64, alertID string) (*decide.Alert, error) {
	all, err := s.Sources(id)
	if err != nil {
		return nil, err
	}
	for a := range all {
		if a.ID == alertID {
			return a, nil
		}
	}
	return nil, nil
}
