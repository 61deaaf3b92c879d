package incident

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	incidents "tocsin/internal/incident"
	schedules "tocsin/internal/schedule"
)

var momentPages = []page.Page{{Path: "/at", Template: "moment", Tab: "incidents", Show: showMoment}}

// The bounds of the page of a moment.
const (
	momentEvents    = 100 // events that it lists
	momentIncidents = 10  // incidents whose feeds it reads
	earlierDays     = 7   // an incident that began earlier is left out
	onCallSchedules = 100 // schedules that it lists
)

// momentSpans are the minutes before and after a moment that can be chosen.
var momentSpans = []string{"15", "60", "180"}

// momentView is what happened around a moment, and who was on call then.
type momentView struct {
	page.Titled
	At, From, To int64
	Moment, Span string // of the form
	Spans        []string
	OnCall       []onCallThen
	ShowsOnCall  bool
	Incidents    []incident
	Lines        []momentLine
	Events       int64 // in the window; more than Lines has when there are too many
	Missing      []string
}

// onCallThen is a schedule with who was on call at the moment.
type onCallThen struct {
	ID         int64
	Name, Who  string
	Start, End int64
}

// momentLine is something that happened: an event with its verdict, or an entry of the feed of an incident.
type momentLine struct {
	feedLine
	About, Path string // the alert or incident
	Severity    string // of an event
}

func showMoment(v *page.Visit) (page.View, error) {
	at, err := page.ParseLocal(v.Query("moment"), v.Zone)
	if err != nil || at.Year() < 2002 || at.Year() > 2280 { // the operations take seconds of ten digits
		at = v.Now.Truncate(time.Minute)
	}
	d := momentView{Titled: page.Titled(v.T("What happened at a moment")), Moment: v.Local(at), Span: v.Query("span"), Spans: momentSpans}
	if !slices.Contains(momentSpans, d.Span) {
		d.Span = momentSpans[0]
	}
	d.At = at.Unix()
	d.From, d.To = d.At-page.Number(d.Span)*60, d.At+page.Number(d.Span)*60
	for _, part := range []struct {
		name string
		read func(*page.Visit) error
		may  bool
	}{
		{"Events", d.readEvents, v.Who.May(auth.ChannelsRead)},
		{"Incidents", d.readIncidents, v.Who.May(auth.IncidentsRead)},
		{"On call", d.readOnCall, v.MayReadSchedules()},
	} {
		if part.may && part.read(v) != nil {
			d.Missing = append(d.Missing, v.T(part.name))
		}
	}
	slices.SortStableFunc(d.Lines, func(a, b momentLine) int { return cmp.Compare(a.feedLine.At, b.feedLine.At) })
	return d, nil
}

// readEvents adds the events of the window with what became of each.
func (d *momentView) readEvents(v *page.Visit) error {
	request := alert.EventsRequest{StartTime: d.From, EndTime: d.To + 1, Asc: true}
	request.Limit = momentEvents
	reply, err := page.Call[api.CursorPage[alert.Event]](v, "/alert-event/list", request)
	d.Events = reply.Total
	for _, e := range reply.Items {
		line := momentLine{About: eventRow{e}.Name(), Path: "/alerts/" + e.EventID + "/why?event=1", Severity: e.EventStatus}
		line.feedLine = feedLine{At: e.EventTime, Kind: "event", Text: v.T(cmp.Or(outcomes[e.Outcome], e.Outcome))}
		if e.AlertID != "" {
			line.Path = "/alerts/" + e.AlertID + "/why"
		}
		d.Lines = append(d.Lines, line)
	}
	return err
}

// readIncidents adds the incidents that were open in the window, and what happened to them in it.
func (d *momentView) readIncidents(v *page.Visit) error {
	request := incidents.ListRequest{StartTime: max(1, d.From-earlierDays*86400), EndTime: d.To + 1}
	request.Limit = 100
	list, err := ReadList(v, request)
	if err != nil {
		return err
	}
	for _, i := range list.Items {
		if i.CloseTime == 0 || i.CloseTime >= d.From {
			d.Incidents = append(d.Incidents, i)
		}
	}
	for _, i := range d.Incidents[:min(momentIncidents, len(d.Incidents))] {
		if err := d.readFeedOf(v, i); err != nil {
			return err
		}
	}
	return nil
}

