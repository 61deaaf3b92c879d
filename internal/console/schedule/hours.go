package schedule

import (
	"fmt"
	"time"

	"tocsin/internal/calendar"
	"tocsin/internal/console/page"
	schedules "tocsin/internal/schedule"
)

// hoursView is how long each person of a schedule is on call over a long time.
type hoursView struct {
	page.Titled
	Schedule    schedule
	From, Until string // dates in the schedule's zone
	Zone        string
	Calendar    string
	Calendars   []calendar.Calendar
	Rows        []hoursRow
	Mean        int64
	Windows     []timeChoice
	Current     string // the address of the window
}

func showHours(v *page.Visit) (page.View, error) {
	s, err := readSchedule(v, v.ID(), v.Now.Unix(), v.Now.Unix()+60)
	if err != nil {
		return nil, err
	}
	zone := v.NamedZone(s.TimeZone)
	today := v.Now.In(zone)
	date := func(name string, otherwise time.Time) time.Time {
		if at, err := time.ParseInLocation(time.DateOnly, v.Query(name), zone); err == nil {
			return at
		}
		return time.Date(otherwise.Year(), otherwise.Month(), otherwise.Day(), 0, 0, 0, 0, zone)
	}
	from, until := date("from", today.AddDate(-1, 0, 0)), date("until", today)
	d := hoursView{Titled: page.Titled(v.T("Hours") + " · " + s.Name()), Schedule: s, Zone: zone.String(), Calendar: v.Query("cal")}
	d.From, d.Until = from.Format(time.DateOnly), until.Format(time.DateOnly)
	d.Windows = []timeChoice{
		{v.T("The last year"), hoursLink(s.ScheduleID, today.AddDate(-1, 0, 0), today)},
		{v.T("The last 90 days"), hoursLink(s.ScheduleID, today.AddDate(0, 0, -90), today)},
		{v.T("The next 90 days"), hoursLink(s.ScheduleID, today, today.AddDate(0, 0, 90))},
		{v.T("The next year"), hoursLink(s.ScheduleID, today, today.AddDate(1, 0, 0))},
	}
	d.Current = hoursLink(s.ScheduleID, from, until)
	d.Calendars, err = v.Calendars()
	if err != nil {
		return nil, err
	}
	request := schedules.StatsRequest{ScheduleIDs: []int64{s.ScheduleID}, Start: from.Unix(), End: until.Unix(), CalID: d.Calendar}
	reply, err := page.Call[schedules.Stats](v, "/schedule/stats", request)
	if err != nil {
		return nil, err
	}
	c := newCast(v)
	c.add(s)
	for _, r := range reply.Items {
		c.AddPersons(r.PersonID)
	}
	if err := c.load(); err != nil {
		return nil, err
	}
	d.Rows, d.Mean = c.hoursRows(reply.Items), reply.MeanSeconds
	return d, nil
}

func hoursLink(schedule int64, from, until time.Time) string {
	return fmt.Sprintf("/schedules/%d/hours?from=%s&until=%s", schedule, from.Format(time.DateOnly), until.Format(time.DateOnly))
}
