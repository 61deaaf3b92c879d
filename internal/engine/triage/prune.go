package triage

import (
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// batchPruned is how many rows one transaction takes away at most.
const batchPruned = 2000

// Prune deletes events, with their verdicts, that were decided before a moment. It is called again while more
// reports that there may be others. Both tables have their oldest rows first in the order of their keys, so only the
// first rows of an account are read and no index by time is needed, which every event would have to be entered in.
func Prune(tx *db.Tx, before time.Time) (more bool, err error) {
	accounts, err := configstore.AccountRevisions(tx)
	for i := 0; i < len(accounts) && err == nil; i++ {
		var events, verdicts int64
		if events, err = tx.Exec(`DELETE FROM event WHERE account_id = $1 AND event_id IN (SELECT event_id FROM
			(SELECT event_id, decided_at FROM event WHERE account_id = $1 ORDER BY event_id LIMIT $3 + 0) AS oldest WHERE decided_at > 0 AND decided_at < $2)`, accounts[i].ID, before.UnixNano(), batchPruned); err != nil {
			return false, err
		}
		verdicts, err = tx.Exec(`DELETE FROM verdict WHERE account_id = $1 AND verdict_id IN (SELECT verdict_id FROM
			(SELECT verdict_id, decided_at FROM verdict WHERE account_id = $1 ORDER BY verdict_id LIMIT $3 + 0) AS oldest WHERE decided_at < $2)`, accounts[i].ID, before.UnixMilli(), batchPruned)
		more = more || events == batchPruned || verdicts == batchPruned
	}
	return more, err
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
