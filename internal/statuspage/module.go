// Package statuspage stores status pages: their components, and the incidents and maintenances that they show.
//
// It must never send a notification, nor show anything to callers without a key: it holds the records alone. Texts are
// Markdown as it was sent, so that whatever shows them must escape them.
package statuspage

import (
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
)

// Module returns the package's operations, retention and sections of an account file.
func Module() module.Module {
	return module.Module{
		Name:     "statuspage",
		Ops:      Ops(),
		Prune:    []module.Retention{{Period: module.Incidents, Prune: Prune}},
		Sections: []string{"status_pages", "status_page_changes"},
	}
}

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
