package configstore

import "tocsin/internal/platform/db"

// BumpRevision increments the account's revision, in the transaction that changes its configuration.
func BumpRevision(tx *db.Tx, account int64) error {
	_, err := tx.Exec(`UPDATE account SET revision = revision + 1 WHERE account_id = $1`, account)
	return err
}

// Continue sets the revision of an account that replaces another one of the same id to a later one, so that no revision
// means two configurations.
func Continue(tx *db.Tx, account, from int64) error {
	_, err := tx.Exec(`UPDATE account SET revision = revision + $1 + 1 WHERE account_id = $2`, from, account)
	return err
}

// Revision returns the current revision of an account.
func Revision(tx *db.Tx, account int64) (int64, error) {
	n, _, err := db.One(tx, db.Column[int64], `SELECT revision FROM account WHERE account_id = $1`, account)
	return n, err
}
