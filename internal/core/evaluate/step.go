package evaluate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"tocsin/internal/core/condition"
)

// Step advances the watch by the evaluation of a moment. Its answers are those of all queries of the rule; if one of them
// failed, nothing is known and nothing changes; if one was cut, only what is there counts. If the result asks recovery queries,
// nothing has changed yet: Answered goes
// on.
func (w *Watch) Step(at time.Time, answers []Answer) Result {
	w.step++
	w.asked = w.asked[:0]
	w.signals = w.signals[:0]
	w.failed = nil
	if f := w.join(answers); f != nil {
		return Result{Outcome: w.notKnown(at, f)}
	}
	w.judgeThreshold()
	w.judgeAnydata()
	w.judgeNodata()
	if asks := w.questions(); len(asks) > 0 {
		return Result{Ask: asks}
	}
	return w.finish(at)
}

// Answered finishes an evaluation with the answers of the questions that Step returned, in their order. An instance whose
// question failed stays as it is. Without such questions it does nothing.
func (w *Watch) Answered(at time.Time, answers []Answer) Result {
	if len(w.asked) == 0 {
		return Result{}
	}
	for n, index := range w.asked {
		s := &w.signals[index]
		switch {
		case n >= len(answers):
			w.failed = &Failure{Kind: Missed, Message: "the recovery query was not asked"}
			s.skip = true
		case answers[n].Failed != nil && len(answers[n].Rows) == 0:
			w.failed = answers[n].Failed
			s.skip = true
		default:
			s.recovered = len(answers[n].Rows) > 0
		}
	}
	w.asked = w.asked[:0]
	return w.finish(at)
}

// notKnown returns the outcome of an evaluation without a whole answer.
func (w *Watch) notKnown(at time.Time, f *Failure) Outcome {
	if w.since == 0 {
		w.since = at.UnixMilli()
		w.modified = true
	}
	since := time.UnixMilli(w.since).UTC()
	return Outcome{Kind: f.Kind, Message: f.Message, Since: since, Unknown: at.Sub(since) >= w.unknownAfter()}
}

func (w *Watch) unknownAfter() time.Duration {
	if seconds := w.rule.Config.UnknownAfterSeconds; seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	return max(3*w.rule.Interval, 2*time.Minute)
}

// judgeThreshold makes a signal for each label set at a severity, and for each instance.
func (w *Watch) judgeThreshold() {
	c := &w.checks[threshold]
	if !c.on {
		return
	}
	for set, id := range w.rows.ids {
		level, missing := c.judge(&w.rows, set)
		i := c.instances[id]
		if i == nil && level == none {
			continue
		}
		s := signal{check: threshold, instance: i, id: id, row: set, severity: level, absent: level == none && missing}
		s.skip = w.failed != nil && (level == none || missing)
		if level == none && !missing {
			s.recovered = c.mode == "invert" || c.mode == "threshold" && c.recovers(&w.rows, set)
		}
		w.signal(s)
	}
	w.absentees(c, func(s *signal) { s.absent = true })
}

// judge returns the first severity that holds for a label set, and whether a missing value left another open.
func (c *check) judge(j *joinedRows, set int) (severity, bool) {
	missing := false
	for level := critical; level > none; level-- {
		e := c.exprs[level]
		if e == nil {
			continue
		}
		e.read(j, set)
		switch e.Truth(e.values) {
		case condition.True:
			return level, missing
		case condition.Missing:
			missing = true
		}
	}
	return none, missing
}

func (c *check) recovers(j *joinedRows, set int) bool {
	c.recovery.read(j, set)
	return c.recovery.Truth(c.recovery.values) == condition.True
}

// judgeAnydata makes a signal for each row and each instance.
func (w *Watch) judgeAnydata() {
	c := &w.checks[anydata]
	if !c.on {
		return
	}
	for set, id := range w.rows.ids {
		w.signal(signal{check: anydata, instance: c.instances[id], id: id, row: set, severity: c.severity})
	}
	w.absentees(c, func(s *signal) {
		s.absent = true
		s.recovered = c.mode == "nodata"
	})
}

// judgeNodata makes a signal for each series that has left or come back, and for each new one.
func (w *Watch) judgeNodata() {
	c := &w.checks[nodata]
	if !c.on {
		return
	}
	for set, id := range w.rows.ids {
		has := w.has(set)
		i := c.instances[id]
		switch {
		case i == nil && has == 0:
		case i == nil:
			w.signal(signal{check: nodata, id: id, row: set, recovered: true})
		case i.mask&^has == 0 && has != 0:
			w.signal(signal{check: nodata, instance: i, id: id, row: set, recovered: true})
		default:
			w.signal(signal{check: nodata, instance: i, id: id, row: set, severity: c.severity, skip: w.failed != nil})
		}
	}
	w.absentees(c, func(s *signal) { s.severity = c.severity })
}

// has returns the queries that have a value of a label set, as bits. A row without any value is one.
func (w *Watch) has(set int) uint16 {
	var mask uint16
	for n := range w.queries {
		row := w.rows.row(set, n)
		if row == nil {
			continue
		}
		present := len(row.Values) == 0
		for _, v := range row.Values {
			present = present || !math.IsNaN(v.Number) // NaN is no value
		}
		if present {
			mask |= 1 << n
		}
	}
	return mask
}

func (w *Watch) signal(s signal) {
	if s.instance != nil {
		s.instance.mark = w.step
	}
	w.signals = append(w.signals, s)
}

// absentees makes a signal for each instance that no answer has. An answer that was cut proves no absence.
func (w *Watch) absentees(c *check, fill func(*signal)) {
	for id, i := range c.instances {
		if i.mark == w.step {
			continue
		}
		s := signal{check: c.kind, instance: i, id: id, row: -1, skip: w.failed != nil}
		fill(&s)
		w.signals = append(w.signals, s)
	}
}

// finish applies the signals of an evaluation.
func (w *Watch) finish(at time.Time) Result {
	result := Result{Outcome: Outcome{Known: true}}
	if w.failed != nil {
		result.Outcome = w.notKnown(at, w.failed)
	} else if w.since != 0 {
		w.since = 0
		w.modified = true
	}
	c := &changes{w: w, at: at, ms: at.UnixMilli(), over: w.overBound()}
	c.checksOff()
	for n := range w.signals {
		if s := &w.signals[n]; c.over[s.check] == 0 && !s.skip {
			c.apply(s)
		}
	}
	c.begin()
	if w.config != w.current {
		w.config = w.current
		w.modified = true
	}
	slices.SortFunc(c.all, func(a, b Transition) int { return cmp.Or(cmp.Compare(a.Check, b.Check), cmp.Compare(a.Key, b.Key)) })
	result.Transitions = c.all
	result.Related = w.related(c.all)
	return result
}

// overBound returns how many label sets each check matches when these are more than instances may fire.
func (w *Watch) overBound() [checkCount]int {
	var matches, over [checkCount]int
	for n := range w.signals {
		if s := &w.signals[n]; s.row >= 0 && s.severity != none && s.check != nodata {
			matches[s.check]++
		}
	}
	for n, count := range matches {
		if count > w.limits.instances {
			over[n] = count
		}
	}
	return over
}
