package schedule

import (
	"slices"
	"time"

	"tocsin/internal/platform/db"
)

// OnCall is who is on call in a schedule at a moment.
type OnCall struct {
	Name     string  // the schedule's
	Disabled bool    // nobody is paged from it
	Persons  []int64 // with one of the wanted roles, each once, in the order of the timeline
	Group    string  // the group that is on duty; empty: none
	Until    int64   // end of the present turn, Unix seconds; 0: nobody is on call
	Next     int64   // when somebody with one of the roles is on call next, when nobody is now; 0: not within 400 days
}

// Who tells who is on call in a schedule at a moment (Unix seconds), with one of the roles; no roles: with
// any. It is what /schedule/info shows as cur_oncall. found is false when the account has no such schedule.
func Who(tx *db.Tx, account, schedule int64, roles []int64, at int64, zone *time.Location) (o OnCall, found bool, err error) {
	s, err := find(tx, account, schedule)
	if err != nil || s == nil {
		return o, false, err
	}
	e, err := s.engine(zone)
	if err != nil {
		return o, true, err
	}
	o = OnCall{Name: s.Name, Disabled: s.Status != 0}
	for moment, looks := at, 0; looks < 100; looks++ {
		now, next := e.At(moment)
		if now != nil {
			var persons []int64
			for _, m := range now.Group.Members {
				if len(roles) == 0 || slices.Contains(roles, m.RoleID) {
					persons = append(persons, m.PersonIDs...)
				}
			}
			if len(persons) > 0 && moment == at {
				o.Persons, o.Group, o.Until = unique(persons), now.Group.Name, now.End
				return o, true, nil
			}
			if len(persons) > 0 {
				o.Next = max(now.Start, at+1)
				return o, true, nil
			}
		}
		if next == nil {
			return o, true, nil
		}
		moment = next.Start
	}
	return o, true, nil
}

func unique(persons []int64) (once []int64) {
	for _, p := range persons {
		if !slices.Contains(once, p) {
			once = append(once, p)
		}
	}
	return once
}
