package schedule

import (
	"time"

	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
	schedules "tocsin/internal/schedule"
)

// scheduleWhyView explains who is on call at a moment.
type scheduleWhyView struct {
	page.Titled
	Explained explained
	Zone      *time.Location // of the texts: the schedule's, unless the address has another
	Also      *time.Location // the reader's; nil: the same
	Moment    string         // for the form, in Zone
}

// explained is an explanation with the colours of who is on call.
type explained struct {
	schedules.Explained
	Who, Next []picture.Mark
}

func showScheduleWhy(v *page.Visit) (page.View, error) {
	id := v.ID()
	s, err := readSchedule(v, id, v.Now.Unix(), v.Now.Unix()+60)
	if err != nil {
		return nil, err
	}
	d := scheduleWhyView{Zone: page.ZoneOr(v.Query("tz"), v.NamedZone(s.TimeZone))}
	if v.Zone.String() != d.Zone.String() {
		d.Also = v.Zone
	}
	request := schedules.ExplainRequest{ScheduleID: id, At: page.Number(v.Query("at"))}
	if at, err := page.ParseLocal(v.Query("moment"), d.Zone); err == nil {
		request.At = at.Unix()
	}
	d.Explained.Explained, err = page.Call[schedules.Explained](v, "/schedule/explain", request)
	if err != nil {
		return nil, err
	}
	d.Titled = page.Titled(v.T("Who is on call, and why") + " · " + d.Explained.ScheduleName)
	d.Moment = time.Unix(d.Explained.At, 0).In(d.Zone).Format(page.LocalTime)
	c := newCast(v)
	c.add(s)
	for _, e := range []*schedules.OncallEntry{d.Explained.Oncall, d.Explained.NextOncall} {
		if e != nil {
			c.AddPersons(personsOf(e.Group)...)
		}
	}
	if err := c.load(); err != nil {
		return nil, err
	}
	if e := d.Explained.Oncall; e != nil {
		d.Explained.Who = c.Marks(personsOf(e.Group))
	}
	if e := d.Explained.NextOncall; e != nil {
		d.Explained.Next = c.Marks(personsOf(e.Group))
	}
	return d, nil
}

// reason returns what a layer does at the moment, as a sentence.
func reason(v *page.Visit, l schedules.LayerExplained, zone *time.Location) string {
	from, until := v.Labelled(time.Unix(l.Start, 0).In(zone)), v.Labelled(time.Unix(l.End, 0).In(zone))
	who := nameList(v, l.Persons)
	switch l.Reason {
	case "on_call":
		if l.StandIn != "" {
			return v.T("On call: %s of %s, standing in for %s, from %s until %s.", who, l.StandIn, nameList(v, l.Absent), from, until)
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
		return v.T("Does not count: %s are absent, and no other group stands in.", nameList(v, l.Absent))
	}
	return v.T("Does not count: it cannot be computed.")
}

// boundary returns why a layer's time begins or ends where it does.
func boundary(v *page.Visit, by string) string {
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

// nameList returns names as a part of a sentence.
func nameList(v *page.Visit, names []string) string {
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

// ruleText returns how the layers make up who is on call.
func ruleText(v *page.Visit, rule string) string {
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

// layerName names a layer that has no name, by its place from 0.
func layerName(v *page.Visit, place int) string { return v.T("layer %d", place+1) }
