package calendar

import (
	"fmt"
	"slices"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/db"
)

// Days is a calendar prepared for Off. It is never changed and safe for concurrent use.
type Days struct {
	zone     *time.Location
	workdays [7]bool
	events   []Event // own ones first, then those of the extra calendars, each by start and id
}

// NewDays returns a calendar prepared for Off. The events are its own, then those of its extra calendars.
func NewDays(c Calendar, events []Event) (*Days, error) {
	zone, err := time.LoadLocation(c.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("calendar %s: %w", c.CalID, err)
	}
	d := &Days{zone: zone, events: slices.Clone(events)}
	for _, day := range c.Workdays {
		d.workdays[day%7] = true
	}
	slices.SortStableFunc(d.events, func(a, b Event) int {
		own := func(e Event) int {
			if e.CalID == c.CalID {
				return 0
			}
			return 1
		}
		return own(a) - own(b)
	})
	return d, nil
}

// Dates returns the calendar for on-call layers, which take dates in a zone of their own.
func (d *Days) Dates() (*oncall.Calendar, error) {
	var workdays oncall.Weekdays
	for day, worked := range d.workdays {
		if worked {
			workdays |= 1 << day
		}
	}
	exceptions := make([]oncall.Exception, len(d.events))
	for i, e := range d.events {
		start, err := time.Parse(time.DateOnly, e.StartAt)
		if err != nil {
			return nil, fmt.Errorf("calendar event %s: %w", e.EventID, err)
		}
		end, err := time.Parse(time.DateOnly, e.EndAt)
		if err != nil {
			return nil, fmt.Errorf("calendar event %s: %w", e.EventID, err)
		}
		exceptions[i] = oncall.Exception{Start: start.Unix(), End: end.Unix(), Off: e.IsOff}
	}
	return oncall.NewCalendar(workdays, exceptions), nil
}

// Zone returns the time zone in which the calendar's days begin and end.
func (d *Days) Zone() *time.Location { return d.zone }

// Off reports whether a moment lies in a day off, and why. The first event of the calendar that contains the day
// decides, then one of the extra calendars, then the day of the week.
func (d *Days) Off(at time.Time) (off bool, why string) {
	local := at.In(d.zone)
	day := local.Format(time.DateOnly)
	for _, e := range d.events {
		if e.StartAt <= day && day < e.EndAt {
			return e.IsOff, e.Summary
		}
	}
	return !d.workdays[local.Weekday()], local.Weekday().String()
}

// Load returns the named calendars of an account by ID. A calendar that does not exist is left out.
func Load(tx *db.Tx, account int64, ids []string) (map[string]*Days, error) {
	days := map[string]*Days{}
	for _, id := range ids {
		if id == "" || days[id] != nil {
			continue
		}
		d, found, err := configstore.Kept(tx, account, keptDays{id}, func() (*Days, bool, error) { return load(tx, account, id) })
		if err != nil {
			return nil, err
		}
		if found {
			days[id] = d
		}
	}
	return days, nil
}

// keptDays is under which a calendar that is made ready is kept.
type keptDays struct{ id string }

func load(tx *db.Tx, account int64, id string) (*Days, bool, error) {
	c, found, err := Kind.Find(tx, account, id)
	if err != nil || !found {
		return nil, false, err
	}
	var events []Event
	for _, cal := range append([]string{id}, c.ExtraCalIDs...) {
		more, err := EventKind.Of(tx, account, cal)
		if err != nil {
			return nil, false, err
		}
		events = append(events, more...)
	}
	days, err := NewDays(c, events)
	return days, true, err
}
