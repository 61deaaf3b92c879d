package oncall

import (
	"slices"

	"tocsin/internal/core/sentence"
)

// Warnings returns what is legal but probably not intended: values without
// effect, groups and overrides that are never on call. Each is one sentence that
// begins with the path of the value in the names of the API. The schedule must
// have passed Check.
func (s *Schedule) Warnings() []sentence.Value {
	var out []sentence.Value
	e := newEngine(s)
	for i := range s.Layers {
		warn := func(found sentence.Value) { out = append(out, sentence.New("w_layer", i, found)) }
		if s.Layers[i].Mode == Override {
			e.warnOverride(i, warn)
		} else {
			e.warnRotation(i, warn)
		}
	}
	return out
}

// warner adds one warning, after the path of the layer.
type warner func(sentence.Value)

func (e *engine) warnOverride(i int, warn warner) {
	l := &e.Layers[i]
	if l.RestrictMode != RestrictNone || l.Mask.Active() {
		warn(sentence.New("w_mode_mask"))
	}
	if l.dated() {
		warn(sentence.New("w_mode_calendars"))
	}
	if n := len(l.Groups); n > 1 {
		warn(sentence.New("w_override_groups", n))
	}
	if l.Groups[0].persons() == 0 {
		warn(sentence.New("w_override_empty"))
	}
	if e.hidden(i) {
		warn(sentence.New("w_override_weight", l.Weight))
	}
}

// hidden reports whether an override never counts, because overrides that take
// precedence over it cover all of its time.
func (e *engine) hidden(i int) bool {
	var stronger []stretch
	for j := range e.Layers {
		if e.precedence(j, i) < 0 {
			stronger = append(stronger, stretch{e.Layers[j].Start, e.Layers[j].End})
		}
	}
	l := &e.Layers[i]
	return slices.ContainsFunc(unite(stronger), func(s stretch) bool { return s.start <= l.Start && s.end >= l.End })
}

func (e *engine) warnRotation(i int, warn warner) {
	r := &e.rotations[i]
	switch {
	case r.RestrictMode == RestrictNone:
		if len(r.Restrict) > 0 {
			warn(sentence.New("w_periods_off"))
		}
	case len(r.Restrict) == 0:
		warn(sentence.New("w_periods_empty", r.RestrictMode))
	case !r.restricted():
		warn(sentence.New("w_mode_ignored"))
	default:
		for j, p := range r.Restrict {
			if s := p.unwrap(r.unit()); s.start == s.end {
				warn(sentence.New("w_period_empty", j, p.Start, p.End))
			}
		}
	}
	if r.Handoff > 0 && !r.weekly() {
		warn(sentence.New("w_handoff"))
	}
	if r.Continuous && !r.Mask.Active() && !r.dated() {
		warn(sentence.New("w_continuous"))
	}
	if slices.ContainsFunc(r.Only, func(c *Calendar) bool { return slices.Contains(r.Skip, c) }) {
		warn(sentence.New("w_calendars"))
	}
	if r.Fair && len(r.Groups) <= 2 {
		warn(sentence.New("w_fair"))
	}
	idle, days := r.idle()
	for j := range r.Groups {
		if e.crowded(&r.Groups[j]) {
			warn(sentence.New("w_crowded", j))
		}
		if r.Groups[j].persons() == 0 {
			warn(sentence.New("w_group_empty", j))
		} else if slices.Contains(idle, j) {
			warn(sentence.New("w_group_never", j, days))
		}
	}
}

// idle returns the groups that are never on call, because the mask or the
// restriction excludes all of their turns, and the number of days after which
// the pattern of turns repeats. It examines one whole pattern, so that the result
// is certain but for changes of the clock. Only turns of less than a week that
// are not counted in masked days can be lost so. A pattern of more than two years
// (731 days) is not examined, because that would take too long.
func (r *rotation) idle() (groups []int, days int64) {
	if r.Unit > Day || r.byDuty() || !r.restricted() && !r.Mask.Active() {
		return nil, 0
	}
	turns := int64(len(r.Groups))
	if r.Fair {
		turns *= turns
	}
	round := turns * r.step
	pattern := round / gcd(round, week) * week
	if pattern > 731*day {
		return nil, 0
	}
	l := *r.Layer
	l.End = 0
	l.Skip = nil
	l.Only = nil // whether a calendar has days is not a matter of the turns
	endless := prepare(&l, &zone{loc: r.zone.loc})
	served := make([]bool, len(r.Groups))
	for from, end := l.Start, l.Start+pattern; from < end && slices.Contains(served, false); from += 4 * week {
		for _, e := range endless.entries(from, min(from+4*week, end)) {
			served[e.Group] = true
		}
	}
	for i, ok := range served {
		if !ok {
			groups = append(groups, i)
		}
	}
	return groups, pattern / day
}

// gcd returns the greatest common divisor of two positive numbers.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
