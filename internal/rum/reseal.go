package rum

import (
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

// Reseal replaces the client tokens of all accounts' applications by the results of renew and returns their number. It
// stops at the first error.
func Reseal(tx *db.Tx, renew secret.Renew) (secrets int, err error) {
	all, err := db.All(tx, scanApplication, `SELECT `+applicationColumns+` FROM rum_application WHERE client_token <> ''`)
	if err != nil {
		return 0, err
	}
	for _, a := range all {
		sealed, err := renew(a.ClientToken, tokenContext(a.AccountID, a.ApplicationID))
		if err != nil {
			return 0, fault.Wrap(err, "reseal the client token of application %s", a.ApplicationID)
		}
		if err := tx.Do(`UPDATE rum_application SET client_token = $1 WHERE account_id = $2 AND application_id = $3`,
			sealed, a.AccountID, a.ApplicationID); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}
