package escalation

import (
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Overdue returns how many escalations have a step to take and how many follow-ups a message to send, those that fail
// among them.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "escalation", time.Second,
		`SELECT count(*), coalesce(min(at), 0) FROM (
			SELECT CASE WHEN ended = 'failing' THEN started_at ELSE next_at END AS at FROM escalation
			WHERE next_at > 0 AND (next_at <= $1 OR ended = 'failing')
			UNION ALL
			SELECT CASE WHEN failed_at > 0 THEN failed_at ELSE next_at END FROM follow_up
			WHERE next_at > 0 AND (next_at <= $1 OR failed_at > 0)) AS due`, now.Unix())
}
