package revision

import "tocsin/internal/db"

// Account is an account with its present count.
type Account struct{ ID, Revision int64 }

func scanAccount(scan db.Scan) (a Account, err error) { return a, scan(&a.ID, &a.Revision) }

// All returns the accounts by id.
func All(tx *db.Tx) ([]Account, error) {
	return db.All(tx, scanAccount, `SELECT account_id, revision FROM account ORDER BY account_id`)
}

// Reader is what prepares rows from the configuration and remembers in a column of its own for which count it did.
type Reader struct{ behind, reached string }

// The readers.
var (
	Handover = Reader{`SELECT account_id, revision FROM account WHERE revision <> revision_handover ORDER BY account_id`,
		`UPDATE account SET revision_handover = $2 WHERE account_id = $1`}
	Silence = Reader{`SELECT account_id, revision FROM account WHERE revision <> revision_silence ORDER BY account_id`,
		`UPDATE account SET revision_silence = $2 WHERE account_id = $1`}
)

// Behind returns the accounts whose count has changed since the reader reached it.
func (r Reader) Behind(tx *db.Tx) ([]Account, error) { return db.All(tx, scanAccount, r.behind) }

// Reached stores for which count the reader has prepared its rows.
func (r Reader) Reached(tx *db.Tx, a Account) error {
	_, err := tx.Exec(r.reached, a.ID, a.Revision)
	return err
}
