package page

import (
	"html/template"
	"strconv"
	"time"
)

// At returns a moment for people, in the visitor's time zone, with the exact time for programs. at is Unix seconds; 0 is
// shown as a dash.
func (v *Visit) At(at int64) template.HTML { return v.AtIn(at, v.Zone) }

// Aged is At of what began then, with its age as long as it goes on. Pages that are live draw it again before it is untrue.
func (v *Visit) Aged(at int64, goesOn bool) template.HTML {
	if !goesOn {
		return v.At(at)
	}
	age := v.Since(at)
	if v.Now.Unix()-at < 60 { // seconds would be untrue at once
		age = v.T("just now")
	}
	return v.At(at) + template.HTML(" · "+template.HTMLEscapeString(age))
}

// AtIn is At in another time zone.
func (v *Visit) AtIn(at int64, zone *time.Location) template.HTML {
	if at == 0 {
		return "–"
	}
	t := time.Unix(at, 0).In(zone)
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `" title="` + v.Exact(t) + `">` + v.Labelled(t) + `</time>`)
}

// AtSecond is At with seconds, for what happens in quick succession.
func (v *Visit) AtSecond(at int64) template.HTML {
	t := time.Unix(at, 0).In(v.Zone)
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + v.Moment(t) + t.Format(":05") + `</time>`)
}

// AccountZone names the account's time zone, by which figures count days and silences recur.
func (v *Visit) AccountZone() string { return v.Who.Zone.String() }

// ZoneOf names a person's or layer's time zone, or the zone that serves where it is unset: another name, or the account's.
func (v *Visit) ZoneOf(own, otherwise string) string {
	return ZoneOr(own, v.NamedZone(otherwise)).String()
}

// ZoneOr returns a zone by its name, or another when there is none of the name.
func ZoneOr(name string, otherwise *time.Location) *time.Location {
	if zone, err := time.LoadLocation(name); err == nil && name != "" && name != "Local" {
		return zone
	}
	return otherwise
}

// NamedZone returns a zone by its name, or the account's.
func (v *Visit) NamedZone(name string) *time.Location { return ZoneOr(name, v.Who.Zone) }

// AtMS is At of a moment in milliseconds.
func (v *Visit) AtMS(at int64) template.HTML { return v.At(at / 1000) }

// Bytes writes a size for people.
func (v *Visit) Bytes(n int64) string {
	if n < 0 {
		return v.T("not known")
	}
	size, unit := float64(n), 0
	for ; size >= 1024 && unit < 4; unit++ {
		size /= 1024
	}
	digits := 1
	if unit == 0 {
		digits = 0
	}
	return strconv.FormatFloat(size, 'f', digits, 64) + " " + []string{"B", "KiB", "MiB", "GiB", "TiB"}[unit]
}

// PartOf names a part of the window, by the clock of the account.
func (v *Visit) PartOf(ts int64, unit string) string {
	at := time.Unix(ts, 0).In(v.Who.Zone)
	switch {
	case unit == "week":
		return v.T("week from %s", v.ShortDate(at))
	case unit == "month" && v.Lang == "zh":
		return at.Format("2006年1月")
	case unit == "month":
		return at.Format("January 2006")
	}
	return v.ShortDate(at)
}
