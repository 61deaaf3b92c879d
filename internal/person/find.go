package person

import "tocsin/internal/platform/db"

// Find returns a person, deleted ones too, without their roles; found is false when the account has none of this id.
func Find(tx *db.Tx, account, person int64) (r Record, found bool, err error) {
	return get(tx, account, person)
}

// Present returns the ids of all persons of an account but deleted ones.
func Present(tx *db.Tx, account int64) (map[int64]bool, error) {
	ids, err := db.All(tx, db.Column[int64], `SELECT person_id FROM person WHERE account_id = $1 AND status <> 'deleted'`, account)
	known := make(map[int64]bool, len(ids))
	for _, p := range ids {
		known[p] = true
	}
	return known, err
}

// EraseAccount deletes an account with everything in it.
func EraseAccount(tx *db.Tx, account int64) error {
	_, err := tx.Exec(`DELETE FROM account WHERE account_id = $1`, account)
	return err
}
