package oncall

import "time"

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
