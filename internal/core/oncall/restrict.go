package oncall

import (
	"cmp"
	"slices"
)

// stretch is a piece of covered time, [start, end) in Unix seconds.
type stretch struct{ start, end int64 }

// join appends a stretch to a list sorted by start, uniting it with the last
// one where they touch or overlap, and dropping it where it is empty.
func join(list []stretch, s stretch) []stretch {
	if s.end <= s.start {
		return list
	}
	if n := len(list); n > 0 && s.start <= list[n-1].end {
		list[n-1].end = max(list[n-1].end, s.end)
		return list
	}
	return append(list, s)
}

// restricted reports whether the restricted hours count. A week cannot be
// restricted and masked at once: the mask takes precedence (R14).
func (l *Layer) restricted() bool {
	return len(l.Restrict) > 0 &&
		(l.RestrictMode == RestrictDay || l.RestrictMode == RestrictWeek && !l.Mask.Active())
}

// unit returns the span over which the restricted hours repeat.
func (l *Layer) unit() int64 {
	if l.RestrictMode == RestrictWeek {
		return week
	}
	return day
}

// simplified returns the restricted periods sorted, without wrap (an End may be
// on the next day or in the next week), those that touch or overlap united and
// empty ones left out. It covers what Restrict covers wherever the clock is not
// put forward.
func (l *Layer) simplified() []stretch {
	unit := l.unit()
	list := make([]stretch, len(l.Restrict))
	for i, p := range l.Restrict {
		list[i] = p.unwrap(unit)
	}
	return unite(list)
}

// unwrap returns the period with its end after its start, unless it is empty.
func (p Period) unwrap(unit int64) stretch {
	if p.End <= p.Start {
		p.End += unit
	}
	return stretch{p.Start, p.End}
}

// unite sorts a list of stretches, in place, and joins what touches.
func unite(list []stretch) []stretch {
	slices.SortFunc(list, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
	out := list[:0]
	for _, s := range list {
		out = join(out, s)
	}
	return out
}

// allowed returns the time within the restricted hours that meets [from, to)
// (R14).
//
// Every period is placed on the wall clock of every day (or week) and then
// converted to instants. Where the clock is put forward the periods are used
// unsimplified, because the jump may shorten a period, swap the order of two or
// leave nothing of one.
func (r *rotation) allowed(from, to int64) []stretch {
	unit, base := r.unit(), floor(r.zone.local(from), day)
	if unit == week {
		base = monday(base)
	}
	last := r.zone.local(to) + slack
	list := make([]stretch, 0, (last-base)/unit*int64(len(r.hours)))
	add := func(s stretch) {
		if s := (stretch{r.zone.instant(s.start), r.zone.instant(s.end)}); s.end > from && s.start < to {
			list = append(list, s)
		}
	}
	// A period that wraps ends within two units of its base, and the wall is
	// never more than another day away.
	for base -= 3 * unit; base < last; base += unit {
		if r.zone.jumps(base, base+2*unit) {
			for _, p := range r.Restrict {
				s := p.unwrap(unit)
				add(stretch{base + s.start, base + s.end})
			}
			continue
		}
		for _, s := range r.hours {
			add(stretch{base + s.start, base + s.end})
		}
	}
	return unite(list)
}
