package schedule

import (
	"cmp"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

type byPersonRequest struct {
	PersonIDs []int64 `json:"person_ids" minItems:"1" maxItems:"100" minimum:"1" doc:"The persons, 1 to 100."`
	Start     int64   `json:"start" minimum:"1000000000" maximum:"9999999999" doc:"Start of the window, Unix seconds in ten digits."`
	End       int64   `json:"end" minimum:"1000000000" maximum:"9999999999" doc:"End of the window, Unix seconds in ten digits; after start, at most 45 days after it."`
}

// Check returns fault.Invalid for a window that is empty or too long.
func (in byPersonRequest) Check() error {
	_, err := in.window().parse(maxWindow)
	return err
}

func (in byPersonRequest) window() Window { return Window{&in.Start, &in.End} }

// PersonShift is a time at which a person is on call in a schedule, in any role.
type PersonShift struct {
	PersonID   int64 `json:"person_id" doc:"The person."`
	ScheduleID int64 `json:"schedule_id" doc:"The schedule."`
	Start      int64 `json:"start" doc:"First second, Unix seconds; the window's start if the shift began before it."`
	End        int64 `json:"end" doc:"First second after it, Unix seconds; the window's end if the shift goes on."`
}

// byPerson answers /schedule/by-person from final timelines. A disabled schedule is left out: no person is paged from it.
func (r *Service) byPerson(c *api.Call, in byPersonRequest) (api.Items[PersonShift], error) {
	schedules, err := in.schedules(c)
	if err != nil {
		return api.Items[PersonShift]{}, err
	}
	items := []PersonShift{}
	w, left := window{from: in.Start, to: in.End}, maxNamed
	for _, id := range schedules {
		s, err := find(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return api.Items[PersonShift]{}, err
		}
		if s == nil || s.Status != 0 {
			continue
		}
		e, final, err := s.finals(c, w, &left)
		if err != nil {
			return api.Items[PersonShift]{}, err
		}
		if left < 0 {
			return api.Items[PersonShift]{}, fault.Invalid("end", "the schedules have too many shifts up to %d: ask for a shorter window", in.End)
		}
		shifts := slices.DeleteFunc(e.Shifts(final), func(s oncall.Shift) bool { return !slices.Contains(in.PersonIDs, s.PersonID) })
		items = append(items, personShifts(s.ScheduleID, w, shifts)...)
	}
	slices.SortFunc(items, func(a, b PersonShift) int {
		return cmp.Or(cmp.Compare(a.PersonID, b.PersonID), cmp.Compare(a.Start, b.Start), cmp.Compare(a.ScheduleID, b.ScheduleID))
	})
	return api.Items[PersonShift]{Items: items}, nil
}

// schedules returns the schedules that name the persons in a layer, or as who is on call instead of another in the window.
func (in byPersonRequest) schedules(c *api.Call) (all []int64, err error) {
	for _, person := range distinct(in.PersonIDs) {
		named, err := sources(c, person, configstore.Schedule)
		if err != nil {
			return nil, err
		}
		instead, err := db.All(c.Tx, db.Column[int64], `SELECT DISTINCT schedule_id FROM schedule_override
			WHERE account_id = $1 AND by_person = $2 AND start_at < $3 AND end_at > $4`, c.Who.AccountID, person, in.End, in.Start)
		if err != nil {
			return nil, err
		}
		all = distinct(slices.Concat(all, named, instead))
	}
	if len(all) > maxCounted {
		return nil, fault.Invalid("person_ids", "must be named by at most %d schedules, got %d: ask for fewer persons", maxCounted, len(all))
	}
	return all, nil
}

// personShifts returns shifts of a schedule within a window; shifts of one person that touch or overlap, in whatever role, are one.
func personShifts(schedule int64, w window, shifts []oncall.Shift) (list []PersonShift) {
	slices.SortFunc(shifts, func(a, b oncall.Shift) int {
		return cmp.Or(cmp.Compare(a.PersonID, b.PersonID), cmp.Compare(a.Start, b.Start))
	})
	for _, s := range shifts {
		cut, inside := w.clip(s.Start, s.End)
		if !inside {
			continue
		}
		if n := len(list) - 1; n >= 0 && list[n].PersonID == s.PersonID && cut.start <= list[n].End {
			list[n].End = max(list[n].End, cut.end)
			continue
		}
		list = append(list, PersonShift{s.PersonID, schedule, cut.start, cut.end})
	}
	return list
}
