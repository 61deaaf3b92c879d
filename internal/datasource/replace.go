package datasource

import (
	"tocsin/internal/check"
	"tocsin/internal/db"
	"tocsin/internal/fault"
	"tocsin/internal/reference"
	"tocsin/internal/seal"
)

// Replace is Load in which a record may have the id of a datasource that is there already, and then takes
// its place. A secret that the record leaves out or empty, as a file without secrets does, stays as it is
// when the type does, and so does updated_at when the record has none.
func Replace(tx *db.Tx, box *seal.Box, account int64, records []Record) error {
	for i, r := range records {
		old, found, err := db.One(tx, scanItem, `SELECT `+columns+` FROM datasource WHERE account_id = $1 AND datasource_id = $2`, account, int64(r.ID))
		if err != nil {
			return err
		}
		at := check.Record("datasources", i)
		if err := r.place(at, account); err != nil {
			return err
		}
		if !found {
			if err := load(tx, box, at, r); err != nil {
				return err
			}
			continue
		}
		if old.TypeIdent == r.TypeIdent {
			stored, err := old.Payload.opened(box, account, r.ID)
			if err != nil {
				return fault.Wrap(err, "open the secrets of datasource %d", r.ID)
			}
			r.Payload = r.Payload.keeping(stored, unsetOrEmpty)
		}
		if r.UpdatedAt == 0 {
			r.UpdatedAt = old.UpdatedAt
		}
		if r.Payload, err = r.Payload.sealed(box, account, r.ID); err != nil {
			return fault.Wrap(err, "seal the secrets of datasource %d", r.ID)
		}
		if err := updateItem(tx, r.Item); err != nil {
			return err
		}
	}
	return nil
}

// Erase removes a datasource, and does nothing when there is none.
func Erase(tx *db.Tx, account int64, id uint64) error {
	if _, err := tx.Exec(`DELETE FROM datasource WHERE account_id = $1 AND datasource_id = $2`, account, int64(id)); err != nil {
		return err
	}
	return reference.Clear(tx, account, reference.Datasource, id)
}
