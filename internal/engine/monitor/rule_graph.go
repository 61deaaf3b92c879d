package monitor

import (
	"cmp"
	"math"
	"slices"
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/core/condition"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
	"tocsin/internal/querier"
)

// GraphRequest asks for the queries of a rule over time.
type GraphRequest struct {
	ID   uint64 `json:"id" minimum:"1" doc:"The rule."`
	DSID uint64 `json:"ds_id,omitzero" minimum:"0" doc:"The datasource; absent or 0: the first that the rule matches."`
	Span
}

// Span is a time in the past.
type Span struct {
	From int64 `json:"from" minimum:"1" maximum:"9999999999999" doc:"Its begin, Unix milliseconds."`
	To   int64 `json:"to" minimum:"1" maximum:"9999999999999" doc:"Its end, Unix milliseconds; at most 31 days later."`
}

// mostPast bounds the time that is asked about.
const mostPast = 31 * 24 * time.Hour

// moments returns the begin and the end.
func (s Span) moments() (from, to time.Time) {
	return time.UnixMilli(s.From).UTC(), time.UnixMilli(s.To).UTC()
}

// Check refuses spans that end before they begin, or are too long.
func (s Span) Check() error {
	from, to := s.moments()
	if length := to.Sub(from); length <= 0 || length > mostPast {
		return fault.Invalid("to", "must be after from, and at most %v later, got %v", mostPast, length)
	}
	return nil
}

// Graph shows the queries of a rule over time.
type Graph struct {
	DSID       uint64       `json:"ds_id" doc:"The datasource."`
	DSName     string       `json:"ds_name" doc:"Its name."`
	Step       int64        `json:"step" doc:"Seconds between two points."`
	Queries    []GraphQuery `json:"queries" doc:"The queries of the rule."`
	Thresholds []GraphLine  `json:"thresholds" doc:"The numbers that its expressions compare values with."`
	Spans      []GraphSpan  `json:"spans" doc:"When it fired on this datasource, the earliest first; at most 1,000."`
}

// GraphQuery is a query with its series.
type GraphQuery struct {
	Name   string        `json:"name" doc:"Its name in the rule."`
	Expr   string        `json:"expr" doc:"The query."`
	Total  int64         `json:"total" doc:"How many series there are."`
	Series []GraphSeries `json:"series" doc:"The first 50 of them, those with the largest values first."`
}

// GraphSeries is one line.
type GraphSeries struct {
	Labels map[string]string `json:"labels" doc:"What identifies it."`
	Name   string            `json:"name" doc:"The name of its value; empty: the query has one."`
	Points [][]float64       `json:"points" doc:"Pairs of Unix milliseconds and a value. Where a moment has no value, it has no pair."`
}

// GraphLine is a threshold.
type GraphLine struct {
	Query    string  `json:"query" doc:"The query whose values are compared."`
	Field    string  `json:"field" doc:"The name of the value; empty: the only one."`
	Severity string  `json:"severity" doc:"Critical, Warning or Info."`
	Op       string  `json:"op" doc:"The comparison, with the value on its left."`
	Value    float64 `json:"value" doc:"The number."`
}

// GraphSpan is a time in which an instance fired.
type GraphSpan struct {
	Labels   map[string]string `json:"labels" doc:"Its labels."`
	Check    string            `json:"check" doc:"threshold, anydata, nodata or too_many."`
	Severity string            `json:"severity" doc:"The severity at its end, or now."`
	Begin    int64             `json:"begin" doc:"Unix milliseconds; not before from."`
	End      int64             `json:"end" doc:"Unix milliseconds, not after to; 0: it fires."`
}

// What a graph shows at most.
const (
	mostSeries  = 50
	mostSpans   = 1000
	graphPoints = 720 // of a series
)

