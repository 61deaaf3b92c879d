package page

import (
	"slices"

	"tocsin/internal/schedule"
)

// OnCall is a schedule with the persons who are on call in it now.
type OnCall struct {
	ScheduleID int64
	Schedule   string
	Persons    []Person
	Until      int64 // Unix seconds
}

// OnCallNow returns the schedules in which persons are on call now; none for a visitor who may not read schedules.
func (v *Visit) OnCallNow() (all []OnCall, err error) {
	if !v.Who.MayAny(ReadSchedules) {
		return nil, nil
	}
	from, until := v.Now.Unix(), v.Now.Unix()+60
	request := schedule.ListRequest{Window: schedule.Window{Start: &from, End: &until}}
	var ids []int64
	err = ByPage[schedule.Page](v, "/schedule/list", request, func(items []schedule.Schedule) bool {
		for _, s := range items {
			if s.CurOncall == nil {
				continue
			}
			one := OnCall{ScheduleID: s.ScheduleID, Schedule: ValueOf(s.Name), Until: s.CurOncall.End}
			for _, m := range s.CurOncall.Group.Members {
				for _, id := range m.PersonIDs {
					one.Persons = append(one.Persons, Person{ID: id})
					ids = append(ids, id)
				}
			}
			all = append(all, one)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	people, err := v.People(slices.Compact(slices.Sorted(slices.Values(ids))))
	for _, s := range all {
		for i := range s.Persons {
			s.Persons[i].Name = Names(people).Of(s.Persons[i].ID)
		}
	}
	return all, err
}
