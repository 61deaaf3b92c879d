package rum

import (
	"crypto/sha256"
	"encoding/hex"

	"tocsin/internal/core/rumerror"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Complete sets the columns that a migration in SQL cannot compute: folded names and hashes of client tokens, of
// applications written by an older version, and the text keys of issues. It is called when the program starts.
func Complete(tx *db.Tx, keyring *secret.Keyring) error {
	all, err := db.All(tx, scanApplication, `SELECT `+applicationColumns+` FROM rum_application WHERE name_folded = ''`)
	if err != nil {
		return err
	}
	for _, a := range all {
		if err := a.openToken(keyring.Open); err != nil {
			return err
		}
		if err := tx.Do(`UPDATE rum_application SET name_folded = $1, token_hash = $2 WHERE account_id = $3 AND application_id = $4`,
			db.Fold(a.ApplicationName), tokenHash(a.ClientToken), a.AccountID, a.ApplicationID); err != nil {
			return err
		}
	}
	return completeIssues(tx)
}

// completeIssues sets the text keys of issues without a fingerprint that an older version wrote.
func completeIssues(tx *db.Tx) error {
	type key struct {
		account     int64
		issue, text string
	}
	all, err := db.All(tx, func(scan db.Scan) (k key, err error) {
		var application, service, kind, message string
		err = scan(&k.account, &k.issue, &application, &service, &kind, &message)
		k.text = rumerror.TextKey(application, service, kind, message)
		return k, err
	}, `SELECT account_id, issue_id, application_id, service, error_type, error_message FROM rum_issue WHERE text_key = '-'`)
	if err != nil {
		return err
	}
	for _, k := range all {
		if err := tx.Do(`UPDATE rum_issue SET text_key = $1 WHERE account_id = $2 AND issue_id = $3`, k.text, k.account, k.issue); err != nil {
			return err
		}
	}
	return nil
}

// tokenHash returns the hash by which an application is found from the token that its SDK sends. A client token is
// random (128 bits), so that a slow hash is not needed.
func tokenHash(token string) string {
	if token == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
