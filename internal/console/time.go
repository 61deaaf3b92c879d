package console

import (
	"html/template"
	"strings"
	"time"
)

// At returns a moment for people, in the visitor's time zone, with the exact time for programs. at is Unix seconds; 0 is
// shown as a dash.
func (v *visit) At(at int64) template.HTML { return v.AtIn(at, v.Zone) }

// AtIn is At in another time zone.
func (v *visit) AtIn(at int64, zone *time.Location) template.HTML {
	if at == 0 {
		return "–"
	}
	t := time.Unix(at, 0).In(zone)
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + v.labelled(t) + `</time>`)
}

// Minutes returns a number of minutes for people.
func (v *visit) Minutes(n int) string { return v.Span(int64(n) * 60) }

// When returns a moment as text, in the visitor's time zone. at is Unix seconds.
func (v *visit) When(at int64) string { return v.labelled(time.Unix(at, 0).In(v.Zone)) }

// AccountZone names the account's time zone, by which figures count days and silences recur.
func (v *visit) AccountZone() string { return v.who.Zone.String() }

// ZoneOf names a person's or layer's time zone, or the zone that serves where it is unset: another name, or the account's.
func (v *visit) ZoneOf(own, otherwise string) string {
	return zoneOr(own, v.zoneOf(otherwise)).String()
}

// labelled returns a time with its zone: Thu 25 Mar, 02:00 CET. A zone without a name of its own has its offset.
func (v *visit) labelled(t time.Time) string {
	zone := t.Format("MST")
	if strings.HasPrefix(zone, "+") || strings.HasPrefix(zone, "-") {
		zone = "UTC" + zone
	}
	return v.moment(t) + " " + zone
}

// moment returns a time as people write it: Thu 25 Mar, 02:00. The year is there when it is another.
func (v *visit) moment(t time.Time) string {
	sameYear := t.Year() == v.Now.In(t.Location()).Year()
	switch {
	case v.Lang == "zh" && sameYear:
		return t.Format("1月2日 ") + weekdays[t.Weekday()] + t.Format(" 15:04")
	case v.Lang == "zh":
		return t.Format("2006年1月2日 ") + weekdays[t.Weekday()] + t.Format(" 15:04")
	case sameYear:
		return t.Format("Mon 2 Jan, 15:04")
	}
	return t.Format("Mon 2 Jan 2006, 15:04")
}

var weekdays = [...]string{"周日", "周一", "周二", "周三", "周四", "周五", "周六"}

// Since returns how long ago a moment was, for people. at is Unix seconds.
func (v *visit) Since(at int64) string { return v.Span(v.Now.Unix() - at) }

// Until returns how long it is until a moment, for people.
func (v *visit) Until(at int64) string { return v.Span(at - v.Now.Unix()) }

// Span returns a length of time for people, in its two largest units. seconds may be negative, which counts as 0.
func (v *visit) Span(seconds int64) string {
	const minute, hour, day = 60, 3600, 86400
	switch s := max(seconds, 0); {
	case s < minute:
		return v.T("%d s", s)
	case s < hour:
		return v.T("%d min", s/minute)
	case s < day && s%hour < minute:
		return v.T("%d h", s/hour)
	case s < day:
		return v.T("%d h %d min", s/hour, s%hour/minute)
	case s%day < hour:
		return v.T("%d d", s/day)
	default:
		return v.T("%d d %d h", s/day, s%day/hour)
	}
}

// Hours returns a length of time in hours and minutes, however long it is. seconds must not be negative.
func (v *visit) Hours(seconds int64) string {
	hours, minutes := seconds/3600, seconds%3600/60
	switch {
	case minutes == 0:
		return v.T("%d h", hours)
	case hours == 0:
		return v.T("%d min", minutes)
	}
	return v.T("%d h %d min", hours, minutes)
}

// Signed returns a difference in hours and minutes with its sign.
func (v *visit) Signed(seconds int64) string {
	if seconds < 0 {
		return "−" + v.Hours(-seconds)
	}
	return "+" + v.Hours(seconds)
}
