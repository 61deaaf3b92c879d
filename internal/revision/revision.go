// Package revision counts the changes of an account's configuration. Whoever makes something ready from it,
// as deciding does, makes it anew when the count has changed.
//
// It must never be told of what happens to alerts and incidents: that would make everything anew each time.
package revision

import "tocsin/internal/db"

// Bump counts a change, in the transaction that makes it.
func Bump(tx *db.Tx, account int64) error {
	_, err := tx.Exec(`UPDATE account SET revision = revision + 1 WHERE account_id = $1`, account)
	return err
}

// Of is the present count.
func Of(tx *db.Tx, account int64) (int64, error) {
	n, _, err := db.One(tx, db.Column[int64], `SELECT revision FROM account WHERE account_id = $1`, account)
	return n, err
}
