package datasource

import "tocsin/internal/platform/db"

// Find returns a datasource with its secrets sealed; found is false if the account has none of this id.
func Find(tx *db.Tx, account int64, id uint64) (d Item, found bool, err error) {
	return db.One(tx, scanItem, `SELECT `+columns+` FROM datasource WHERE account_id = $1 AND datasource_id = $2`, account, int64(id))
}
