package monitor

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/insight"
	"tocsin/internal/engine/triage"
	"tocsin/internal/person"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/fault"
	"tocsin/internal/querier"
)

// BacktestRequest asks what a rule would have found in the past.
type BacktestRequest struct {
	TrialRequest
	Span
}

// Backtest is what a rule would have found in the past, and whom it would have notified.
type Backtest struct {
	DSID      uint64    `json:"ds_id" doc:"The datasource."`
	DSName    string    `json:"ds_name" doc:"Its name."`
	Episodes  []Episode `json:"episodes" doc:"The first 500 alerts that it would have had, in the order of their begin."`
	Total     int64     `json:"total" doc:"How many there would have been."`
	Incidents int64     `json:"incidents" doc:"How many incidents the first 1,000 alerts would have opened, as the channels group alerts now."`
	Persons   []Woken   `json:"persons" doc:"Who would have been notified first of these incidents, most often first; empty, too, if the caller may not read incidents."`
	Points    int64     `json:"points" doc:"How many evaluations there were."`
	Skipped   int64     `json:"skipped" doc:"Of them those without a whole answer."`
}

// Episode is an alert that a rule would have had.
type Episode struct {
	Labels   map[string]string `json:"labels" doc:"Its labels."`
	Check    string            `json:"check" doc:"threshold, anydata, nodata or too_many."`
	Severity string            `json:"severity" doc:"The highest severity that it had."`
	Begin    int64             `json:"begin" doc:"Unix milliseconds."`
	End      int64             `json:"end" doc:"Unix milliseconds; 0: it was open at the end of the time."`
	To       string            `json:"to" enum:"recovered,gone,closed," doc:"How it ended; empty: it was open."`
}

// Woken is a person whom a rule would have notified.
type Woken struct {
	PersonID   int64  `json:"person_id" doc:"The person."`
	PersonName string `json:"person_name" doc:"The name."`
	Times      int64  `json:"times" doc:"For how many incidents."`
	NightTimes int64  `json:"night_times" doc:"Of them between 22:00 and 06:00 in the person's time zone."`
}

// What a backtest shows and counts.
const (
	mostEpisodes = 500
	mostForeseen = 1000
)

// backtest answers /monit/rule/backtest.
func (r *Service) backtest(c *api.Call, in BacktestRequest) (reply Backtest, err error) {
	t, err := r.trialOf(c, &in.TrialRequest, "monitor_rule:read:backtest")
	if err != nil {
		return reply, err
	}
	moments, err := momentsOf(&t.rule, t.watch.Rule.Zone, t.watch.Delay, in.Span)
	if err != nil {
		return reply, err
	}
	queries := t.rule.RuleConfigs.Queries
	all, err := r.ranged(c, t.source, queries, moments[0], moments[len(moments)-1], t.watch.Rule.Interval)
	if err != nil {
		return reply, err
	}
	past := make([]timeline, len(queries))
	for i := range queries {
		past[i] = newTimeline(all[i])
	}
	leave, err := r.Turns.Enter(c.Ctx, fair.Of(c.Who.AccountID), int64(t.source.ID))
	if err != nil {
		return reply, err
	}
	episodes, unknown, err := evaluate.Replay(t.watch.Rule, moments, func(at time.Time) []evaluate.Answer {
		answers := make([]evaluate.Answer, len(queries))
		for i := range queries {
			answers[i] = evaluate.Answer{Query: queries[i].Name}
			if at.Sub(moments[0])%t.watch.Rule.Interval != 0 { // the datasource was not asked about it
				answers[i].Failed = &evaluate.Failure{Kind: evaluate.Missed}
				continue
			}
			answers[i].Rows = past[i].at(at)
		}
		return answers
	})
	leave()
	if err != nil {
		return reply, fault.Invalid("rule.rule_configs", "%s", err)
	}
	reply = Backtest{
		DSID: t.source.ID, DSName: t.source.Name, Episodes: []Episode{}, Persons: []Woken{}, Total: int64(len(episodes)),
		Points: int64(len(moments)), Skipped: int64(unknown),
	}
	for i := range episodes[:min(len(episodes), mostEpisodes)] {
		reply.Episodes = append(reply.Episodes, shownEpisode(&episodes[i]))
	}
	return reply, c.Read(func() error { return r.woken(c, &reply, &t, episodes[:min(len(episodes), mostForeseen)], in.To/1000) })
}

// momentsOf returns the moments that a rule asks about within a span: those of its schedule, less a delay.
func momentsOf(rule *alertrule.Rule, zone *time.Location, less time.Duration, s Span) (moments []time.Time, err error) {
	schedule, err := evaluate.ParseSchedule(rule.CronPattern)
	if err != nil {
		return nil, fault.Invalid("rule.cron_pattern", "%s", err)
	}
	from, to := s.moments()
	for at := schedule.Next(from.In(zone).Add(-time.Millisecond)); !at.IsZero() && !at.After(to); at = schedule.Next(at) {
		moments = append(moments, at.Add(-less))
		if len(moments) > querier.MaxPoints {
			return nil, fault.Invalid("to", "a backtest has at most %d evaluations, and %v in steps of %v has %d; choose a shorter time",
				querier.MaxPoints, to.Sub(from), schedule.Interval(), to.Sub(from)/schedule.Interval())
		}
	}
	if len(moments) == 0 {
		return nil, fault.Invalid("to", "the rule is not evaluated within %v", to.Sub(from))
	}
	return moments, nil
}

