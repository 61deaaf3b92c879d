package changeevent

import (
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// Prune deletes changes whose last event is older than a moment, a batch of each account at most.
func Prune(tx *db.Tx, before time.Time) (more bool, err error) {
	const batch = 1000
	accounts, err := configstore.AccountRevisions(tx)
	for i := 0; i < len(accounts) && err == nil; i++ {
		var n int64
		n, err = tx.Exec(`DELETE FROM change WHERE account_id = $1 AND change_id IN
			(SELECT change_id FROM change WHERE account_id = $1 AND start_time < $2 AND last_time < $2
			ORDER BY start_time, change_id LIMIT $3 + 0)`, accounts[i].ID, before.Unix(), batch)
		more = more || n == batch
	}
	return more, err
}
