package channel

import (
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// Expire deletes the one-off silence rules with is_auto_delete whose window ended at before or earlier.
func Expire(tx *db.Tx, before time.Time) error {
	accounts, err := configstore.AccountRevisions(tx)
	if err != nil {
		return err
	}
	for _, account := range accounts {
		rules, err := Silences.All(tx, account.ID)
		if err != nil {
			return err
		}
		for _, r := range rules {
			if r.IsAutoDelete && r.TimeFilter != nil && r.TimeFilter.EndTime <= before.Unix() {
				if err := Silences.Delete(tx, account.ID, r.RuleID); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
