package insight

import (
	"fmt"
	"time"
)

// Units of buckets.
const (
	Day   = "day"
	Week  = "week" // from Monday
	Month = "month"
)

// Hours of the day, by the clock of a time zone.
const (
	Work  = "work"  // Monday to Friday, 09:00 to 18:00
	Sleep = "sleep" // 22:00 to 06:00, every day
	Off   = "off"   // all others
)

// HoursOf returns which hours a moment belongs to: Work, Sleep or Off.
func HoursOf(at int64, zone *time.Location) string {
	t := time.Unix(at, 0).In(zone)
	hour, day := t.Hour(), t.Weekday()
	switch {
	case hour >= 22 || hour < 6:
		return Sleep
	case hour >= 9 && hour < 18 && day != time.Saturday && day != time.Sunday:
		return Work
	}
	return Off
}

// Asleep reports whether a moment is in the hours of Sleep.
func Asleep(at int64, zone *time.Location) bool { return HoursOf(at, zone) == Sleep }

// Weekend reports whether a moment is on a Saturday or Sunday.
func Weekend(at int64, zone *time.Location) bool {
	day := time.Unix(at, 0).In(zone).Weekday()
	return day == time.Saturday || day == time.Sunday
}

// Buckets divide a window into days, weeks or months of a time zone.
type Buckets struct {
	Unit string // empty: the window is not divided
	Zone *time.Location
}

// Start returns when the bucket of a moment begins, Unix seconds; 0 without a unit. It may be before the window.
func (b Buckets) Start(at int64) int64 {
	t := time.Unix(at, 0).In(b.Zone)
	year, month, day := t.Date()
	switch b.Unit {
	case Day:
	case Week:
		day -= (int(t.Weekday()) + 6) % 7
	case Month:
		day = 1
	default:
		return 0
	}
	return midnight(year, month, day, b.Zone)
}

// All returns the starts of all buckets of a window, in order; a single 0 without a unit.
func (b Buckets) All(from, until int64) []int64 {
	all := []int64{b.Start(from)}
	if b.Unit == "" {
		return all
	}
	for at := b.next(all[0]); at < until; at = b.next(at) {
		all = append(all, at)
	}
	return all
}

// next returns when the bucket after the one that begins at start begins.
func (b Buckets) next(start int64) int64 {
	year, month, day := time.Unix(start, 0).In(b.Zone).Date()
	switch b.Unit {
	case Day:
		day++
	case Week:
		day += 7
	case Month:
		month++
	default:
		panic(fmt.Sprintf("no unit %q", b.Unit))
	}
	return midnight(year, month, day, b.Zone)
}

// midnight returns the first moment of a date. When the clock is put forward over midnight, that is the moment of the
// change; when the clock is put back over midnight, 00:00 comes twice and it is the earlier one.
func midnight(year int, month time.Month, day int, zone *time.Location) int64 {
	year, month, day = time.Date(year, month, day, 12, 0, 0, 0, time.UTC).Date() // such as 31 June: 1 July
	on := func(t time.Time) bool {
		y, m, d := t.Date()
		return y == year && m == month && d == day
	}
	t := time.Date(year, month, day, 0, 0, 0, 0, zone)
	begin, end := t.ZoneBounds()
	switch {
	case !on(t): // 00:00 does not exist, and t is before it
		return end.Unix()
	case t.Hour() != 0 || t.Minute() != 0: // likewise, and t is after it
		return begin.Unix()
	case begin.IsZero() || !on(begin.Add(-time.Second)):
		return t.Unix()
	}
	_, before := begin.Add(-time.Second).Zone() // the date began before the clock was put back
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() - int64(before)
}
