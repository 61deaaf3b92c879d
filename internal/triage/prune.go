package triage

import (
	"time"

	"tocsin/internal/db"
)

// batchPruned is how many rows one transaction takes away at most.
const batchPruned = 2000

// Prune takes away events, with their verdicts, that were decided before a moment. It is called again while
// there are more.
func Prune(tx *db.Tx, before time.Time) (more bool, err error) {
	n, err := tx.Exec(`DELETE FROM event WHERE (account_id, event_id) IN (SELECT account_id, event_id FROM event WHERE decided_at > 0 AND decided_at < $1 LIMIT $2 + 0)`, before.UnixNano(), batchPruned)
	if err != nil {
		return false, err
	}
	m, err := tx.Exec(`DELETE FROM verdict WHERE (account_id, verdict_id) IN (SELECT account_id, verdict_id FROM verdict WHERE decided_at < $1 LIMIT $2 + 0)`, before.UnixMilli(), batchPruned)
	return n == batchPruned || m == batchPruned, err
}

// PruneDropped is Prune of those that became no part of an alert: they are many, and asked about soon or
// never. An event stays while there is another verdict about it.
func PruneDropped(tx *db.Tx, before time.Time) (more bool, err error) {
	type row struct {
		account, verdict int64
		event            string
	}
	rows, err := db.All(tx, func(scan db.Scan) (r row, err error) { return r, scan(&r.account, &r.verdict, &r.event) }, `SELECT account_id, verdict_id, event_id FROM verdict
		WHERE decided_at < $1 AND outcome IN ('dropped', 'discarded', 'unrouted', 'unmatched', 'repeated') LIMIT $2 + 0`, before.UnixMilli(), batchPruned)
	for i := 0; i < len(rows) && err == nil; i++ {
		r := rows[i]
		if _, err = tx.Exec(`DELETE FROM verdict WHERE account_id = $1 AND verdict_id = $2`, r.account, r.verdict); err == nil {
			_, err = tx.Exec(`DELETE FROM event WHERE account_id = $1 AND event_id = $2 AND decided_at > 0
				AND NOT EXISTS (SELECT 1 FROM verdict v WHERE v.account_id = event.account_id AND v.event_id = event.event_id)`, r.account, r.event)
		}
	}
	return len(rows) == batchPruned, err
}
