package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/core/oncall"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Now has schedules of an account as one transaction has read them, to compare who is on call in them.
type Now struct {
	schedules []*stored // by id
	zone      *time.Location
}

// ReadNow reads all schedules of an account.
func ReadNow(tx *db.Tx, account int64) (Now, error) {
	ids, err := all(tx, account)
	if err != nil {
		return Now{}, err
	}
	return readNow(tx, account, ids)
}

// readNow reads those of the schedules that exist.
func readNow(tx *db.Tx, account int64, ids []int64) (n Now, err error) {
	n.zone, err = person.Zone(tx, account)
	if err != nil {
		return n, err
	}
	for _, id := range ids {
		s, err := find(tx, account, id)
		if err != nil {
			return n, err
		}
		if s != nil {
			n.schedules = append(n.schedules, s)
		}
	}
	return n, nil
}

// NowChange is a schedule in which other persons are on call, or persons in other roles.
type NowChange struct {
	Schedule fault.Ref
	From, To []oncall.Shift // one for each person and role
}

// Changes compares the schedules with those after a change, at a moment in Unix seconds. A schedule that is created is no change.
func (n Now) Changes(after Now, at int64) (list []NowChange, err error) {
	for _, before := range n.schedules {
		c := NowChange{Schedule: fault.Ref{Kind: configstore.Schedule, ID: fmt.Sprint(before.ScheduleID), Name: before.Name}}
		c.From, err = before.shiftsAt(at, n.zone)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(after.schedules, func(s *stored) bool { return s.ScheduleID == before.ScheduleID })
		if i >= 0 {
			c.To, err = after.schedules[i].shiftsAt(at, after.zone)
			if err != nil {
				return nil, err
			}
		}
		if differ(c.From, c.To) {
			list = append(list, c)
		}
	}
	return list, nil
}

// differ reports whether shifts at one moment have other persons or roles.
func differ(was, will []oncall.Shift) bool {
	gained, lost := oncall.Diff(was, will)
	return len(gained)+len(lost) > 0
}

// shiftsAt returns the shifts at a moment, of one second each. A disabled schedule has none: no person is paged from it.
func (s *stored) shiftsAt(at int64, account *time.Location) ([]oncall.Shift, error) {
	if s.Status != 0 {
		return nil, nil
	}
	e, err := s.engine(account)
	if err != nil {
		return nil, err
	}
	return e.Shifts(e.Window(at, at+1).Final), nil
}

// dependents returns the ids of schedules that depend on an object: on who is in it, which days it has, or its time zone.
func dependents(tx *db.Tx, account int64, object configstore.Target, now int64) (ids []int64, err error) {
	switch object.Kind {
	case "account":
		return db.All(tx, db.Column[int64], `SELECT schedule_id FROM schedule WHERE account_id = $1 AND time_zone = '' AND status = 0
			ORDER BY schedule_id`, account)
	case configstore.Schedule:
		id, err := strconv.ParseInt(object.ID, 10, 64)
		return []int64{id}, err
	case configstore.Calendar:
		using, err := configstore.Sources(tx, account, configstore.Calendar, object.ID, configstore.Calendar)
		if err != nil {
			return nil, err
		}
		for _, id := range append(using, object.ID) {
			more, err := numbers(configstore.Sources(tx, account, configstore.Calendar, id, configstore.Schedule))
			if err != nil {
				return nil, err
			}
			ids = append(ids, more...)
		}
	case configstore.Person:
		ids, err = numbers(configstore.Sources(tx, account, configstore.Person, object.ID, configstore.Schedule))
		if err != nil {
			return nil, err
		}
		covered, err := db.All(tx, db.Column[int64], `SELECT schedule_id FROM schedule_override
			WHERE account_id = $1 AND $2 IN (CAST(person_id AS TEXT), CAST(by_person AS TEXT)) AND start_at <= $3 AND end_at > $3`,
			account, object.ID, now)
		if err != nil {
			return nil, err
		}
		ids = append(ids, covered...)
	}
	return ids, nil
}
