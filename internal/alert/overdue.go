package alert

import (
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Overdue returns the number of muted alerts that should have been decided again by now.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "muted alert", time.Second, `SELECT count(*), coalesce(min(muted_until), 0) FROM alert
		WHERE end_time = 0 AND muted_until > 0 AND deleted_at = 0 AND muted_until <= $1`, now.Unix())
}