// readFeedOf adds the entries of an incident's feed that are in the window.
func (d *momentView) readFeedOf(v *page.Visit, i incident) error {
	request := incidents.FeedRequest{OneRequest: i.one()}
	request.Asc, request.Limit = true, 100
	reply, err := page.Call[api.CursorPage[alert.Entry]](v, "/incident/feed", request)
	if err != nil {
		return err
	}
	then := slices.DeleteFunc(slices.Clone(reply.Items), func(e alert.Entry) bool {
		return e.CreatedAt/1000 < d.From || e.CreatedAt/1000 > d.To
	})
	entries, err := feedEntries(then)
	if err != nil {
		return err
	}
	lines, err := described(v, entries)
	for _, line := range lines {
		d.Lines = append(d.Lines, momentLine{feedLine: line, About: i.Headline, Path: "/incidents/" + i.IncidentID})
	}
	return err
}

// readOnCall adds who was on call in every schedule that is enabled.
func (d *momentView) readOnCall(v *page.Visit) error {
	until := d.At + 60
	request := schedules.ListRequest{Window: schedules.Window{Start: &d.At, End: &until}}
	var found []schedules.Schedule
	err := page.ByPage[schedules.Page](v, "/schedule/list", request, func(items []schedules.Schedule) bool {
		found = append(found, items...)
		return len(found) < onCallSchedules
	})
	if err != nil {
		return err
	}
	var ids []int64
	for _, s := range found {
		ids = append(ids, personsThen(s, d.At)...)
	}
	slices.Sort(ids)
	people, err := v.People(slices.Compact(ids))
	if err != nil {
		return err
	}
	d.ShowsOnCall = true
	for _, s := range found {
		if page.ValueOf(s.Status) != 0 {
			continue
		}
		one := onCallThen{ID: s.ScheduleID, Name: page.ValueOf(s.ScheduleName), Who: page.Names(people).List(personsThen(s, d.At))}
		if e := entryAt(s, d.At); e != nil {
			one.Start, one.End = e.Start, e.End
		}
		d.OnCall = append(d.OnCall, one)
	}
	slices.SortStableFunc(d.OnCall, func(a, b onCallThen) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// entryAt returns the period of a schedule at a moment; nil: no one was on call.
func entryAt(s schedules.Schedule, at int64) *schedules.Entry {
	entries := page.ValueOf(s.FinalSchedule.Schedules)
	for i, e := range entries {
		if e.Start <= at && at < e.End {
			return &entries[i]
		}
	}
	return nil
}

// personsThen returns the persons who were on call at a moment.
func personsThen(s schedules.Schedule, at int64) (ids []int64) {
	e := entryAt(s, at)
	if e == nil {
		return nil
	}
	for _, m := range e.Group.Members {
		ids = append(ids, m.PersonIDs...)
	}
	return ids
}

// momentPath returns the address of the page of a moment in Unix seconds.
func momentPath(v *page.Visit, at int64) string {
	return "/at?moment=" + time.Unix(at, 0).In(v.Zone).Format(page.LocalTime)
}

// Earlier returns the address of the window before this one.
func (d momentView) Earlier(v *page.Visit) string { return d.shifted(v, -1) }

// Later returns the address of the window after this one.
func (d momentView) Later(v *page.Visit) string { return d.shifted(v, 1) }

// shifted returns the address of a window that begins so many windows later.
func (d momentView) shifted(v *page.Visit, windows int64) string {
	minutes, _ := strconv.ParseInt(d.Span, 10, 64)
	return momentPath(v, d.At+windows*2*minutes*60) + "&span=" + d.Span
}
