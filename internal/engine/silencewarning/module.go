// Package silencewarning warns the author of a one-time silence before it ends, if it still holds alerts back: their pages
// must not come as a surprise. A row holds when a silence is checked. The alerts that it holds back are read at that
// moment, and once more when the warning is sent.
//
// It must never warn twice of one end, nor of an end that is past or releases no alert. It must never send a warning to a
// person who may not read the silence's channel.
package silencewarning

import (
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Module returns the package's jobs and count of overdue work.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:    "engine/silencewarning",
		Jobs:    []jobs.Job{r.Job()},
		Overdue: Overdue,
	}
}

// Overdue returns how many silences are about to end whose authors are to be notified.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "end of a silence", time.Second,
		`SELECT count(*), coalesce(min(due_at), 0) FROM silence_end WHERE due_at > 0 AND due_at <= $1 AND end_at > $1`, now.Unix())
}
