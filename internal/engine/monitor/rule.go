package monitor

import (
	"cmp"
	"slices"
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/sentence"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/triage"
	"tocsin/internal/person"
	"tocsin/internal/platform/fault"
)

// TrialRequest asks about a rule that need not be stored.
type TrialRequest struct {
	Rule alertrule.Rule `json:"rule" doc:"The rule, which need not be stored."`
	DSID uint64         `json:"ds_id,omitzero" minimum:"0" doc:"The datasource; absent or 0: the first that the rule matches."`
}

// RuleTrial is what a rule would find now.
type RuleTrial struct {
	DSID        uint64          `json:"ds_id" doc:"The datasource."`
	DSName      string          `json:"ds_name" doc:"Its name."`
	AsOf        int64           `json:"as_of" doc:"The moment that was asked about, Unix milliseconds."`
	Outcome     string          `json:"outcome" enum:"known,unknown" doc:"Whether the answers were complete; if not, nothing would begin and nothing end."`
	Kind        string          `json:"kind" doc:"Why it is unknown, such as query or timeout; empty: it is known."`
	Message     string          `json:"message" doc:"Likewise, in words."`
	Rows        int64           `json:"rows" doc:"How many rows the queries returned."`
	Total       int64           `json:"total" doc:"How many instances there are."`
	Instances   []TrialInstance `json:"instances" doc:"The first 100 of them, the highest severity first."`
	WouldNotify []WouldNotify   `json:"would_notify" doc:"Whom the first of them would notify now, in each channel; if there is none, whom the rule would."`
}

// TrialInstance is an instance that a rule would find.
type TrialInstance struct {
	Labels      map[string]string `json:"labels" doc:"Its labels."`
	Check       string            `json:"check" doc:"threshold, anydata or too_many; what nodata misses was never seen in a test."`
	State       string            `json:"state" enum:"pending,firing" doc:"pending: further evaluations must hold before it is an alert."`
	Severity    string            `json:"severity" doc:"Critical, Warning or Info."`
	Value       *float64          `json:"value,omitzero" doc:"The value that decided; absent: none."`
	Clause      sentence.Words    `json:"clause" doc:"Why, in words."`
	Description string            `json:"description" doc:"The description that its alert would have; empty: of an instance behind the tenth."`
}

// WouldNotify is what a channel would do with an alert.
type WouldNotify struct {
	ChannelID   int64               `json:"channel_id" doc:"The channel; 0: none takes the alert."`
	ChannelName string              `json:"channel_name" doc:"Its name."`
	Outcome     decide.Outcome      `json:"outcome" doc:"opened: an incident would begin; dropped, silenced or channel_disabled: no person would be notified."`
	Why         sentence.Words      `json:"why" doc:"What decided so, in words."`
	Escalation  *escalation.Preview `json:"escalation" doc:"Who would be notified, as /incident/escalation/preview answers; null: no incident would begin, or the caller may not read incidents."`
}

// What a trial shows and asks.
const (
	mostTried     = 100
	mostDescribed = 10
)

// trial is a rule that is tried on a datasource.
type trial struct {
	rule   alertrule.Rule
	source datasource.Connection
	zone   *time.Location
	watch  evaluator.Watch
	sent   *sent
}

// trialOf reads what a trial of a rule needs, and records who makes it.
func (r *Service) trialOf(c *api.Call, in *TrialRequest, operation string) (t trial, err error) {
	if err := mayAsk(c); err != nil {
		return t, err
	}
	t.rule, err = in.Rule.Valid("rule")
	if err != nil {
		return t, err
	}
	t.sent = &sent{}
	err = c.Read(func() error {
		t.source, err = r.sourceFor(c, &t.rule, in.DSID)
		if err != nil {
			return err
		}
		t.zone, err = person.Zone(c.Tx, c.Who.AccountID)
		if err != nil {
			return err
		}
		return t.sent.direct(c.Tx, c.Who.AccountID, &t.rule)
	})
	if err != nil {
		return t, err
	}
	t.watch = evaluator.Watch{
		Key:    evaluator.Key{Account: c.Who.AccountID, Rule: t.rule.ID, Datasource: t.source.ID},
		Rule:   t.rule.Watchable(t.zone),
		Delay:  delay(&t.rule, t.source.Type),
		Source: evaluator.Source{ID: t.source.ID, Datasource: t.source.Datasource},
	}
	t.sent.Batch = &evaluator.Batch{Watch: &t.watch}
	return t, r.recorded(c, operation, t.source, t.rule.RuleConfigs.Queries)
}

