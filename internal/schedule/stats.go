package schedule

import (
	"errors"
	"fmt"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/calendar"
	"tocsin/internal/core/fairness"
	"tocsin/internal/core/oncall"
	"tocsin/internal/person"
	"tocsin/internal/platform/fault"
	"tocsin/internal/team"
)

// Bounds of /schedule/stats.
const (
	maxStatsWindow = 366 * 86400 // seconds
	maxCounted     = 200         // schedules
)

// StatsRequest asks how long persons are on call in a window.
type StatsRequest struct {
	ScheduleIDs []int64 `json:"schedule_ids,omitzero" maxItems:"200" doc:"The schedules to count."`
	TeamIDs     []int64 `json:"team_ids,omitzero" maxItems:"100" doc:"All schedules of these teams. Schedules and teams together name 1 to 200 schedules."`
	Start       int64   `json:"start" minimum:"1000000000" maximum:"9999999999" doc:"Start of the window, Unix seconds in ten digits."`
	End         int64   `json:"end" minimum:"1000000000" maximum:"9999999999" doc:"End of the window, Unix seconds in ten digits; after start, at most 366 days after it."`
	RoleIDs     []int64 `json:"role_ids,omitzero" maxItems:"100" doc:"Only shifts in these on-call roles: 0 primary, 1 backup, or the account's own; absent or empty: all."`
	NightStart  string  `json:"night_start,omitzero" maxLength:"5" doc:"When the night begins on the person's clock, HH:MM; absent: 22:00."`
	NightEnd    string  `json:"night_end,omitzero" maxLength:"5" doc:"When it ends, HH:MM; absent: 06:00. A time that is not after night_start is on the next day."`
	CalID       string  `json:"cal_id,omitzero" maxLength:"63" doc:"A calendar whose days off are holidays: its events that are off, and its days of the week that are not worked on; absent: no holidays."`
}

// Stats is the reply of /schedule/stats.
type Stats struct {
	Items       []PersonStats `json:"items" doc:"Each person whom the schedules name, by person_id; also those who are never on call in the window."`
	Total       int64         `json:"total" doc:"How many there are."`
	Schedules   int64         `json:"schedules" doc:"How many schedules were counted."`
	MeanSeconds int64         `json:"mean_seconds" doc:"The fair share: the mean of seconds, rounded down."`
}

// PersonStats is what one person has in the window. A time counts once, in however many schedules and roles the person is
// on call then.
type PersonStats struct {
	PersonID          int64  `json:"person_id" doc:"The person."`
	PersonName        string `json:"person_name" doc:"Their name; empty when the person does not exist."`
	TimeZone          string `json:"time_zone" doc:"IANA zone in which nights and weekends are counted: the person's, or the account's."`
	Seconds           int64  `json:"seconds" doc:"How long the person is on call."`
	NightSeconds      int64  `json:"night_seconds" doc:"How much of it is at night."`
	WeekendSeconds    int64  `json:"weekend_seconds" doc:"How much of it is on Saturdays and Sundays."`
	HolidaySeconds    int64  `json:"holiday_seconds" doc:"How much of it is on days off of the calendar; 0 without one."`
	Shifts            int64  `json:"shifts" doc:"How many shifts: stretches in one role because of one group of one layer."`
	LongestSeconds    int64  `json:"longest_seconds" doc:"The longest time without a break."`
	DifferenceSeconds int64  `json:"difference_seconds" doc:"seconds less mean_seconds: above 0 the person has more than a fair share."`
}

// Check returns fault.Invalid for a window that is too long, and for times of day that are none.
func (in StatsRequest) Check() error {
	if _, err := (Window{&in.Start, &in.End}).parse(maxStatsWindow); err != nil {
		return err
	}
	_, err := in.night()
	return err
}

// night returns the night in seconds of the day.
func (in StatsRequest) night() (night fairness.Span, err error) {
	for _, f := range []struct {
		field, value, otherwise string
		to                      *int64
	}{{"night_start", in.NightStart, "22:00", &night.From}, {"night_end", in.NightEnd, "06:00", &night.Until}} {
		if f.value == "" {
			f.value = f.otherwise
		}
		at, err := time.Parse("15:04", f.value)
		if err != nil || len(f.value) != 5 {
			return night, fault.Invalid(f.field, "must be a time of day as HH:MM, got %q", f.value)
		}
		*f.to = int64(at.Hour()*3600 + at.Minute()*60)
	}
	return night, nil
}

