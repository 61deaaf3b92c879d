package schedule

import (
	"time"

	"tocsin/internal/core/lint"
	"tocsin/internal/platform/db"
)

// NextGap returns when no one is on call next in a schedule, between two times (Unix seconds); found is false when someone
// is on call all the time, or the schedule is disabled or does not exist.
func NextGap(tx *db.Tx, account, schedule, from, until int64, zone *time.Location) (gap lint.Span, found bool, err error) {
	s, err := find(tx, account, schedule)
	if err != nil || s == nil || s.Status != 0 {
		return gap, false, err
	}
	e, err := s.engine(zone)
	if err != nil {
		return gap, false, err
	}
	gaps := lint.Holes(e, nil, from, until)
	if len(gaps) == 0 {
		return gap, false, nil
	}
	return gaps[0], true, nil
}

// Enabled lists the schedules of an account that people are notified from.
func Enabled(tx *db.Tx, account int64) ([]int64, error) {
	return db.All(tx, db.Column[int64], `SELECT schedule_id FROM schedule WHERE account_id = $1 AND status = 0 ORDER BY schedule_id`, account)
}
