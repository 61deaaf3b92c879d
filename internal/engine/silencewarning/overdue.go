package silencewarning

import (
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Overdue returns how many silences are about to end whose authors are to be notified.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "end of a silence", time.Second,
		`SELECT count(*), coalesce(min(due_at), 0) FROM silence_end WHERE due_at > 0 AND due_at <= $1 AND end_at > $1`, now.Unix())
}
