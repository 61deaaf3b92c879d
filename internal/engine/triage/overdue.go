package triage

import (
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Overdue returns how many events wait for their verdict.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "event", time.Nanosecond,
		`SELECT count(*), coalesce(min(received_at), 0) FROM event_waiting WHERE received_at <= $1`, now.UnixNano())
}
