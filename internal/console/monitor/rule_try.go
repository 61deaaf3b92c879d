package monitor

import (
	"cmp"
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/console/page"
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

// wordsOfSchedule returns when a rule is evaluated. The moments of @every are shifted by the rule's queries, so that they are not known
// before it is stored.
func wordsOfSchedule(v *page.Visit, r alertrule.Rule) (w scheduleWords) {
	s, err := evaluate.ParseSchedule(r.CronPattern)
	switch {
	case err != nil:
		w.Wrong = err.Error()
	case s.Every > 0:
		w.Every = int64(s.Every / time.Second)
	default:
		at := v.Now.In(page.ZoneOr(r.Timezone, v.Who.Zone))
		for range 3 {
			at = s.Next(at)
			w.Next = append(w.Next, at)
		}
	}
	return w
}

// ruleRun is what the queries of a rule answer now, and what the rule finds in the answers.
type ruleRun struct {
	Queries []queryRun
	Series  int // of the query with the most
	Trial   monitor.RuleTrial
	Failure string // why there is no trial
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
		if i == 0 || other.ID == page.Unsigned(d.Field("on")) {
			one = other
		}
	}
	return one
}

// attempted returns as a text why an operation was refused, and every other error.
func attempted(v *page.Visit, err error) (refused string, _ error) {
	if r := api.RefusalOf(err); r != nil {
		return v.Refused(r).Line(), nil
	}
	return "", err
}

// trial is the request that tries the rule of the form. A rule without a name can be tried.
func (d *ruleEditView) trial() monitor.TrialRequest {
	r := d.Rule
	r.Name = cmp.Or(r.Name, "?")
	return monitor.TrialRequest{Rule: r, DSID: d.Tried().ID}
}

// runRule asks the queries of the form once.
func runRule(v *page.Visit, d *ruleEditView) (run *ruleRun, err error) {
	run = &ruleRun{}
	for _, q := range d.Rule.RuleConfigs.Queries {
		if d.Tried().ID == 0 {
			break // the trial is refused for it
		}
		one := queryRun{Name: q.Name}
		one.Preview, err = page.Call[monitor.Preview](v, "/monit/preview/sync", monitor.PreviewRequest{
			DSType: d.Rule.DSType, DSName: d.Tried().Name, Expr: q.Expr, Args: q.Args, DelaySeconds: d.Rule.DelaySeconds,
		})
		one.Failure, err = attempted(v, err)
		if err != nil {
			return nil, err
		}
		run.Queries = append(run.Queries, one)
		run.Series = max(run.Series, len(one.Rows))
	}
	run.Trial, err = page.Call[monitor.RuleTrial](v, "/monit/rule/test", d.trial())
	run.Failure, err = attempted(v, err)
	return run, err
}

// rulePast is what a rule would have found in the last days.
type rulePast struct {
	monitor.Backtest
	Days    int64
	Failure string
}

// testOnPast evaluates the rule of the form on the last days.
func testOnPast(v *page.Visit, d *ruleEditView) (past *rulePast, err error) {
	past = &rulePast{Days: min(max(v.Number("days"), 1), 30)}
	request := monitor.BacktestRequest{TrialRequest: d.trial()}
	request.From, request.To = v.Now.AddDate(0, 0, -int(past.Days)).UnixMilli(), v.Now.UnixMilli()
	past.Backtest, err = page.Call[monitor.Backtest](v, "/monit/rule/backtest", request)
	past.Failure, err = attempted(v, err)
	return past, err
}
