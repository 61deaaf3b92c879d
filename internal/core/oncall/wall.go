package oncall

import "time"

// Wall-clock times are carried as seconds since 1970-01-01 00:00 on the wall,
// as if every day had 86400 of them. Dates, weekdays and times of day are then
// plain arithmetic, and only instant and local know about the zone.

const (
	day  int64 = 86400
	week int64 = 7 * day

	// slack is more than any zone is away from UTC, and more than any change
	// of a zone's offset (a whole day where a date was skipped).
	slack = 2 * day

	// lastInstant is 9999-12-31 23:59:59 UTC. Nothing is computed after it, so
	// sums of instants cannot overflow.
	lastInstant int64 = 253402300799

	// forever is after every instant that is ever computed with.
	forever int64 = 1 << 62
)

// span is a stretch of time in which a zone's offset from UTC is constant.
type span struct {
	start, end int64 // Unix seconds
	offset     int64 // seconds east of UTC
}

// zone converts between instants and the wall clock. It remembers the spans it
// has looked up, so that a conversion near an earlier one costs almost nothing.
// It must not be shared between goroutines.
type zone struct {
	loc   *time.Location
	spans []span // sorted, each beginning where the one before ends
}

// local returns the wall-clock time at an instant.
func (z *zone) local(t int64) int64 {
	z.reach(t, t+1)
	for _, s := range z.spans {
		if t < s.end {
			return t + s.offset
		}
	}
	panic("timeline: zone.reach did not reach") // unreachable: the last span ends after t
}

// instant returns the instant at which the wall shows w (R2): the first one if
// it does so twice. If it never does, because the clock was put forward over w,
// the offset before the change is used.
func (z *zone) instant(w int64) int64 {
	z.reach(w-slack, w+slack)
	before := z.spans[0].offset
	for _, s := range z.spans {
		t := w - s.offset
		if t < s.start {
			return w - before
		}
		if t < s.end {
			return t
		}
		before = s.offset
	}
	panic("timeline: zone.reach did not reach") // unreachable: the last span ends after w on the wall
}

// jumps reports whether the clock is put forward while the wall shows a time in
// [from, to], or within two days of it.
func (z *zone) jumps(from, to int64) bool {
	from, to = from-slack, to+slack
	z.reach(from, to)
	for i := 1; i < len(z.spans) && z.spans[i].start <= to; i++ {
		if z.spans[i].start >= from && z.spans[i].offset > z.spans[i-1].offset {
			return true
		}
	}
	return false
}

// reach makes sure that the spans cover [from, to). A range far from the
// earlier ones replaces them, so that years in between are never walked (R23).
func (z *zone) reach(from, to int64) {
	const far = 4 * 366 * day
	if n := len(z.spans); n > 0 {
		start, end := z.spans[0].start, z.spans[n-1].end
		switch {
		case from >= start && to <= end:
			return
		case to < start-far || from > end+far:
			z.spans = z.spans[:0]
		case from < start:
			to = max(to, end)
			z.spans = z.spans[:0]
		default:
			from = end
		}
	}
	for from < to {
		offset, end := offsetAt(z.loc, from)
		if n := len(z.spans); n > 0 && z.spans[n-1].offset == offset {
			z.spans[n-1].end = end
		} else {
			z.spans = append(z.spans, span{from, end, offset})
		}
		from = end
	}
}

// offsetAt returns the zone's offset at t and an instant after t until which it
// does not change.
//
// Only the end of time.Time.ZoneBounds is used. Where a zone is described by a
// yearly rule, its start is the beginning of the year at best, and in the last
// day of a leap year its end is not after t; the offset then holds at least
// until the end of that day.
func offsetAt(loc *time.Location, t int64) (offset, end int64) {
	at := time.Unix(t, 0).In(loc)
	_, seconds := at.Zone()
	_, bound := at.ZoneBounds()
	switch {
	case bound.IsZero():
		end = forever
	case bound.Unix() <= t:
		end = floor(t, day) + day
	default:
		end = bound.Unix()
	}
	return int64(seconds), end
}

// floor returns the largest multiple of unit that is not above n.
func floor(n, unit int64) int64 {
	r := n % unit
	if r < 0 {
		r += unit
	}
	return n - r
}

// monday returns Monday 00:00 of the week of a wall-clock time.
func monday(w int64) int64 {
	return floor(w+3*day, week) - 3*day // 1970-01-01 was a Thursday
}

// weekday returns the day of the week of a wall-clock time.
func weekday(w int64) time.Weekday {
	return time.Weekday((floor(w, day)-monday(w))/day+1) % 7
}

// addMonths moves a wall-clock time by n calendar months. The time of day and,
// where the month has it, the day of the month are kept; in a shorter month the
// result is its last day (R8).
func addMonths(w, n int64) int64 {
	year, month, date := time.Unix(w, 0).UTC().Date()
	first := time.Date(year, month+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.Unix() + int64(min(date, last)-1)*day + w - floor(w, day)
}

// monthsBetween returns how many calendar months the month of w lies after the
// month of anchor.
func monthsBetween(anchor, w int64) int64 {
	y1, m1, _ := time.Unix(anchor, 0).UTC().Date()
	y2, m2, _ := time.Unix(w, 0).UTC().Date()
	return int64(y2-y1)*12 + int64(m2-m1)
}

// NextDaily returns the first instant later than after (Unix seconds) at which the wall clock of a zone shows a
// time of day, in seconds from 00:00. Every date has exactly one such instant (R2). Where the wall clock shows
// the time twice it is the first; where it never does, the offset before the change is used.
func NextDaily(loc *time.Location, seconds, after int64) int64 {
	z := zone{loc: loc}
	for date := floor(z.local(after), day) - day; ; date += day {
		if t := z.instant(date + seconds); t > after {
			return t
		}
	}
}
