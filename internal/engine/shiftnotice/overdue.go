package shiftnotice

import (
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Overdue returns how many shifts people are to be notified of.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "turn on call", time.Second,
		`SELECT count(*), coalesce(min(due_at), 0) FROM handover WHERE due_at > 0 AND due_at <= $1`, now.Unix())
}
