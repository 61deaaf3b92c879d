package evaluate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"tocsin/internal/core/condition"
	"tocsin/internal/core/sentence"
)

// changes applies the signals of an evaluation and collects the transitions.
type changes struct {
	w         *Watch
	at        time.Time
	ms        int64
	over      [checkCount]int // see overBound
	begins    []*signal
	unwatched int // new series for which the baseline has no room
	all       []Transition
}

// checksOff ends the instances of checks that the rule no longer has.
func (t *changes) checksOff() {
	for n := range t.w.checks {
		c := &t.w.checks[n]
		if c.on || len(c.instances) == 0 {
			continue
		}
		for _, i := range c.instances {
			if i.severity != none {
				t.add(&signal{check: n, instance: i, row: -1}, Closed, none, t.w.changed(true))
			}
		}
		clear(c.instances)
		t.w.modified = true
	}
}

// apply counts a signal, and makes the transition that follows. A beginning waits for begin.
func (t *changes) apply(s *signal) {
	c := &t.w.checks[s.check]
	if s.instance == nil && !t.create(c, s) {
		return
	}
	i := s.instance
	before := i.memory
	if s.row >= 0 {
		t.read(c, s)
	}
	if t.left(s) {
		if i.severity != none {
			t.add(s, Closed, none, t.w.changed(false))
		}
		t.remove(c, s)
		return
	}
	i.count(s, t.ms)
	to, level := c.decide(i, &t.w.rule, t.ms)
	switch to {
	case "":
	case Begin:
		t.begins = append(t.begins, s)
	default:
		t.add(s, to, level, t.w.why(s, to)...)
	}
	if to == Closed || to != Begin && c.done(i, t.ms) {
		t.remove(c, s)
	}
	t.w.modified = t.w.modified || i.memory != before
}

// create makes the instance of a signal. It reports false when the baseline of nodata is full.
func (t *changes) create(c *check, s *signal) bool {
	if c.kind == nodata && len(c.instances) >= t.w.limits.instances {
		t.unwatched++
		return false
	}
	labels := map[string]string{}
	if s.row >= 0 {
		labels = t.w.rows.labels[s.row]
	}
	s.instance = newInstance(c.query, labels)
	c.add(s.id, s.instance)
	t.w.modified = true
	return true
}

func (t *changes) remove(c *check, s *signal) {
	delete(c.instances, s.id)
	t.w.modified = true
}

// read keeps the value of an instance, and which queries have had it.
func (t *changes) read(c *check, s *signal) {
	if v := t.w.valueOf(c, s.row); !math.IsNaN(v) {
		s.instance.value = v
	}
	if c.kind == nodata {
		s.instance.mask |= t.w.has(s.row)
	}
}

// left reports whether the first known answer after a change of the rule lacks an instance. A series that is missing has no
// row by its nature: those of nodata leave only when other queries are asked.
func (t *changes) left(s *signal) bool {
	if s.row >= 0 {
		return s.check == nodata && t.w.config.Queries != t.w.current.Queries && t.w.has(s.row) == 0
	}
	if s.check == nodata {
		return t.w.config.Queries != t.w.current.Queries
	}
	return t.w.config != t.w.current && s.instance.severity != none
}

// done reports whether nothing of an instance need be remembered.
func (c *check) done(i *instance, at int64) bool {
	if c.kind == nodata {
		return i.forgotten(at)
	}
	return i.severity == none && i.above[info] == 0
}

// begin lets instances begin: within the hours of the rule, and as many as may fire.
func (t *changes) begin() {
	w := t.w
	wanted := w.opened + len(t.begins)
	slices.SortFunc(t.begins, func(a, b *signal) int {
		return cmp.Or(cmp.Compare(a.check, b.check), cmp.Compare(a.instance.key, b.instance.key))
	})
	open := w.within(t.at)
	for _, s := range t.begins {
		if !open || w.opened >= w.limits.instances {
			break
		}
		_, level := w.checks[s.check].decide(s.instance, &w.rule, t.ms)
		t.add(s, Begin, level, w.why(s, Begin)...)
	}
	most := max(slices.Max(t.over[:]), wanted, t.unwatched+len(w.checks[nodata].instances))
	t.tooMany(most, open)
}