// tryRule answers /monit/rule/test.
func (r *Service) tryRule(c *api.Call, in TrialRequest) (reply RuleTrial, err error) {
	t, err := r.trialOf(c, &in, "monitor_rule:read:test")
	if err != nil {
		return reply, err
	}
	asOf := c.Now.Add(-t.watch.Delay)
	q, failed := r.Connect(c.Ctx, c.Who.AccountID, t.source)
	if failed == nil {
		defer q.Close() //nolint:errcheck // there is no one to report to
	}
	ask := func(one evaluate.Query) evaluate.Answer {
		a := evaluate.Answer{Query: one.Name, Failed: failed}
		if failed == nil {
			a.Rows, a.Failed = q.Query(c.Ctx, askFor(one, asOf))
		}
		return a
	}
	reply = RuleTrial{DSID: t.source.ID, DSName: t.source.Name, AsOf: asOf.UnixMilli(), Outcome: "known", Instances: []TrialInstance{}}
	var answers []evaluate.Answer
	for _, one := range t.rule.RuleConfigs.Queries {
		a := ask(one)
		answers = append(answers, a)
		reply.Rows += int64(len(a.Rows))
	}
	result, err := t.step(asOf, answers)
	if err != nil {
		return reply, err
	}
	if !result.Outcome.Known {
		reply.Outcome = "unknown"
		reply.Kind = string(result.Outcome.Kind)
		reply.Message = result.Outcome.Message
	}
	slices.SortStableFunc(result.Transitions, func(a, b evaluate.Transition) int {
		return cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity))
	})
	reply.Total = int64(len(result.Transitions))
	t.sent.Related = map[string][]evaluate.Answer{}
	for _, one := range result.Related[:min(len(result.Related), mostDescribed)] {
		key := one.Check + "/" + one.Instance
		t.sent.Related[key] = append(t.sent.Related[key], ask(one.Query))
	}
	for i := range result.Transitions[:min(len(result.Transitions), mostTried)] {
		reply.Instances = append(reply.Instances, r.tried(&t, &result.Transitions[i], i < mostDescribed))
	}
	first := &evaluate.Transition{
		Check: evaluate.CheckThreshold, To: evaluate.Begin, At: asOf, Since: asOf, Severity: highest(&t.rule.RuleConfigs),
	}
	if len(result.Transitions) > 0 {
		first = &result.Transitions[0]
	}
	reply.WouldNotify = []WouldNotify{}
	err = c.Read(func() error { return r.wouldNotify(c, &reply, r.imagined(&t, first, c.Now)) })
	return reply, err
}

// severities are the severities from the highest.
var severities = []string{"Critical", "Warning", "Info"}

// step evaluates a rule once, as if one evaluation made an alert at any time.
func (t *trial) step(asOf time.Time, answers []evaluate.Answer) (evaluate.Result, error) {
	rule := t.watch.Rule
	rule.Windows = nil
	if check := rule.Config.CheckThreshold; check != nil {
		copied := *check
		copied.AlertingCheckTimes = 1
		rule.Config.CheckThreshold = &copied
	}
	if check := rule.Config.CheckAnydata; check != nil {
		copied := *check
		copied.AlertingCheckTimes = 1
		rule.Config.CheckAnydata = &copied
	}
	w, err := evaluate.New(rule, "")
	if err != nil {
		return evaluate.Result{}, err
	}
	return w.Step(asOf, answers), nil
}

// tried returns an instance as the reply shows it.
func (r *Service) tried(t *trial, found *evaluate.Transition, described bool) TrialInstance {
	one := TrialInstance{Labels: filled(found.Labels), Check: found.Check, State: "firing", Severity: found.Severity, Value: found.Value}
	times := int64(1)
	switch config := &t.rule.RuleConfigs; found.Check {
	case evaluate.CheckThreshold:
		times = config.CheckThreshold.AlertingCheckTimes
	case evaluate.CheckAnydata:
		times = config.CheckAnydata.AlertingCheckTimes
	}
	if times > 1 {
		one.State = "pending"
	}
	if len(found.Why) > 0 {
		one.Clause = sentence.Words(found.Why[0])
	}
	if described {
		one.Description = r.description(&change{sent: t.sent, Transition: found, instance: r.imagined(t, found, found.At).instance})
	}
	return one
}

// imagined returns a transition with the events that it would have.
func (r *Service) imagined(t *trial, found *evaluate.Transition, now time.Time) *change {
	c := &change{sent: t.sent, Transition: found}
	c.begin()
	c.instance.severity = found.Severity
	c.instance.Value = found.Value
	r.write(c, now)
	return c
}

// wouldNotify adds what the channels would do with an alert now.
func (r *Service) wouldNotify(c *api.Call, reply *RuleTrial, imagined *change) error {
	ahead, err := triage.NewForesight(c.Tx, c.Who.AccountID)
	if err != nil {
		return err
	}
	for _, e := range imagined.events {
		all, err := ahead.Begin(e, c.Unix(), c.Unix())
		if err != nil {
			return err
		}
		for _, one := range all {
			shown := WouldNotify{ChannelID: one.Channel, Outcome: one.Outcome, Why: one.Why}
			if one.Channel != 0 {
				ch, readable, err := readable(c, one.Channel)
				if err != nil {
					return err
				}
				if !readable {
					continue
				}
				shown.ChannelName = ch.ChannelName
			}
			if one.Outcome == decide.Opened && c.Who.May(auth.IncidentsRead) && r.Escalation != nil {
				preview, err := r.Escalation.PreviewOf(c.Tx, &one.Incident, c.Unix())
				if err != nil {
					return err
				}
				shown.Escalation = &preview
			}
			reply.WouldNotify = append(reply.WouldNotify, shown)
		}
	}
	return nil
}

// readable returns a channel, and whether the caller may read it: who is notified of a private one is not shown to others.
func readable(c *api.Call, id int64) (ch channel.Channel, ok bool, err error) {
	err = channel.Readable(c.Tx, c.Who, id)
	if kind := fault.KindOf(err); kind == fault.AccessDenied || kind == fault.NotFound {
		return ch, false, nil
	}
	if err != nil {
		return ch, false, err
	}
	return channel.Find(c.Tx, c.Who.AccountID, id)
}
