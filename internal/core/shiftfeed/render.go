package shiftfeed

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode"

	ics "github.com/arran4/golang-ical"
)

// Calendar is a feed to write.
type Calendar struct {
	Name    string
	Zone    *time.Location
	Events  []Event
	History History // which has all of the events
}

// Write returns the calendar as iCalendar text (RFC 5545).
func (c *Calendar) Write() ([]byte, error) {
	cal := ics.NewCalendarFor("")
	cal.SetProductId("-//Tocsin//On-call calendar//EN")
	cal.SetCalscale("GREGORIAN")
	cal.SetMethod(ics.MethodPublish)
	cal.SetXWRCalName(clean(c.Name))
	cal.SetXWRTimezone(c.Zone.String())
	cal.SetXPublishedTTL("PT15M")
	cal.SetRefreshInterval("PT15M")
	local := c.Zone.String() != "UTC"
	if local && len(c.Events) > 0 {
		cal.AddVTimezone(c.timezone())
	}
	for i := range c.Events {
		e := &c.Events[i]
		known := c.History.Of(e)
		at := time.Unix(known.At, 0).UTC().Format(utcForm)
		v := cal.AddEvent(e.UID)
		v.SetProperty(ics.ComponentPropertyDtstamp, at)
		v.SetProperty(ics.ComponentPropertyLastModified, at)
		v.SetProperty(ics.ComponentPropertySequence, strconv.Itoa(known.Sequence))
		start, startParams := c.moment(e.Start, local)
		end, endParams := c.moment(e.End, local)
		v.SetProperty(ics.ComponentPropertyDtStart, start, startParams...)
		v.SetProperty(ics.ComponentPropertyDtEnd, end, endParams...)
		v.SetSummary(clean(e.Summary))
		v.SetDescription(clean(e.Description))
		v.SetProperty(ics.ComponentPropertyTransp, "TRANSPARENT") // who is on call is not busy
	}
	var b bytes.Buffer
	err := cal.SerializeTo(&b, ics.WithNewLineWindows, ics.WithLineLength(75))
	return b.Bytes(), err
}

const (
	utcForm   = "20060102T150405Z"
	localForm = "20060102T150405"
)

// moment returns a moment in the calendar's zone. A wall-clock time that occurs twice is written in UTC, because programs
// do not agree on which of the two it means.
func (c *Calendar) moment(at int64, local bool) (string, []ics.PropertyParameter) {
	if t := time.Unix(at, 0).In(c.Zone); local && !repeats(t) {
		return t.Format(localForm), []ics.PropertyParameter{ics.WithTZID(c.Zone.String())}
	}
	return time.Unix(at, 0).UTC().Format(utcForm), nil
}

// repeats reports whether the wall clock of a moment's zone shows the same time at another moment.
func repeats(t time.Time) bool {
	for _, near := range []time.Duration{-3 * time.Hour, 3 * time.Hour} {
		_, offset := t.Zone()
		_, other := t.Add(near).Zone()
		if other != offset && t.Add(time.Duration(offset-other)*time.Second).Format(localForm) == t.Format(localForm) {
			return true
		}
	}
	return false
}

// timezone returns the clock changes of the calendar's zone in the time of its events, and the offset before them.
func (c *Calendar) timezone() *ics.VTimezone {
	from, until := c.Events[0].Start, c.Events[0].End
	for i := range c.Events {
		from, until = min(from, c.Events[i].Start), max(until, c.Events[i].End)
	}
	v := ics.NewTimezone(c.Zone.String())
	at := time.Unix(from-day, 0).In(c.Zone)
	_, offset := at.Zone()
	observance(v, time.Unix(0, 0).UTC(), offset, at)
	for at.Unix() < until+day {
		_, end := at.ZoneBounds()
		if end.IsZero() {
			break
		}
		if !end.After(at) { // the last day of a leap year where a yearly rule describes the zone
			at = at.Add(24 * time.Hour)
			continue
		}
		_, before := at.Zone()
		at = end.In(c.Zone)
		if _, after := at.Zone(); after != before {
			observance(v, end.UTC().Add(time.Duration(before)*time.Second), before, at)
		}
	}
	return v
}

// observance adds an offset that holds from a wall-clock time on, which the offset before it shows.
func observance(v *ics.VTimezone, wall time.Time, before int, at time.Time) {
	name, after := at.Zone()
	var base *ics.ComponentBase
	if at.IsDST() {
		daylight := &ics.Daylight{}
		v.Components, base = append(v.Components, daylight), &daylight.ComponentBase
	} else {
		standard := &ics.Standard{}
		v.Components, base = append(v.Components, standard), &standard.ComponentBase
	}
	base.SetProperty(ics.ComponentPropertyDtStart, wall.Format(localForm))
	base.SetProperty(ics.ComponentProperty(ics.PropertyTzoffsetfrom), offsetText(before))
	base.SetProperty(ics.ComponentProperty(ics.PropertyTzoffsetto), offsetText(after))
	base.SetProperty(ics.ComponentProperty(ics.PropertyTzname), name)
}

// offsetText returns seconds east of UTC as +HHMM.
func offsetText(seconds int) string {
	return time.Unix(0, 0).In(time.FixedZone("", seconds)).Format("-0700")
}

var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n")

// clean returns a text without control characters other than line breaks, which the library escapes.
func clean(text string) string {
	text = lineBreaks.Replace(text)
	return strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
