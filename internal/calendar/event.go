package calendar

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// EventUpsertRequest is an event to create or to replace.
type EventUpsertRequest struct {
	CalID       string `json:"cal_id" minLength:"1" maxLength:"63" doc:"The calendar."`
	EventID     string `json:"event_id,omitzero" maxLength:"63" doc:"The event to change; absent: a new one."`
	Summary     string `json:"summary" minLength:"1" maxLength:"39" doc:"1 to 39 characters."`
	Description string `json:"description,omitzero" maxLength:"499" doc:"At most 499 characters."`
	StartAt     string `json:"start_at" maxLength:"10" doc:"First day, YYYY-MM-DD."`
	EndAt       string `json:"end_at" maxLength:"10" doc:"The day after the last, YYYY-MM-DD; 1 to 366 days after the first."`
	IsOff       bool   `json:"is_off" doc:"Days off; else days worked on."`
}

// Check returns a fault if the days are malformed, in the wrong order or too many.
func (in EventUpsertRequest) Check() error { return checkDays("", in.StartAt, in.EndAt) }

// Upserted is the event that was created or replaced.
type Upserted struct {
	CalID   string `json:"cal_id" doc:"The calendar."`
	EventID string `json:"event_id" doc:"The event."`
	Summary string `json:"summary" doc:"What it is called."`
}

func eventUpsert(c *api.Call, in EventUpsertRequest) (Upserted, error) {
	if _, err := Kind.Get(c.Tx, c.Who.AccountID, in.CalID); err != nil {
		return Upserted{}, err
	}
	e := Event{AccountID: c.Who.AccountID, CreatorID: c.Who.PersonID, CalID: in.CalID, EventID: "cale." + id.Short(), CreatedAt: c.Unix()}
	if in.EventID != "" {
		old, err := eventOf(c, in.CalID, in.EventID)
		if err != nil {
			return Upserted{}, err
		}
		e = old
	}
	e.Summary = in.Summary
	e.Description = in.Description
	e.StartAt = in.StartAt
	e.EndAt = in.EndAt
	e.IsOff = in.IsOff
	e.UpdatedAt = c.Unix()
	c.Touched(Kind.Name, e.CalID, "")
	c.Touched(EventKind.Name, e.EventID, e.Summary)
	return Upserted{e.CalID, e.EventID, e.Summary}, EventKind.Put(c.Tx, c.Who.AccountID, &e)
}

// eventOf returns an event of this calendar, or a fault if the calendar has none with the ID.
func eventOf(c *api.Call, calendar, event string) (Event, error) {
	e, err := EventKind.Get(c.Tx, c.Who.AccountID, event)
	if err == nil && e.CalID != calendar {
		err = fault.Missing(EventKind.Name, event)
	}
	return e, err
}

// EventDeleteRequest names an event to delete.
type EventDeleteRequest struct {
	CalID   string `json:"cal_id" minLength:"1" maxLength:"63" doc:"The calendar."`
	EventID string `json:"event_id" minLength:"1" maxLength:"63" doc:"The event to delete."`
	api.DryRun
}

func eventDelete(c *api.Call, in EventDeleteRequest) (api.Removal, error) {
	e, err := eventOf(c, in.CalID, in.EventID)
	if err != nil {
		return api.Removal{}, err
	}
	c.Touched(Kind.Name, e.CalID, "")
	c.Removed(EventKind.Name, e.EventID, e.Summary)
	return api.Removal{}, EventKind.Delete(c.Tx, c.Who.AccountID, e.EventID)
}

// EventListRequest asks for the events of a calendar.
type EventListRequest struct {
	CalID string `json:"cal_id" minLength:"1" maxLength:"63" doc:"The calendar."`
	Year  int    `json:"year,omitzero" minimum:"1970" maximum:"9998" doc:"Absent: the present year."`
	Month int    `json:"month,omitzero" minimum:"0" maximum:"12" doc:"1 to 12; absent or 0: the whole year."`
	Day   int    `json:"day,omitzero" minimum:"0" maximum:"31" doc:"1 to 31, with a month; absent or 0: the whole month."`
}

// Check returns a fault for a day without a month.
func (in EventListRequest) Check() error {
	if in.Day > 0 && in.Month == 0 {
		return fault.Invalid("month", "must be given with day %d", in.Day)
	}
	return nil
}

func eventList(c *api.Call, in EventListRequest) (Listed[Event], error) {
	cal, err := Kind.Get(c.Tx, c.Who.AccountID, in.CalID)
	if err != nil {
		return Listed[Event]{}, err
	}
	first, after := in.days(cal, c.Now)
	all, err := EventKind.Of(c.Tx, c.Who.AccountID, cal.CalID)
	all = slices.DeleteFunc(all, func(e Event) bool { return e.EndAt <= first || e.StartAt >= after })
	slices.SortFunc(all, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.StartAt, b.StartAt), cmp.Compare(a.EventID, b.EventID))
	})
	return Listed[Event]{all, int64(len(all))}, err
}

// days returns the first day of the request and the day after the last, as texts that sort like days.
func (in EventListRequest) days(cal Calendar, now time.Time) (first, after string) {
	year := in.Year
	if year == 0 {
		year = now.Year()
		if zone, err := time.LoadLocation(cal.TimeZone); err == nil {
			year = now.In(zone).Year()
		}
	}
	switch {
	case in.Day > 0:
		first = fmt.Sprintf("%04d-%02d-%02d", year, in.Month, in.Day)
		return first, first + "~" // every text that begins with the day comes before this one
	case in.Month > 0:
		first = fmt.Sprintf("%04d-%02d-01", year, in.Month)
		return first, first[:8] + "~"
	}
	return fmt.Sprintf("%04d-01-01", year), fmt.Sprintf("%04d-01-01", year+1)
}
