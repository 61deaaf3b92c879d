package locale

import (
	"strings"
	"time"
)

// Setting is how texts are written for someone: in which language, by which clock, and seen from which moment.
type Setting struct {
	Lang string // one of Languages
	Zone *time.Location
	Now  time.Time
}

// T returns a text in its language.
func (s Setting) T(text string, args ...any) string { return Text(s.Lang, text, args...) }

// Minutes returns a number of minutes for people.
func (s Setting) Minutes(n int) string { return s.Span(int64(n) * 60) }

// When returns a moment as text, in its time zone. at is Unix seconds.
func (s Setting) When(at int64) string { return s.Labelled(time.Unix(at, 0).In(s.Zone)) }

// Labelled returns a time with its zone: Thu 25 Mar, 02:00 CET.
func (s Setting) Labelled(t time.Time) string { return s.Moment(t) + " " + zoneOf(t) }

// Exact returns a time to the second with its zone: 2027-03-25 02:00:09 CET.
func (s Setting) Exact(t time.Time) string { return t.Format("2006-01-02 15:04:05 ") + zoneOf(t) }

// ZoneName names the time zone as it is now: CET.
func (s Setting) ZoneName() string { return zoneOf(s.Now.In(s.Zone)) }

// zoneOf names the zone of a time. A zone without a name of its own has its offset.
func zoneOf(t time.Time) string {
	zone := t.Format("MST")
	if strings.HasPrefix(zone, "+") || strings.HasPrefix(zone, "-") {
		return "UTC" + zone
	}
	return zone
}

// Moment returns a time as people write it: Thu 25 Mar, 02:00. The year is there when it is another.
func (s Setting) Moment(t time.Time) string {
	sameYear := t.Year() == s.Now.In(t.Location()).Year()
	switch {
	case s.Lang == "zh" && sameYear:
		return t.Format("1月2日 ") + weekdays[t.Weekday()] + t.Format(" 15:04")
	case s.Lang == "zh":
		return t.Format("2006年1月2日 ") + weekdays[t.Weekday()] + t.Format(" 15:04")
	case sameYear:
		return t.Format("Mon 2 Jan, 15:04")
	}
	return t.Format("Mon 2 Jan 2006, 15:04")
}

// Since returns how long ago a moment was, for people. at is Unix seconds.
func (s Setting) Since(at int64) string { return s.Span(s.Now.Unix() - at) }

// Until returns how long it is until a moment, for people.
func (s Setting) Until(at int64) string { return s.Span(at - s.Now.Unix()) }

// Span returns a length of time for people, in its two largest units. seconds may be negative, which counts as 0.
func (s Setting) Span(seconds int64) string {
	const minute, hour, day = 60, 3600, 86400
	switch n := max(seconds, 0); {
	case n < minute:
		return s.T("%d s", n)
	case n < hour:
		return s.T("%d min", n/minute)
	case n < day && n%hour < minute:
		return s.T("%d h", n/hour)
	case n < day:
		return s.T("%d h %d min", n/hour, n%hour/minute)
	case n%day < hour:
		return s.T("%d d", n/day)
	default:
		return s.T("%d d %d h", n/day, n%day/hour)
	}
}

// Hours returns a length of time in hours and minutes, however long it is. seconds must not be negative.
func (s Setting) Hours(seconds int64) string {
	hours, minutes := seconds/3600, seconds%3600/60
	switch {
	case minutes == 0:
		return s.T("%d h", hours)
	case hours == 0:
		return s.T("%d min", minutes)
	}
	return s.T("%d h %d min", hours, minutes)
}

// Signed returns a difference in hours and minutes with its sign.
func (s Setting) Signed(seconds int64) string {
	if seconds < 0 {
		return "−" + s.Hours(-seconds)
	}
	return "+" + s.Hours(seconds)
}

// ShortDate names a day: Thu 25 Mar.
func (s Setting) ShortDate(at time.Time) string {
	sameYear := at.Year() == s.Now.In(at.Location()).Year()
	switch {
	case s.Lang == "zh" && sameYear:
		return at.Format("1月2日 ") + weekdays[at.Weekday()]
	case s.Lang == "zh":
		return at.Format("2006年1月2日 ") + weekdays[at.Weekday()]
	case sameYear:
		return at.Format("Mon 2 Jan")
	}
	return at.Format("Mon 2 Jan 2006")
}

// MonthDay returns a date without its year.
func (s Setting) MonthDay(at time.Time) string {
	if s.Lang == "zh" {
		return at.Format("1月2日")
	}
	return at.Format("2 Jan")
}

// FullDate returns a date with its year.
func (s Setting) FullDate(at time.Time) string {
	if s.Lang == "zh" {
		return at.Format("2006年1月2日")
	}
	return at.Format("2 Jan 2006")
}

var weekdays = [...]string{"周日", "周一", "周二", "周三", "周四", "周五", "周六"}