// graph answers /monit/rule/graph.
func (r *Service) graph(c *api.Call, in GraphRequest) (g Graph, err error) {
	if err := mayAsk(c); err != nil {
		return g, err
	}
	var rule alertrule.Rule
	var source datasource.Connection
	err = c.Read(func() error {
		one, found, err := alertrule.FindRule(c.Tx, c.Who.AccountID, in.ID)
		if err != nil {
			return err
		}
		if !found {
			return fault.Missing("alert rule", in.ID)
		}
		rule = one
		source, err = r.sourceFor(c, &rule, in.DSID)
		if err != nil {
			return err
		}
		g.Spans, err = firing(c, rule.ID, source.ID, in.Span)
		return err
	})
	if err != nil {
		return g, err
	}
	queries := rule.RuleConfigs.Queries
	from, to := in.moments()
	interval := max(rule.Watchable(time.UTC).Interval, time.Second).Truncate(time.Second)
	step := interval * max(1, (to.Sub(from)+graphPoints*interval-1)/(graphPoints*interval))
	all, err := r.ranged(c, source, queries, from, to, step)
	if err != nil {
		return g, err
	}
	g.DSID = source.ID
	g.DSName = source.Name
	g.Step = int64(step.Seconds())
	g.Thresholds = thresholds(rule.RuleConfigs.CheckThreshold)
	g.Queries = []GraphQuery{}
	for i, series := range all {
		one := GraphQuery{Name: queries[i].Name, Expr: queries[i].Expr, Total: int64(len(series)), Series: []GraphSeries{}}
		slices.SortStableFunc(series, func(a, b querier.Series) int { return cmp.Compare(peak(b), peak(a)) })
		for _, s := range series[:min(len(series), mostSeries)] {
			one.Series = append(one.Series, drawn(s))
		}
		g.Queries = append(g.Queries, one)
	}
	return g, nil
}

// peak returns the largest value of a series.
func peak(s querier.Series) float64 {
	found := math.Inf(-1)
	for _, p := range s.Points {
		if p.Value > found {
			found = p.Value
		}
	}
	return found
}

// drawn returns a series without what JSON has no number for.
func drawn(s querier.Series) GraphSeries {
	line := GraphSeries{Labels: filled(s.Labels), Name: s.Name, Points: [][]float64{}}
	for _, p := range s.Points {
		if !math.IsNaN(p.Value) && !math.IsInf(p.Value, 0) {
			line.Points = append(line.Points, []float64{float64(p.At.UnixMilli()), p.Value})
		}
	}
	return line
}

// thresholds returns the numbers that the expressions of a check compare values with.
func thresholds(check *evaluate.Threshold) []GraphLine {
	lines := []GraphLine{}
	if check == nil || !check.Enabled {
		return lines
	}
	for _, level := range []struct{ severity, text string }{{"Critical", check.Critical}, {"Warning", check.Warning}, {"Info", check.Info}} {
		e, err := condition.Parse(level.text)
		if err != nil { // it has none of this severity
			continue
		}
		for _, t := range e.Thresholds() {
			lines = append(lines, GraphLine{t.Ref.Query, t.Ref.Field, level.severity, t.Op, t.Value})
		}
	}
	return lines
}

// firing returns when the instances of a rule fired on a datasource. What ends within the span without having begun in it began
// before; what is open has its row.
func firing(c *api.Call, rule, source uint64, s Span) ([]GraphSpan, error) {
	account := c.Who.AccountID
	from, _ := s.moments()
	open, err := db.All(c.Tx, scanInstance, `SELECT `+instanceColumns+` FROM rule_instance WHERE account_id = $1 AND rule_id = $2
		AND datasource_id = $3 AND since < $4 ORDER BY since, instance_key LIMIT $5 + 0`, account, int64(rule), int64(source), s.To, mostSpans)
	if err != nil {
		return nil, err
	}
	changes, err := db.All(c.Tx, scanTransition, `SELECT `+shownColumns+` FROM rule_transition WHERE account_id = $1 AND rule_id = $2
		AND transition_id > $3 AND datasource_id = $4 AND change IN ('begin', 'recovered', 'gone', 'closed') ORDER BY transition_id LIMIT $5 + 0`,
		account, int64(rule), id.After(from), int64(source), 4*mostSpans)
	if err != nil {
		return nil, err
	}
	list := []GraphSpan{}
	began := map[string]int64{}
	for i := range changes {
		t := &changes[i]
		key := t.Check + t.InstanceKey
		if t.To == string(evaluate.Begin) {
			began[key] = t.At
			continue
		}
		begin := max(began[key], s.From)
		if delete(began, key); begin < s.To {
			list = append(list, GraphSpan{t.Labels, t.Check, t.Severity, begin, min(t.At, s.To)})
		}
	}
	for i := range open {
		o := &open[i]
		list = append(list, GraphSpan{filled(o.Labels), o.check, o.severity, max(o.since, s.From), 0})
	}
	slices.SortStableFunc(list, func(a, b GraphSpan) int { return cmp.Compare(a.Begin, b.Begin) })
	return list[:min(len(list), mostSpans)], nil
}
