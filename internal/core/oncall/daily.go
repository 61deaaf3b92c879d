package oncall

import "time"

// NextDaily returns the first instant after another (Unix seconds) at which a date's time of day has come in a
// zone, in seconds from 00:00. Every date has one such instant (R2): the first where the wall shows the time
// twice, and where it never does the one that the offset before the change gives.
func NextDaily(loc *time.Location, seconds, after int64) int64 {
	z := zone{loc: loc}
	for date := floor(z.local(after), day) - day; ; date += day {
		if t := z.instant(date + seconds); t > after {
			return t
		}
	}
}
