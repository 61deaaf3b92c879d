package configstore

import (
	"strconv"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// tables holds the query for an id, for each kind with its own table.
var tables = map[string]string{}

// Own registers the query for an object of a kind with its own table: $1 is the account, $2 the id. The query must not
// return deleted objects. The package that owns the table calls it before the program starts.
func Own(kind, query string) { tables[kind] = query }

// Known reports whether the account has the object that is referred to.
func Known(tx *db.Tx, account int64, to Target) (bool, error) {
	query, own := tables[to.Kind]
	if !own {
		_, found, err := db.One(tx, db.Column[int64], `SELECT 1 FROM object WHERE account_id = $1 AND kind = $2 AND id = $3`, account, to.Kind,
			to.ID)
		return found, err
	}
	id, err := strconv.ParseInt(to.ID, 10, 64)
	if err != nil {
		return false, nil
	}
	_, found, err := db.One(tx, db.Column[int64], query, account, id)
	return found, err
}

// Need returns fault.Invalid for a field that refers to an object that the account does not have. No reference ("" or 0)
// is valid.
func Need(tx *db.Tx, account int64, field string, to Target) error {
	if to.ID == "" || to.ID == "0" {
		return nil
	}
	known, err := Known(tx, account, to)
	if err == nil && !known {
		err = fault.Invalid(field, "%s %s does not exist", to.Kind, to.ID)
	}
	return err
}