func shownEpisode(e *evaluate.Episode) Episode {
	shown := Episode{
		Labels: filled(e.Begin.Labels), Check: e.Begin.Check, Severity: e.Severity, Begin: e.Begin.At.UnixMilli(), To: string(e.To),
	}
	if e.To != "" {
		shown.End = e.End.UnixMilli()
	}
	return shown
}

// woken adds the incidents that episodes would have opened, and whom they would have notified first.
func (r *Service) woken(c *api.Call, reply *Backtest, t *trial, episodes []evaluate.Episode, last int64) error {
	ahead, err := triage.NewForesight(c.Tx, c.Who.AccountID)
	if err != nil {
		return err
	}
	var opened []*triage.Foreseen
	for i := range episodes {
		e := &episodes[i]
		end := last
		if e.To != "" {
			end = e.End.Unix()
		}
		for _, one := range r.imagined(t, &e.Begin, e.Begin.At).events {
			all, err := ahead.Begin(one, e.Begin.At.Unix(), end)
			if err != nil {
				return err
			}
			opened = append(opened, all...)
		}
	}
	opened = slices.DeleteFunc(opened, func(f *triage.Foreseen) bool { return f.Outcome != decide.Opened })
	reply.Incidents = int64(len(opened))
	if !c.Who.May(auth.IncidentsRead) || r.Escalation == nil {
		return nil
	}
	counted := counts{c: c, zone: t.zone, known: map[int64]*countedPerson{}}
	for _, f := range opened {
		if err := counted.add(r, f); err != nil {
			return err
		}
	}
	reply.Persons = counted.list()
	return nil
}

// counts counts persons who would have been notified.
type counts struct {
	c     *api.Call
	zone  *time.Location // of persons who have not set theirs
	known map[int64]*countedPerson
}

type countedPerson struct {
	Woken
	zone *time.Location
}

// add counts the persons whom an incident would have notified first. One in a channel that the caller may not read counts for none.
func (n *counts) add(r *Service, f *triage.Foreseen) error {
	if _, ok, err := readable(n.c, f.Channel); err != nil || !ok {
		return err
	}
	step, found, err := r.Escalation.First(n.c.Tx, &f.Incident, f.Begin, f.End)
	if err != nil || !found {
		return err
	}
	for _, to := range step.Persons {
		p := n.known[to.PersonID]
		if p == nil {
			one, _, err := person.Find(n.c.Tx, n.c.Who.AccountID, to.PersonID)
			if err != nil {
				return err
			}
			p = &countedPerson{Woken{PersonID: to.PersonID, PersonName: one.PersonName}, n.zone}
			if zone, err := time.LoadLocation(one.TimeZone); err == nil && one.TimeZone != "" {
				p.zone = zone
			}
			n.known[to.PersonID] = p
		}
		p.Times++
		if insight.Asleep(step.At, p.zone) {
			p.NightTimes++
		}
	}
	return nil
}

func (n *counts) list() []Woken {
	list := []Woken{}
	for _, p := range n.known {
		list = append(list, p.Woken)
	}
	slices.SortFunc(list, func(a, b Woken) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.PersonID, b.PersonID))
	})
	return list
}

// timeline returns the rows of a query moment by moment.
type timeline struct {
	series []querier.Series
	keys   []string
	alone  bool // the query has one value, which has a name
}

func newTimeline(series []querier.Series) timeline {
	t := timeline{series: series}
	names := map[string]bool{}
	for i := range series {
		t.keys = append(t.keys, fmt.Sprintf("%q", series[i].Labels))
		names[series[i].Name] = true
	}
	t.alone = len(names) == 1 && !names[""]
	return t
}

// at returns the rows of a moment, as a query about it would. Moments must be given in order.
func (t *timeline) at(moment time.Time) (rows []evaluate.Row) {
	known := map[string]int{}
	for i := range t.series {
		s := &t.series[i]
		for len(s.Points) > 0 && s.Points[0].At.Before(moment) {
			s.Points = s.Points[1:]
		}
		if len(s.Points) == 0 || !s.Points[0].At.Equal(moment) {
			continue
		}
		value := s.Points[0].Value
		if n, ok := known[t.keys[i]]; ok && s.Name != "" {
			if _, twice := rows[n].Values.Get(s.Name); !twice {
				rows[n].Values.Set(s.Name, value)
				continue
			}
		}
		known[t.keys[i]] = len(rows)
		row := evaluate.Row{Labels: s.Labels, Values: evaluate.Values{{Field: s.Name, Number: value}}}
		if t.alone {
			row.Values.Set("", value)
		}
		rows = append(rows, row)
	}
	return rows
}
