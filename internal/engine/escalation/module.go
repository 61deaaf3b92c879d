// Package escalation notifies the right people of an incident, one layer of a rule after the other, until a person
// acknowledges it. Work to do is a row with the moment at which it is due. The pure core/escalationplan decides which
// layer comes next.
//
// It must never leave an incident silently without a notification. A layer without a person to notify is skipped,
// waits or falls back. When all layers end and no person was notified, the incident is the
// fallback's (package untold).
package escalation

import (
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
)

// Module returns the package's operations, jobs, subscription to domain events, resealing of secrets and count of overdue
// work.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:    "engine/escalation",
		Ops:     r.Ops(),
		Jobs:    []jobs.Job{r.Job()},
		Handles: r.Handle,
		Reseal:  []func(*db.Tx, secret.Renew) (int, error){Reseal},
		Overdue: Overdue,
	}
}

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
