package statuspage

import (
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// Prune deletes changes that were over before a moment, a batch of each account at most.
func Prune(tx *db.Tx, before time.Time) (more bool, err error) {
	const batch = 500
	accounts, err := configstore.AccountRevisions(tx)
	for i := 0; i < len(accounts) && err == nil; i++ {
		var n int64
		n, err = tx.Exec(`DELETE FROM status_page_change WHERE account_id = $1 AND change_id IN
			(SELECT change_id FROM status_page_change WHERE account_id = $1 AND closes_at < $2 ORDER BY closes_at, change_id LIMIT $3 + 0)`,
			accounts[i].ID, before.Unix(), batch)
		more = more || n == batch
	}
	return more, err
}
