package console

import (
	"time"

	schedules "tocsin/internal/schedule"
)

// scheduleWhyView explains who is on call at a moment.
type scheduleWhyView struct {
	titled
	Explained explained
	Zone      *time.Location // of the texts: the schedule's, unless the address has another
	Also      *time.Location // the reader's; nil: the same
	Moment    string         // for the form, in Zone
}

// explained is an explanation with the colours of who is on call.
type explained struct {
	schedules.Explained
	Who, Next []mark
}

func showScheduleWhy(v *visit) (view, error) {
	id := number(v.r.PathValue("id"))
	s, err := v.schedule(id, v.Now.Unix(), v.Now.Unix()+60)
	if err != nil {
		return nil, err
	}
	d := scheduleWhyView{Zone: zoneOr(v.query("tz"), v.zoneOf(s.TimeZone))}
	if v.Zone.String() != d.Zone.String() {
		d.Also = v.Zone
	}
	request := schedules.ExplainRequest{ScheduleID: id, At: number(v.query("at"))}
	if at, err := time.ParseInLocation("2006-01-02T15:04", v.query("moment"), d.Zone); err == nil {
		request.At = at.Unix()
	}
	d.Explained.Explained, err = call[schedules.Explained](v, "/schedule/explain", request)
	if err != nil {
		return nil, err
	}
	d.titled = titled(v.T("Who is on call, and why") + " · " + d.Explained.ScheduleName)
	d.Moment = time.Unix(d.Explained.At, 0).In(d.Zone).Format("2006-01-02T15:04")
	c := v.newCast()
	c.add(s)
	for _, e := range []*schedules.OncallEntry{d.Explained.Oncall, d.Explained.NextOncall} {
		if e != nil {
			c.addPersons(personsOf(e.Group)...)
		}
	}
	if err := c.load(); err != nil {
		return nil, err
	}
	if e := d.Explained.Oncall; e != nil {
		d.Explained.Who = c.marks(personsOf(e.Group))
	}
	if e := d.Explained.NextOncall; e != nil {
		d.Explained.Next = c.marks(personsOf(e.Group))
	}
	return d, nil
}

// Reason returns what a layer does at the moment, as a sentence.
func (v *visit) Reason(l schedules.LayerExplained, zone *time.Location) string {
	from, until := v.labelled(time.Unix(l.Start, 0).In(zone)), v.labelled(time.Unix(l.End, 0).In(zone))
	who := v.NameList(l.Persons)
	switch l.Reason {
	case "on_call":
		if l.StandIn != "" {
			return v.T("On call: %s of %s, standing in for %s, from %s until %s.", who, l.StandIn, v.NameList(l.Absent), from, until)
		}
		return v.T("On call: %s, turn %d, from %s until %s.", who, l.Turn, from, until)
	case "preempted":
		return v.T("Would be on call: %s. The override %s replaces this layer.", who, l.CoveredBy)
	case "not_started":
		return v.T("Does not count yet: it begins later.")
	case "ended":
		return v.T("Does not count any more: it has ended.")
	case "masked":
		return v.T("Does not count: this is not one of its days of the week.")
	case "not_a_calendar_day":
		return v.T("Does not count: the calendar %s excludes this date.", l.Calendar)
	case "restricted":
		return v.T("Does not count: this is outside of its hours.")
	case "absent":
		return v.T("Does not count: %s are absent, and no other group stands in.", v.NameList(l.Absent))
	}
	return v.T("Does not count: it cannot be computed.")
}

// Boundary returns why a layer's time begins or ends where it does.
func (v *visit) Boundary(by string) string {
	switch by {
	case "layer":
		return v.T("the layer begins or ends")
	case "turn":
		return v.T("the turn changes")
	case "mask":
		return v.T("its days of the week")
	case "calendar":
		return v.T("its calendar")
	case "restriction":
		return v.T("its hours")
	case "absence":
		return v.T("an absence")
	}
	return by
}

// NameList returns names as a part of a sentence.
func (v *visit) NameList(names []string) string {
	switch len(names) {
	case 0:
		return v.T("no person")
	case 1:
		return names[0]
	}
	text := names[0]
	for _, name := range names[1:] {
		text = v.T("%s, %s", text, name)
	}
	return text
}

// RuleText returns how the layers make up who is on call.
func (v *visit) RuleText(rule string) string {
	switch rule {
	case "single":
		return v.T("One layer covers this moment.")
	case "stacked":
		return v.T("Several layers cover this moment. Their groups are on call together.")
	case "override":
		return v.T("An override replaces every other layer at this moment.")
	}
	return v.T("No layer covers this moment.")
}

// LayerName names a layer that has no name, by its place from 0.
func (v *visit) LayerName(place int) string { return v.T("layer %d", place+1) }
