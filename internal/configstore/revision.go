package configstore

import "tocsin/internal/platform/db"

// BumpRevision counts a change, in the transaction that makes it.
func BumpRevision(tx *db.Tx, account int64) error {
	_, err := tx.Exec(`UPDATE account SET revision = revision + 1 WHERE account_id = $1`, account)
	return err
}

// Continue lets an account that takes the place of another of the same id count on from there, so that no revision
// stands for two configurations.
func Continue(tx *db.Tx, account, from int64) error {
	_, err := tx.Exec(`UPDATE account SET revision = revision + $1 + 1 WHERE account_id = $2`, from, account)
	return err
}

// Revision is the present count.
func Revision(tx *db.Tx, account int64) (int64, error) {
	n, _, err := db.One(tx, db.Column[int64], `SELECT revision FROM account WHERE account_id = $1`, account)
	return n, err
}
