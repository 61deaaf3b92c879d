package console

import (
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/monitor"
)

// scheduleWords is when a rule is evaluated, for people.
type scheduleWords struct {
	Every int64       // seconds; 0: a pattern of cron
	Next  []time.Time // the next moments of a pattern
	Wrong string      // why the pattern is none
}

// scheduleWords returns when a rule is evaluated. The moments of @every are shifted by the rule's queries, so that they are not known
// before it is stored.
func (v *visit) scheduleWords(r alertrule.Rule) (w scheduleWords) {
	s, err := evaluate.ParseSchedule(r.CronPattern)
	switch {
	case err != nil:
		w.Wrong = err.Error()
	case s.Every > 0:
		w.Every = int64(s.Every / time.Second)
	default:
		at := v.Now.In(zoneOr(r.Timezone, v.who.Zone))
		for range 3 {
			at = s.Next(at)
			w.Next = append(w.Next, at)
		}
	}
	return w
}

// ruleRun is what the queries of a rule answer now, and what its checks make of it.
type ruleRun struct {
	Source  string
	Queries []queryRun
	Series  int                   // of the query with the most
	Fires   []evaluate.Transition // what would fire if it lasted
	Failure string                // why the checks cannot be judged
}

// queryRun is the answer to one query.
type queryRun struct {
	Name, Failure string
	monitor.Preview
}

// shownRows is how many rows of an answer the page shows.
const shownRows = 10

// First returns the rows that the page shows.
func (q queryRun) First() []monitor.PreviewRow { return q.Rows[:min(len(q.Rows), shownRows)] }

// Tried returns the datasource on which the form is tried: that which was chosen, else the first that the rule matches.
func (d *ruleEditView) Tried() (one datasource.Item) {
	for i, other := range d.Matched {
		if i == 0 || other.ID == ruleID(d.field("on")) {
			one = other
		}
	}
	return one
}

// runRule asks the queries of the form once.
func (v *visit) runRule(d *ruleEditView) (*ruleRun, error) {
	run := &ruleRun{Source: d.Tried().Name}
	if run.Source == "" {
		run.Failure = v.T("The rule matches no datasource that is enabled. Choose one, then try again.")
		return run, nil
	}
	var answers []evaluate.Answer
	for _, q := range d.Rule.RuleConfigs.Queries {
		one := queryRun{Name: q.Name}
		err := v.call("/monit/preview/sync", map[string]any{"ds_type": d.Rule.DSType, "ds_name": run.Source, "expr": q.Expr, "args": q.Args,
			"delay_seconds": d.Rule.DelaySeconds}, &one.Preview)
		if refused := api.RefusalOf(err); refused != nil {
			one.Failure = v.Refused(refused).line()
		} else if err != nil {
			return nil, err
		}
		run.Queries = append(run.Queries, one)
		run.Series = max(run.Series, len(one.Rows))
		answers = append(answers, answerOf(one))
	}
	run.judge(d.Rule.RuleConfigs, v.Now, answers)
	return run, nil
}

// answerOf returns an answer as checks judge it.
func answerOf(q queryRun) evaluate.Answer {
	answer := evaluate.Answer{Query: q.Name}
	if q.Failure != "" {
		answer.Failed = &evaluate.Failure{Kind: evaluate.BadQuery, Message: q.Failure}
	}
	for _, row := range q.Rows {
		one := evaluate.Row{Labels: row.Labels, Values: map[string]float64{}, Fields: row.Fields}
		for name, value := range row.Values {
			one.Values[name] = float64(value)
		}
		answer.Rows = append(answer.Rows, one)
	}
	return answer
}

// judge sets what would fire if the answers lasted for as many evaluations as the checks need.
func (run *ruleRun) judge(c evaluate.Config, now time.Time, answers []evaluate.Answer) {
	if err := evaluate.Check(c); err != nil {
		run.Failure = "rule_configs." + err.Error()
		return
	}
	t, a := *c.CheckThreshold, *c.CheckAnydata
	t.AlertingCheckTimes, a.AlertingCheckTimes = 1, 1
	c.CheckThreshold, c.CheckAnydata = &t, &a
	watch, err := evaluate.New(evaluate.Rule{Config: c}, "")
	if err != nil {
		run.Failure = err.Error()
		return
	}
	result := watch.Step(now, answers)
	run.Failure = result.Outcome.Message
	for _, found := range result.Transitions {
		if found.To == evaluate.Begin {
			run.Fires = append(run.Fires, found)
		}
	}
}

// Why returns the comparison that decided first; empty: none did.
func (run *ruleRun) Why() string {
	for _, found := range run.Fires {
		for _, c := range found.Clauses {
			return c.Left.String() + " " + c.Op + " " + c.Right.String()
		}
	}
	return ""
}
