package schedule

import (
	"time"

	"tocsin/internal/platform/db"
)

// Gap returns when no one is on call next in a schedule, from a time until an end (Unix seconds); found is false when
// someone is on call all the time, or the schedule is disabled or does not exist.
func Gap(tx *db.Tx, account, schedule, from, until int64, zone *time.Location) (at int64, found bool, err error) {
	s, err := find(tx, account, schedule)
	if err != nil || s == nil || s.Status != 0 {
		return 0, false, err
	}
	e, err := s.engine(zone)
	if err != nil {
		return 0, false, err
	}
	for at, tries := from, 0; at < until && tries < 1000; tries++ {
		now, _ := e.At(at)
		if now == nil || len(now.Group.Members) == 0 {
			return at, true, nil
		}
		at = max(now.End, at+1)
	}
	return 0, false, nil
}

// Enabled lists the schedules of an account that people are notified from.
func Enabled(tx *db.Tx, account int64) ([]int64, error) {
	return db.All(tx, db.Column[int64], `SELECT schedule_id FROM schedule WHERE account_id = $1 AND status = 0 ORDER BY schedule_id`, account)
}
