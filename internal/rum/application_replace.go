package rum

import (
	"cmp"

	"tocsin/internal/check"
	"tocsin/internal/db"
	"tocsin/internal/reference"
	"tocsin/internal/seal"
)

// ReplaceApplications is LoadApplications in which a record may have the id of an application that is there
// already, and then takes its place. What the record does not say stays as it is: a client token that is
// empty, as in a file without secrets, and stamps that are 0.
func ReplaceApplications(tx *db.Tx, box *seal.Box, account int64, records []Application) error {
	for i, a := range records {
		at := check.Record("rum_applications", i)
		if err := a.settle(at, account); err != nil {
			return err
		}
		old, found, err := db.One(tx, scanApplication, `SELECT `+applicationColumns+` FROM rum_application WHERE account_id = $1 AND application_id = $2`, account, a.ApplicationID)
		if err != nil {
			return err
		}
		if found {
			if err := old.openToken(box); err != nil {
				return err
			}
			a.ClientToken = cmp.Or(a.ClientToken, old.ClientToken)
			a.CreatedAt, a.CreatedBy = cmp.Or(a.CreatedAt, old.CreatedAt), cmp.Or(a.CreatedBy, old.CreatedBy)
			a.UpdatedAt, a.UpdatedBy = cmp.Or(a.UpdatedAt, old.UpdatedAt), cmp.Or(a.UpdatedBy, old.UpdatedBy)
			if err := EraseApplication(tx, account, a.ApplicationID); err != nil {
				return err
			}
		}
		if _, err := a.insert(tx, box, account); err != nil {
			return err
		}
		if err := a.refer(tx); err != nil {
			return err
		}
	}
	return nil
}

// EraseApplication removes an application altogether, and does nothing when there is none. Its issues stay:
// they are records of their own.
func EraseApplication(tx *db.Tx, account int64, id string) error {
	if _, err := tx.Exec(`DELETE FROM rum_application WHERE account_id = $1 AND application_id = $2`, account, id); err != nil {
		return err
	}
	return reference.Clear(tx, account, reference.Application, id)
}
