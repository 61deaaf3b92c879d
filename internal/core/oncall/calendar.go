package oncall

import (
	"cmp"
	"container/heap"
	"slices"
	"sort"
	"time"
)

// Calendar knows which dates are days off (R27). It is never changed and may be used by any number of goroutines.
type Calendar struct {
	workdays Weekdays
	periods  []Exception // sorted, none overlapping another
}

// Exception is a period of dates that are all days off, or all worked on, whatever their weekday.
type Exception struct {
	Start, End int64 // dates, as Date returns them; [Start, End)
	Off        bool
}

// Date returns a date as exceptions have it.
func Date(year int, month time.Month, date int) int64 {
	return time.Date(year, month, date, 0, 0, 0, 0, time.UTC).Unix()
}

// NewCalendar returns a calendar. The first exception that contains a date decides about it, and for the other dates
// the weekday: those that are not workdays are days off.
func NewCalendar(workdays Weekdays, exceptions []Exception) *Calendar {
	return &Calendar{workdays, decided(exceptions)}
}

// off reports whether a date (00:00 on the wall) is a day off.
func (c *Calendar) off(date int64) bool {
	i := sort.Search(len(c.periods), func(i int) bool { return c.periods[i].End > date })
	if i < len(c.periods) && c.periods[i].Start <= date {
		return c.periods[i].Off
	}
	return !c.workdays.Has(weekday(date))
}

// decided returns the exceptions sorted and without overlap: each date belongs to the first one that contained it.
func decided(exceptions []Exception) []Exception {
	type bound struct {
		date  int64
		index int // of the exception that begins or ends
	}
	var bounds []bound
	for i, x := range exceptions {
		if x.Start < x.End {
			bounds = append(bounds, bound{x.Start, i}, bound{x.End, i})
		}
	}
	slices.SortFunc(bounds, func(a, b bound) int { return cmp.Compare(a.date, b.date) })
	var out []Exception
	var open indexes // that have begun; those that have ended are removed once they come first
	for n, b := range bounds {
		if exceptions[b.index].Start == b.date {
			heap.Push(&open, b.index)
		}
		for len(open) > 0 && exceptions[open[0]].End <= b.date {
			heap.Pop(&open)
		}
		if len(open) == 0 || n+1 == len(bounds) || bounds[n+1].date == b.date {
			continue
		}
		next := Exception{b.date, bounds[n+1].date, exceptions[open[0]].Off}
		if last := len(out) - 1; last >= 0 && out[last].End == next.Start && out[last].Off == next.Off {
			out[last].End = next.End
			continue
		}
		out = append(out, next)
	}
	return out
}

// indexes is a heap with the lowest number first.
type indexes []int

func (h indexes) Len() int           { return len(h) }
func (h indexes) Less(i, j int) bool { return h[i] < h[j] }
func (h indexes) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push appends a number for package heap.
func (h *indexes) Push(x any) { *h = append(*h, x.(int)) }

// Pop removes the last number for package heap.
func (h *indexes) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// dated reports whether calendars exclude any dates of the layer.
func (l *Layer) dated() bool { return len(l.Skip)+len(l.Only) > 0 }

// counts reports whether the layer's calendars let a date count (R27).
func (l *Layer) counts(date int64) bool {
	off := func(c *Calendar) bool { return c.off(date) }
	return !slices.ContainsFunc(l.Skip, off) && (len(l.Only) == 0 || slices.ContainsFunc(l.Only, off))
}

// calendarDays returns the time of the dates that the layer's calendars let count and that meets [from, to).
func (r *rotation) calendarDays(from, to int64) []stretch {
	var out []stretch
	for date := floor(r.zone.local(from), day) - slack; ; date += day {
		start, end := r.dutyBounds(r.zone, date)
		if start >= to {
			return out
		}
		if end > from && r.counts(date) {
			out = join(out, stretch{start, end})
		}
	}
}