// tooMany begins or ends the instance of a rule that matches more than may fire.
func (t *changes) tooMany(count int, open bool) {
	c := &t.w.checks[tooMany]
	s := &signal{check: tooMany, id: labelsID(nil), row: -1}
	s.instance = c.instances[s.id]
	limit := t.w.limits.instances
	switch {
	case count > limit && s.instance == nil && open:
		t.create(c, s)
		s.instance.value = float64(count)
		t.add(s, Begin, c.severity, sentence.New("mon_too_many", count, limit))
	case count > limit && s.instance != nil:
		s.instance.value = float64(count)
		if to, level := c.decide(s.instance, &t.w.rule, t.ms); to == Repeat {
			t.add(s, to, level, sentence.New("mon_too_many", count, limit))
		}
	case count <= limit && s.instance != nil:
		t.add(s, Recovered, none, sentence.New("mon_within", limit))
		t.remove(c, s)
	}
}

// add makes a transition with its reasons, after the clauses that decided.
func (t *changes) add(s *signal, to To, level severity, reasons ...sentence.Value) {
	w := t.w
	c := &w.checks[s.check]
	i := s.instance
	made := Transition{Check: c.name, Query: i.query, Key: i.key, Labels: i.labels, At: t.at, To: to, From: i.severity.String(),
		Severity: level.String(), Value: finite(i.value), Silent: to.Ends() && c.silent}
	since := i.since
	if to == Begin {
		since = t.ms
	}
	made.Since = time.UnixMilli(since).UTC()
	if to.Ends() {
		made.Severity = made.From
	}
	if s.row >= 0 {
		for n, q := range w.queries {
			if row := w.rows.row(s.row, n); row != nil {
				made.Rows = append(made.Rows, Answer{Query: q.Name, Rows: []Row{*row}})
			}
		}
	}
	made.Clauses = w.clauses(s, to)
	made.Why = make([]sentence.Value, 0, len(made.Clauses)+len(reasons))
	for _, clause := range made.Clauses {
		made.Why = append(made.Why, holds(clause))
	}
	made.Why = append(made.Why, reasons...)
	t.all = append(t.all, made)
	if s.check != tooMany {
		switch {
		case to == Begin:
			w.opened++
		case to.Ends():
			w.opened--
		}
	}
	i.become(to, level, t.ms)
	w.modified = true
}

// maxClauses bounds the clauses of a transition.
const maxClauses = 10

// clauses returns the comparisons that decided about a threshold. The severity of the instance is still that of before.
func (w *Watch) clauses(s *signal, to To) []condition.Clause {
	c := &w.checks[s.check]
	if s.check != threshold || s.row < 0 || s.absent {
		return nil
	}
	var from []*expression
	switch {
	case s.severity != none:
		from = append(from, c.exprs[s.severity])
	case to == Recovered && c.mode == "threshold":
		from = append(from, c.recovery)
	case to == Fall:
		from = append(from, c.exprs[s.instance.severity])
	default:
		from = c.exprs[:]
	}
	var all []condition.Clause
	for _, e := range from {
		if e == nil {
			continue
		}
		for _, clause := range w.explain(e, s.row) {
			clause.Text = cut(clause.Text, 200)
			all = append(all, clause)
		}
	}
	return all[:min(len(all), maxClauses)]
}

func (w *Watch) explain(e *expression, set int) []condition.Clause {
	e.read(&w.rows, set)
	next := 0
	return e.Eval(func(condition.Ref) (float64, bool) {
		next++
		return e.values[next-1], true
	}).Clauses
}

// valueOf returns the value that is shown of a label set; NaN: none.
func (w *Watch) valueOf(c *check, set int) float64 {
	if c.value != nil && len(c.value.slots) > 0 {
		s := &c.value.slots[0]
		return s.value(w.rows.row(set, s.query))
	}
	for n, q := range w.queries {
		if q.Name == c.query {
			s := slot{query: n, alone: true}
			if len(q.ValueFields) > 0 {
				s.field = q.ValueFields[0]
			}
			return s.value(w.rows.row(set, n))
		}
	}
	return math.NaN()
}
