package schedule

import (
	"slices"
	"time"

	"tocsin/internal/platform/db"
)

// OnCall is who is on call in a schedule at one time.
type OnCall struct {
	Name     string  // the schedule's
	Disabled bool    // no person is paged from it
	Persons  []int64 // with one of the wanted roles, each once, in the order of the timeline
	Group    string  // the group that is on duty; empty: none
	Until    int64   // end of the current shift, Unix seconds; 0: no one is on call
	Next     int64   // when a person with one of the roles is on call next, if none is now, Unix seconds; 0: not within 400 days
}

// Who returns who is on call in a schedule at a time (Unix seconds) with one of the roles; no roles: with any role. It
// agrees with cur_oncall of /schedule/info. found is false when the account has no such schedule. It searches at most 100
// periods of the timeline for the next person.
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
	for moment, tries := at, 0; tries < 100; tries++ {
		now, next := e.At(moment)
		if now != nil {
			var persons []int64
			for _, m := range now.Group.Members {
				if len(roles) == 0 || slices.Contains(roles, m.RoleID) {
					persons = append(persons, m.PersonIDs...)
				}
			}
			if len(persons) > 0 && moment == at {
				o.Persons = distinct(persons)
				o.Group = now.Group.Name
				o.Until = now.End
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
