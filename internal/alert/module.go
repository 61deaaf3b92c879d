// Package alert stores the alerts that incoming events are merged into.
//
// It must never show an alert of a private channel to a caller outside the channel's teams.
package alert

import (
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
)

// Module returns the package's operations, completion of older databases, count of overdue work and sections of an
// account file.
func Module() module.Module {
	return module.Module{
		Name:     "alert",
		Ops:      Ops(),
		Overdue:  Overdue,
		Complete: func(tx *db.Tx, _ *secret.Keyring) error { return Complete(tx) },
		Sections: []string{"alert_pipelines", "alerts"},
	}
}

// Overdue returns the number of muted alerts that should have been decided again by now.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "muted alert", time.Second, `SELECT count(*), coalesce(min(muted_until), 0) FROM alert
		WHERE end_time = 0 AND muted_until > 0 AND deleted_at = 0 AND muted_until <= $1`, now.Unix())
}
