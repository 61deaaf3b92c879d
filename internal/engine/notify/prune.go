package notify

import (
	"time"

	"tocsin/internal/platform/db"
)

// Prune deletes a batch of notifications that were settled before a moment. more reports whether there may be others; the
// caller then calls it again.
func Prune(tx *db.Tx, before time.Time) (more bool, err error) {
	const batch = 2000
	n, err := tx.Exec(`DELETE FROM notice WHERE (account_id, notice_id) IN (
		SELECT account_id, notice_id FROM notice WHERE settled_at > 0 AND settled_at < $1 LIMIT $2 + 0)`, before.UnixMilli(), batch)
	return n == batch, err
}
