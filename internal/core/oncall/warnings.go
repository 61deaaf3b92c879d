package oncall

import (
	"fmt"
	"slices"
)

// Warnings returns what is legal but probably not intended: values without
// effect, groups and overrides that are never on call. Each is one sentence that
// begins with the path of the value in the names of the API. The schedule must
// have passed Check.
func (s *Schedule) Warnings() []string {
	var out []string
	e := newEngine(s)
	for i := range s.Layers {
		warn := func(format string, args ...any) {
			out = append(out, fmt.Sprintf("layers[%d].", i)+fmt.Sprintf(format, args...))
		}
		if s.Layers[i].Mode == Override {
			e.warnOverride(i, warn)
		} else {
			e.warnRotation(i, warn)
		}
	}
	return out
}

// warner adds one warning, after the path of the layer.
type warner func(format string, args ...any)

func (e *engine) warnOverride(i int, warn warner) {
	l := &e.Layers[i]
	if l.RestrictMode != RestrictNone || l.Mask.Active() {
		warn("mode is override: restrict_mode and day_mask are ignored (R18)")
	}
	if l.dated() {
		warn("mode is override: skip_cal_ids and only_cal_ids are ignored (R18)")
	}
	if n := len(l.Groups); n > 1 {
		warn("groups holds %d groups, but an override uses only the first (R18)", n)
	}
	if l.Groups[0].persons() == 0 {
		warn("groups[0] names no person: no one is on call during the override")
	}
	if e.hidden(i) {
		warn("weight %d is too low: other overrides take precedence over this one at every moment (R19)", l.Weight)
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
			warn("restrict_periods is ignored, because restrict_mode is 0: the layer is on around the clock (R14)")
		}
	case len(r.Restrict) == 0:
		warn("restrict_periods is empty: restrict_mode %d has no effect (R14)", r.RestrictMode)
	case !r.restricted():
		warn("restrict_mode 2 is ignored, because day_mask is set (R14)")
	default:
		for j, p := range r.Restrict {
			if s := p.unwrap(r.unit()); s.start == s.end {
				warn("restrict_periods[%d] covers no time: it runs from %d to %d (R14)", j, p.Start, p.End)
			}
		}
	}
	if r.Handoff > 0 && !r.weekly() {
		warn("handoff_time is ignored: only turns of exactly one week have a handoff (R9)")
	}
	if r.Continuous && !r.Mask.Active() && !r.dated() {
		warn("mask_continuous_enabled is ignored, because day_mask excludes no day (R10)")
	}
	if slices.ContainsFunc(r.Only, func(c *Calendar) bool { return slices.Contains(r.Skip, c) }) {
		warn("only_cal_ids and skip_cal_ids name the same calendar: its days off are skipped (R27)")
	}
	if r.Fair && len(r.Groups) <= 2 {
		warn("fair_rotation needs three groups to be of use: two serve twice in a row, one serves always (R13)")
	}
	idle, days := r.idle()
	for j := range r.Groups {
		if e.crowded(&r.Groups[j]) {
			warn("groups[%d] names too many persons with too many absences: no absence of them counts (R25)", j)
		}
		if r.Groups[j].persons() == 0 {
			warn("groups[%d] names no person: no one is on call in its turns", j)
		} else if slices.Contains(idle, j) {
			warn("groups[%d] never serves: in the first %d days the mask or the restricted hours leave nothing of its turns (R15)", j, days)
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
