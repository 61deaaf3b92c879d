package configstore

import (
	"strconv"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Table describes a kind whose objects have a table of their own. The package that owns the table has its value.
type Table struct {
	Kind  string
	Query string // returns a row if the object exists and is not deleted: $1 is the account, $2 its id
}

// Known reports whether the account has the object.
func (t Table) Known(tx *db.Tx, account, id int64) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64], t.Query, account, id)
	return found, err
}

// Need returns fault.Invalid for a field that refers to an object that the account does not have. No reference (0) is
// valid.
func (t Table) Need(tx *db.Tx, account int64, field string, id int64) error {
	if id == 0 {
		return nil
	}
	known, err := t.Known(tx, account, id)
	return need(known, err, field, t.Kind, strconv.FormatInt(id, 10))
}

// Known reports whether the account has an object of a kind that has no table of its own.
func Known(tx *db.Tx, account int64, to Target) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64], `SELECT 1 FROM object WHERE account_id = $1 AND kind = $2 AND id = $3`, account, to.Kind,
		to.ID)
	return found, err
}

// Need is Table.Need for an object of a kind that has no table of its own. No reference ("" or 0) is valid.
func Need(tx *db.Tx, account int64, field string, to Target) error {
	if to.ID == "" || to.ID == "0" {
		return nil
	}
	known, err := Known(tx, account, to)
	return need(known, err, field, to.Kind, to.ID)
}

func need(known bool, err error, field, kind, id string) error {
	if err == nil && !known {
		err = fault.Invalid(field, "%s %s does not exist", fault.Word(kind), id)
	}
	return err
}
