package configstore

import "tocsin/internal/platform/db"

// AccountRevision is an account with its present count.
type AccountRevision struct{ ID, Revision int64 }

func scanAccount(scan db.Scan) (a AccountRevision, err error) { return a, scan(&a.ID, &a.Revision) }

// AccountRevisions returns the accounts by id.
func AccountRevisions(tx *db.Tx) ([]AccountRevision, error) {
	return db.All(tx, scanAccount, `SELECT account_id, revision FROM account ORDER BY account_id`)
}

// RevisionReader is what prepares rows from the configuration and remembers in a column of its own for which count it did.
type RevisionReader struct{ behind, reached string }

// The readers.
var (
	ShiftNotices = RevisionReader{`SELECT account_id, revision FROM account WHERE revision <> revision_handover ORDER BY account_id`,
		`UPDATE account SET revision_handover = $2 WHERE account_id = $1`}
	SilenceWarnings = RevisionReader{`SELECT account_id, revision FROM account WHERE revision <> revision_silence ORDER BY account_id`,
		`UPDATE account SET revision_silence = $2 WHERE account_id = $1`}
)

// Behind returns the accounts whose count has changed since the reader reached it.
func (r RevisionReader) Behind(tx *db.Tx) ([]AccountRevision, error) {
	return db.All(tx, scanAccount, r.behind)
}

// Reached stores for which count the reader has prepared its rows.
func (r RevisionReader) Reached(tx *db.Tx, a AccountRevision) error {
	_, err := tx.Exec(r.reached, a.ID, a.Revision)
	return err
}
