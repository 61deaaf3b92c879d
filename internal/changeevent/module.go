// Package changeevent stores change events, such as deployments, so that they can be seen beside incidents.
//
// It must never send a notification: a change is not an alert.
package changeevent

import (
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/db"
)

// Module returns the package's operations and retention.
func Module() module.Module {
	return module.Module{
		Name:  "changeevent",
		Ops:   Ops(),
		Prune: []module.Retention{{Period: module.Events, Of: Prune}},
	}
}

// Prune deletes changes of an account whose last event is older than a moment, a batch at most.
func Prune(tx *db.Tx, account int64, before time.Time) (more bool, err error) {
	const batch = 1000
	n, err := tx.Exec(`DELETE FROM change WHERE account_id = $1 AND change_id IN
		(SELECT change_id FROM change WHERE account_id = $1 AND start_time < $2 AND last_time < $2
		ORDER BY start_time, change_id LIMIT $3 + 0)`, account, before.Unix(), batch)
	return n == batch, err
}
