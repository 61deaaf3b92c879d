package changeevent

import "tocsin/internal/platform/db"

// After returns at most limit changes that began between two moments (Unix seconds, until is exclusive) after one of them,
// in the order of their beginning; before the first, at is from - 1. Those of hidden channels are left out.
func After(tx *db.Tx, account, from, until int64, channels, hidden []int64, at int64, id string, limit int64) ([]Change, error) {
	return db.All(tx, scan, `SELECT body FROM change WHERE account_id = $1 AND start_time >= $2 AND start_time < $3
		AND ($4 = '' OR $4 LIKE '%,' || channel_id || ',%') AND NOT ($5 LIKE '%,' || channel_id || ',%')
		AND (start_time > $6 OR start_time = $6 AND change_id > $7)
		ORDER BY start_time, change_id LIMIT $8 + 0`,
		account, max(from, at), until, db.List(channels), db.List(hidden), at, id, limit)
}