// stats answers /schedule/stats.
func (r *Service) stats(c *api.Call, in StatsRequest) (reply Stats, err error) {
	q := fairness.Question{Roles: in.RoleIDs, From: in.Start, Until: in.End}
	q.Night, err = in.night()
	if err != nil {
		return reply, err
	}
	q.Schedules, err = in.timelines(c)
	if err != nil {
		return reply, err
	}
	q.Holidays, err = in.holidays(c)
	if err != nil {
		return reply, err
	}
	persons := map[int64]PersonStats{}
	var failed error
	q.Zone = func(id int64) *time.Location {
		who, zone, err := statsOf(c, id)
		persons[id] = who
		failed = errors.Join(failed, err)
		return zone
	}
	counts, err := fairness.Persons(q)
	switch {
	case errors.Is(err, fairness.ErrTooMany):
		return reply, fault.Invalid("end", "the schedules have too many shifts up to %d: ask for a shorter window or fewer schedules", in.End)
	case err != nil || failed != nil:
		return reply, errors.Join(err, failed)
	}
	reply = Stats{Items: make([]PersonStats, 0, len(counts)), Total: int64(len(counts)), Schedules: int64(len(q.Schedules))}
	for _, n := range counts {
		reply.MeanSeconds += n.Seconds
	}
	reply.MeanSeconds /= max(1, int64(len(counts)))
	for _, n := range counts {
		p := persons[n.PersonID]
		p.Seconds = n.Seconds
		p.NightSeconds = n.Night
		p.WeekendSeconds = n.Weekend
		p.HolidaySeconds = n.Holiday
		p.Shifts = n.Shifts
		p.LongestSeconds = n.Longest
		p.DifferenceSeconds = n.Seconds - reply.MeanSeconds
		reply.Items = append(reply.Items, p)
	}
	return reply, nil
}

// statsOf returns a person without figures, and their zone.
func statsOf(c *api.Call, id int64) (PersonStats, *time.Location, error) {
	p, _, err := person.Find(c.Tx, c.Who.AccountID, id)
	where := c.Who.Zone
	if own, err := zone("time_zone", p.TimeZone); err == nil {
		where = own
	}
	return PersonStats{PersonID: id, PersonName: p.PersonName, TimeZone: where.String()}, where, err
}

// timelines returns the schedules that the request names, each once.
func (in StatsRequest) timelines(c *api.Call) (list []*oncall.Schedule, err error) {
	ids := in.ScheduleIDs
	for i, id := range in.TeamIDs {
		if err := team.Table.Need(c.Tx, c.Who.AccountID, fmt.Sprintf("team_ids[%d]", i), id); err != nil {
			return nil, err
		}
		more, err := OfTeam(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return nil, err
		}
		ids = append(ids, more...)
	}
	if len(in.ScheduleIDs)+len(in.TeamIDs) == 0 {
		return nil, fault.Invalid("schedule_ids", "is required, or team_ids")
	}
	ids = distinct(ids)
	if len(ids) > maxCounted {
		return nil, fault.Invalid("team_ids", "the teams and schedule_ids have %d schedules, at most %d can be counted", len(ids), maxCounted)
	}
	for _, id := range ids {
		s, err := get(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return nil, err
		}
		e, err := s.engine(c.Who.Zone)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// holidays returns the days off of the request's calendar in its window.
func (in StatsRequest) holidays(c *api.Call) (list []fairness.Span, err error) {
	if in.CalID == "" {
		return nil, nil
	}
	calendars, err := calendar.Load(c.Tx, c.Who.AccountID, []string{in.CalID})
	if err != nil {
		return nil, err
	}
	days := calendars[in.CalID]
	if days == nil {
		return nil, fault.Missing("calendar", in.CalID)
	}
	for at := oncall.NextDaily(days.Zone(), 0, in.Start-2*86400); at < in.End; {
		next := oncall.NextDaily(days.Zone(), 0, at)
		if off, _ := days.Off(time.Unix(at, 0)); off {
			list = append(list, fairness.Span{From: at, Until: next})
		}
		at = next
	}
	return list, nil
}
