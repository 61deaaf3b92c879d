package escalation

import (
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Overdue returns how many escalations have a step to take, those that fail among them.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "escalation", time.Second,
		`SELECT count(*), coalesce(min(CASE WHEN ended = 'failing' THEN started_at ELSE next_at END), 0) FROM escalation
		WHERE next_at > 0 AND (next_at <= $1 OR ended = 'failing')`, now.Unix())
}
