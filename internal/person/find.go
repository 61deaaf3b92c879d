package person

import (
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// recordKey is the cache key of a person with all that is stored but their roles.
type recordKey struct{ id int64 }

// Find returns a person, deleted ones too, without their roles; found is false when the account has none of this id.
func Find(tx *db.Tx, account, person int64) (r Record, found bool, err error) {
	return configstore.Kept(tx, account, recordKey{person}, func() (Record, bool, error) { return get(tx, account, person) })
}

// EraseAccount deletes an account with everything in it.
func EraseAccount(tx *db.Tx, account int64) error {
	_, err := tx.Exec(`DELETE FROM account WHERE account_id = $1`, account)
	return err
}
