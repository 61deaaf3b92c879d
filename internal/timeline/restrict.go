package timeline

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

// restricted reports whether the restricted hours have a say. A week cannot be
// restricted and masked at once: the mask wins (R14).
func (l *Layer) restricted() bool {
	return len(l.Restrict) > 0 &&
		(l.RestrictMode == RestrictDay || l.RestrictMode == RestrictWeek && !l.Mask.Active())
}

// allowed returns the time within the restricted hours that meets [from, to)
// (R14).
//
// Every period is placed on the wall clock of every day (or week) and then
// turned into instants, because a clock change may lengthen a period, cut it
// short, swap the order of two or leave nothing of one.
func (r *rotation) allowed(from, to int64) []stretch {
	unit, base := day, floor(r.zone.local(from), day)
	if r.RestrictMode == RestrictWeek {
		unit, base = week, monday(base)
	}
	last := r.zone.local(to) + slack
	list := make([]stretch, 0, (last-base)/unit*int64(len(r.Restrict)))
	// A period that wraps ends within two units of its base, and the wall is
	// never more than another day away.
	for base -= 3 * unit; base < last; base += unit {
		for _, p := range r.Restrict {
			end := base + p.End
			if p.End <= p.Start {
				end += unit
			}
			s := stretch{r.zone.instant(base + p.Start), r.zone.instant(end)}
			if s.end > from && s.start < to {
				list = append(list, s)
			}
		}
	}
	slices.SortFunc(list, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
	out := list[:0]
	for _, s := range list {
		out = join(out, s)
	}
	return out
}
