package channel

import (
	"time"

	"tocsin/internal/platform/db"
)

// Expire deletes the one-off silence rules of an account with is_auto_delete whose window ended at before or earlier.
func Expire(tx *db.Tx, account int64, before time.Time) error {
	rules, err := Silences.All(tx, account)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if r.IsAutoDelete && r.TimeFilter != nil && r.TimeFilter.EndTime <= before.Unix() {
			if err := Silences.Delete(tx, account, r.RuleID); err != nil {
				return err
			}
		}
	}
	return nil
}
