package rum

import (
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// EraseApplication deletes an application's row. It does nothing if there is none. Its issues stay: they are
// records of their own.
func EraseApplication(tx *db.Tx, account int64, id string) error {
	if err := tx.Do(`DELETE FROM rum_application WHERE account_id = $1 AND application_id = $2`, account, id); err != nil {
		return err
	}
	return configstore.ClearReferences(tx, account, configstore.Application, id)
}
