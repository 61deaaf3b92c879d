// Package shiftnotice notifies people of their on-call shifts: before or when a shift begins or ends, and daily at a time
// of day, as their schedule is configured. A row holds when a schedule is checked next; the content is computed from the
// schedule at that moment.
//
// It must never send what is not true any more: a shift that began long ago is skipped, and a waiting notification is
// checked again when it is sent.
package shiftnotice

import (
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Module returns the package's jobs and count of overdue work.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:    "engine/shiftnotice",
		Jobs:    []jobs.Job{r.Job(), r.expiry()},
		Overdue: Overdue,
	}
}

// Overdue returns how many shifts people are to be notified of.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "turn on call", time.Second,
		`SELECT count(*), coalesce(min(due_at), 0) FROM handover WHERE due_at > 0 AND due_at <= $1`, now.Unix())
}
