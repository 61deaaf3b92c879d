package person

import (
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/credential"
	"tocsin/internal/platform/db"
)

// CreateKey creates a key as auth.CreateKey does. A pending person who gets a key is enabled.
func CreateKey(tx *db.Tx, k auth.NewKey, now int64) (keyID int64, secret string, err error) {
	keyID, secret, err = auth.CreateKey(tx, k, now)
	if err != nil {
		return 0, "", err
	}
	return keyID, secret, Enable(tx, k.Account, k.Person)
}

// Enable enables a person who is pending, because they can sign in now. Links to sign in, which others may have, end.
func Enable(tx *db.Tx, account, person int64) error {
	enabled, err := tx.Exec(`UPDATE person SET status = 'enabled' WHERE account_id = $1 AND person_id = $2 AND status = 'pending'`,
		account, person)
	if err != nil || enabled == 0 {
		return err
	}
	if err := credential.EndLinks(tx, account, person); err != nil {
		return err
	}
	return configstore.BumpRevision(tx, account)
}
