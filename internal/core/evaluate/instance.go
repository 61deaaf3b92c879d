package evaluate

import (
	"math"
	"time"
)

// maxTimes bounds the counts of evaluations.
const maxTimes = 10_000

// instance is a label set of a check: pending, firing, or a series of the baseline of nodata.
type instance struct {
	memory
	key    string
	query  string
	labels map[string]string
	value  float64 // in the last answer that had it; NaN: none
	mark   uint64  // the last step whose answers had it
}

// memory is the part of an instance that its later evaluations depend on. Moments are in Unix milliseconds; 0: none.
type memory struct {
	severity severity           // none: it does not fire
	above    [severities]uint16 // evaluations in a row at a severity or above; kept for those above that of the instance
	below    [severities]uint16 // with a value and below a severity; kept for that of the instance and those below
	absent   uint16             // without a value
	clear    uint16             // that prove its recovery
	since    int64              // pending or firing
	missing  int64              // since when it has been absent
	sent     int64              // its last transition
	repeats  int64
	mask     uint16 // of nodata: the queries whose answers have had it
}

func newInstance(name string, labels map[string]string) *instance {
	return &instance{key: Key(labels), query: name, labels: labels, value: math.NaN()}
}

// signal is the result of an evaluation for one instance.
type signal struct {
	check     int
	instance  *instance
	id        uint64
	row       int      // its label set among the joined rows; -1: no answer has it
	severity  severity // none: no severity holds
	absent    bool     // it has no value
	recovered bool     // the evaluation counts towards its recovery
	skip      bool     // its recovery query has no answer: nothing about it changes
}

// count moves the counts of an instance by a signal.
func (i *instance) count(s *signal, at int64) {
	if i.severity == none && i.above[info] == 0 && s.severity != none {
		i.since = at
	}
	for level := info; level < severities; level++ {
		above := !s.absent && s.severity >= level
		below := !s.absent && s.severity < level
		i.above[level] = next(i.above[level], above)
		i.below[level] = next(i.below[level], below)
	}
	i.absent = next(i.absent, s.absent)
	i.clear = next(i.clear, s.recovered)
	missing := s.absent || s.check == nodata && s.severity != none
	switch {
	case !missing:
		i.missing = 0
	case i.missing == 0:
		i.missing = at
	}
	i.settle()
}

func next(count uint16, more bool) uint16 {
	if !more {
		return 0
	}
	return min(count+1, maxTimes)
}

// settle clears the counts that decide nothing, so that an instance that goes on as it was has the state that it had.
func (i *instance) settle() {
	for level := info; level < severities; level++ {
		if level <= i.severity {
			i.above[level] = 0
		} else {
			i.below[level] = 0
		}
	}
	if i.severity == none {
		i.absent = 0
		i.clear = 0
		if i.above[info] == 0 {
			i.since = 0
		}
	}
}

// reached returns the highest severity that the last n evaluations reached.
func (i *instance) reached(n int) severity {
	for level := critical; level > i.severity; level-- {
		if int(i.above[level]) >= n {
			return level
		}
	}
	return none
}

// reaching returns the severity that the evaluations of a pending instance reach so far.
func (i *instance) reaching() severity { return i.reached(int(max(i.above[info], 1))) }

// fallen returns the highest severity among the last n evaluations when all of them are below that of the instance.
func (i *instance) fallen(n int) severity {
	if i.severity == none || int(i.below[i.severity]) < n {
		return none
	}
	for level := i.severity - 1; level > none; level-- {
		if int(i.below[level]) < n {
			return level
		}
	}
	return none
}

// decide returns the transition that an instance makes after a signal; empty: none.
func (c *check) decide(i *instance, rule *Rule, at int64) (To, severity) {
	if i.severity == none {
		if level := i.reached(c.begin); level != none {
			return Begin, level
		}
		return "", none
	}
	timedOut := c.kind == nodata && c.timeout > 0 && i.missing != 0 && at-i.missing >= c.timeout.Milliseconds()
	switch {
	case int(i.clear) >= c.end:
		return Recovered, none
	case c.goes() && int(i.absent) >= max(c.end, 2):
		return Gone, none
	case timedOut:
		return Closed, none
	}
	if level := i.reached(c.begin); level != none {
		return Rise, level
	}
	if level := i.fallen(c.end); level != none {
		return Fall, level
	}
	interval := rule.RepeatInterval.Milliseconds()
	if interval > 0 && at-i.sent >= interval && (rule.RepeatTotal == 0 || i.repeats < rule.RepeatTotal) {
		return Repeat, i.severity
	}
	return "", none
}

// become applies a transition to an instance.
func (i *instance) become(to To, level severity, at int64) {
	switch to {
	case Begin:
		i.since = at
		i.repeats = 0
	case Repeat:
		i.repeats++
	}
	i.severity = level
	i.sent = at
	if to.Ends() {
		i.memory = memory{mask: i.mask}
		return
	}
	i.settle()
}

// forgotten reports whether a missing series that does not fire has left the baseline.
func (i *instance) forgotten(at int64) bool {
	return i.severity == none && i.missing != 0 && time.Duration(at-i.missing)*time.Millisecond >= forgetAfter
}
