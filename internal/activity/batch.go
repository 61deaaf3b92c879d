package activity

import (
	"slices"

	"tocsin/internal/platform/db"
)

// batch holds the numbers of the last entries of many feeds.
type batch map[ref]int64

// ref is an alert or incident of an account.
type ref struct {
	account int64
	id      string
}

// batchKey is the key of the batch among the values of its transaction.
type batchKey struct{}

// Begin reads the last entries of the feeds of some alerts and incidents at once, for what the transaction publishes; those
// of others are read one by one.
func Begin(tx *db.Tx, account int64, ids []string) error {
	b := batch{}
	if len(ids) == 0 {
		tx.SetValue(batchKey{}, b)
		return nil
	}
	_, err := db.All(tx, func(scan db.Scan) (n int64, err error) {
		id := ""
		err = scan(&id, &n)
		b[ref{account, id}] = n
		return n, err
	}, `SELECT one.value, coalesce((SELECT max(feed_id) FROM feed
			WHERE account_id = $1 AND ref_id = one.value AND ref_id >= $3 AND ref_id <= $4), 0)
		FROM json_each($2) AS one`, account, db.JSON(ids), slices.Min(ids), slices.Max(ids)) // so that PostgreSQL looks into their parts alone
	tx.SetValue(batchKey{}, b)
	return err
}

// next returns the number of the next entry; known is false when it must be read. Without a batch new objects are known.
func (b batch) next(item Item) (n int64, known bool) {
	n, known = b[ref{item.Account, item.ID}]
	return n + 1, known || item.First
}
