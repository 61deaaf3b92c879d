package triage

import (
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// batchPruned is the most rows that one transaction deletes of an account.
const batchPruned = 2000

// Prune deletes events, with their verdicts, that were decided before a moment. more reports whether there may be
// others; the caller then calls it again. In both tables the order of the keys is the order of time, so Prune reads only
// the first rows of an account. An index by time is not needed, which would cost a write for every event.
func Prune(tx *db.Tx, before time.Time) (more bool, err error) {
	accounts, err := configstore.AccountRevisions(tx)
	if err != nil {
		return false, err
	}
	for _, account := range accounts {
		events, err := tx.Exec(`DELETE FROM event WHERE account_id = $1 AND event_id IN (SELECT event_id FROM
			(SELECT event_id, decided_at FROM event WHERE account_id = $1 ORDER BY event_id LIMIT $3 + 0) AS oldest
			WHERE decided_at > 0 AND decided_at < $2)`, account.ID, before.UnixNano(), batchPruned)
		if err != nil {
			return false, err
		}
		verdicts, err := tx.Exec(`DELETE FROM verdict WHERE account_id = $1 AND verdict_id IN (SELECT verdict_id FROM
			(SELECT verdict_id, decided_at FROM verdict WHERE account_id = $1 ORDER BY verdict_id LIMIT $3 + 0) AS oldest
			WHERE decided_at < $2)`, account.ID, before.UnixMilli(), batchPruned)
		if err != nil {
			return false, err
		}
		more = more || events == batchPruned || verdicts == batchPruned
	}
	return more, nil
}

// PruneDropped is Prune for events that became no part of an alert. They are many, and are of interest for a short time
// only. An event stays while there is another verdict about it.
func PruneDropped(tx *db.Tx, before time.Time) (more bool, err error) {
	type row struct {
		account, verdict int64
		event            string
	}
	scanRow := func(scan db.Scan) (r row, err error) { return r, scan(&r.account, &r.verdict, &r.event) }
	rows, err := db.All(tx, scanRow, `SELECT account_id, verdict_id, event_id FROM verdict
		WHERE decided_at < $1 AND outcome IN ('dropped', 'discarded', 'unrouted', 'unmatched', 'repeated') LIMIT $2 + 0`,
		before.UnixMilli(), batchPruned)
	if err != nil {
		return false, err
	}
	for _, r := range rows {
		if _, err := tx.Exec(`DELETE FROM verdict WHERE account_id = $1 AND verdict_id = $2`, r.account, r.verdict); err != nil {
			return false, err
		}
		if _, err := tx.Exec(`DELETE FROM event WHERE account_id = $1 AND event_id = $2 AND decided_at > 0
			AND NOT EXISTS (SELECT 1 FROM verdict v WHERE v.account_id = event.account_id AND v.event_id = event.event_id)`,
			r.account, r.event); err != nil {
			return false, err
		}
	}
	return len(rows) == batchPruned, nil
}
