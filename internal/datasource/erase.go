package datasource

import (
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// Erase deletes a datasource. It does nothing if there is none.
func Erase(tx *db.Tx, account int64, id uint64) error {
	if err := configstore.BumpRevision(tx, account); err != nil {
		return err
	}
	if err := tx.Do(`DELETE FROM datasource WHERE account_id = $1 AND datasource_id = $2`, account, int64(id)); err != nil {
		return err
	}
	return configstore.ClearReferences(tx, account, configstore.Datasource, id)
}
