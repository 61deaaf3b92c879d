package rum

import (
	"crypto/sha256"
	"encoding/hex"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Complete fills in what a migration could not: the folded names, and the hashes of client tokens, of
// applications that were written by an older version. It is called when the program starts.
func Complete(tx *db.Tx, keyring *secret.Keyring) error {
	all, err := db.All(tx, scanApplication, `SELECT `+applicationColumns+` FROM rum_application WHERE name_folded = ''`)
	if err != nil {
		return err
	}
	for _, a := range all {
		if err := a.openToken(keyring.Open); err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE rum_application SET name_folded = $1, token_hash = $2 WHERE account_id = $3 AND application_id = $4`,
			db.Fold(a.ApplicationName), tokenHash(a.ClientToken), a.AccountID, a.ApplicationID); err != nil {
			return err
		}
	}
	return nil
}

// tokenHash is how an application is found by what its SDK sends. A client token is random enough to need
// no slow hash.
func tokenHash(token string) string {
	if token == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
