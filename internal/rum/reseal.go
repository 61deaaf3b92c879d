package rum

import (
	"tocsin/internal/db"
	"tocsin/internal/fault"
	"tocsin/internal/seal"
)

// Reseal seals the client tokens of all accounts' applications anew, under the newest key, and counts
// them. A token that no key opens is an error, so that its key is not dropped.
func Reseal(tx *db.Tx, box *seal.Box) (secrets int, err error) {
	all, err := db.All(tx, scanApplication, `SELECT `+applicationColumns+` FROM rum_application WHERE client_token <> ''`)
	if err != nil {
		return 0, err
	}
	for _, a := range all {
		if err := a.openToken(box); err != nil {
			return 0, fault.Wrap(err, "seal the client token of application %s anew", a.ApplicationID)
		}
		sealed, err := box.Seal(a.ClientToken, tokenContext(a.AccountID, a.ApplicationID))
		if err != nil {
			return 0, err
		}
		if _, err := tx.Exec(`UPDATE rum_application SET client_token = $1 WHERE account_id = $2 AND application_id = $3`, sealed, a.AccountID, a.ApplicationID); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}
