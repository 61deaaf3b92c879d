package configstore

import "tocsin/internal/platform/db"

// AccountRevision is an account with its current revision.
type AccountRevision struct{ ID, Revision int64 }

func scanAccount(scan db.Scan) (a AccountRevision, err error) { return a, scan(&a.ID, &a.Revision) }

// AccountRevisions returns the accounts by id.
func AccountRevisions(tx *db.Tx) ([]AccountRevision, error) {
	return db.All(tx, scanAccount, `SELECT account_id, revision FROM account ORDER BY account_id`)
}

// RevisionReader is a part of the program that derives rows from the configuration, and stores the revision in its own
// column.
type RevisionReader struct{ behind, reached string }

// The readers.
var (
	ShiftNotices = RevisionReader{`SELECT account_id, revision FROM account WHERE revision <> revision_handover ORDER BY account_id`,
		`UPDATE account SET revision_handover = $2 WHERE account_id = $1`}
	MutedAlerts = RevisionReader{`SELECT account_id, revision FROM account WHERE revision <> revision_applied ORDER BY account_id`,
		`UPDATE account SET revision_applied = $2 WHERE account_id = $1`}
	SilenceWarnings = RevisionReader{`SELECT account_id, revision FROM account WHERE revision <> revision_silence ORDER BY account_id`,
		`UPDATE account SET revision_silence = $2 WHERE account_id = $1`}
)

// Behind returns the accounts whose revision is newer than that of the reader.
func (r RevisionReader) Behind(tx *db.Tx) ([]AccountRevision, error) {
	return db.All(tx, scanAccount, r.behind)
}

// Reached stores the revision for which the reader has derived its rows.
func (r RevisionReader) Reached(tx *db.Tx, a AccountRevision) error {
	_, err := tx.Exec(r.reached, a.ID, a.Revision)
	return err
}
