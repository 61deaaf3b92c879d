package filter

import (
	"strings"

	"tocsin/internal/core/sentence"
)

// Meter bounds what matching costs, in steps: a step is one instruction of a regular expression over one byte of
// the value, or one comparison. Steps instead of time, because they are known before a test is run: Go's regular
// expressions cannot be interrupted, so one that would take too long is not begun. And the same filter, asked about
// the same fields, has the same result on every machine.
//
// A nil Meter bounds nothing. A Meter is for one goroutine.
type Meter struct {
	perRule, left int64 // of one rule, and of what is being asked now
	total, all    int64 // of all rules together, and what is left of that
	over          bool
}

// What deciding one event may cost. A step takes some ten nanoseconds at worst, so one rule costs 100 ms and an event
// 400. MaxInstructions over the longest field are within it.
const (
	RuleSteps  = 10_000_000
	EventSteps = 40_000_000
)

// NewMeter returns a meter that lets one rule take perRule steps and all of them together no more than all.
func NewMeter(perRule, all int64) *Meter {
	return &Meter{perRule: perRule, left: min(perRule, all), total: all, all: all}
}

// Begin starts a rule: it has its own steps, of those that are left.
func (m *Meter) Begin() {
	if m != nil {
		m.left, m.over = min(m.perRule, m.all), false
	}
}

// Spend takes steps and reports whether the rule had that many left. Once it has not, it gets no more.
func (m *Meter) Spend(steps int64) bool {
	if m == nil {
		return true
	}
	m.over = m.over || steps > m.left
	if m.over {
		return false
	}
	m.left -= steps
	m.all -= steps
	return true
}

// Used returns how many steps all rules took.
func (m *Meter) Used() int64 {
	if m == nil {
		return 0
	}
	return m.total - m.all
}

// Over reports whether the rule needed more steps than it has.
func (m *Meter) Over() bool { return m != nil && m.over }

// Why returns in words that the rule needed more steps than it has.
func (m *Meter) Why() sentence.Value {
	if m.all < m.perRule {
		return sentence.New("over_event")
	}
	return sentence.New("over_rule", m.perRule)
}

// Ask begins a rule and matches its filter. why is the reason in words. A rule over its budget does not match.
func (m *Meter) Ask(matcher *Matcher, fields Fields) (matched bool, why sentence.Value) {
	return m.ask(matcher, fields, Trace.Why)
}

// AskEach is Ask with a reason that names every condition; see Trace.Conditions.
func (m *Meter) AskEach(matcher *Matcher, fields Fields) (matched bool, why sentence.Value) {
	return m.ask(matcher, fields, Trace.Conditions)
}

func (m *Meter) ask(matcher *Matcher, fields Fields, words func(Trace) sentence.Value) (matched bool, why sentence.Value) {
	m.Begin()
	var trace Trace
	matched = matcher.Within(m, fields, &trace)
	if m.Over() {
		return false, m.Why()
	}
	return matched, words(trace)
}

// size is what testing a value costs: some steps in any case, and some for each of its bytes.
type size struct{ fixed, perByte int64 }

// of is the cost of testing one value.
func (s size) of(value string) int64 { return s.fixed + s.perByte*int64(len(value)) }

// sizeOf returns the cost of one of a condition's values. If the cost depends on the tested value, sizeOf returns the worst
// case.
func sizeOf(val string) size {
	switch {
	case len(val) >= 2 && val[0] == '/' && val[len(val)-1] == '/':
		n, err := Instructions(val[1:len(val)-1], MaxInstructions)
		if err != nil {
			n = 0 // it matches nothing
		}
		return size{10, int64(n)}
	case strings.HasPrefix(val, "cidr:"), strings.HasPrefix(val, "num:"):
		return size{20, 1}
	case strings.ContainsAny(val, "*?"): // a part between stars may be tried at every index
		longest := 0
		for part := range strings.SplitSeq(val, "*") {
			longest = max(longest, len(part))
		}
		return size{5, int64(1 + longest)}
	}
	return size{1, 0}
}
