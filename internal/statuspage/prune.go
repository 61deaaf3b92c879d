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
	if err != nil {
		return false, err
	}
	for _, account := range accounts {
		n, err := tx.Exec(`DELETE FROM status_page_change WHERE account_id = $1 AND change_id IN
			(SELECT change_id FROM status_page_change WHERE account_id = $1 AND closes_at < $2 ORDER BY closes_at, change_id LIMIT $3 + 0)`,
			account.ID, before.Unix(), batch)
		if err != nil {
			return more, err
		}
		more = more || n == batch
	}
	return more, nil
}
