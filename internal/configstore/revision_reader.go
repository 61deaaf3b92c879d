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
type RevisionReader struct{ behind, awaits, reached string }

// The readers. An index of each one has only the accounts that are behind.
var (
	ShiftNotices = RevisionReader{
		`SELECT account_id, revision FROM account WHERE revision <> revision_handover AND account_id > $1 ORDER BY account_id LIMIT 100`,
		`SELECT 1 FROM account WHERE account_id = $1 AND revision_handover <> revision
			AND (revision_handover < $2 OR revision_handover > revision)`,
		`UPDATE account SET revision_handover = $2 WHERE account_id = $1`}
	MutedAlerts = RevisionReader{
		`SELECT account_id, revision FROM account WHERE revision <> revision_applied AND account_id > $1 ORDER BY account_id LIMIT 100`,
		`SELECT 1 FROM account WHERE account_id = $1 AND revision_applied <> revision
			AND (revision_applied < $2 OR revision_applied > revision)`,
		`UPDATE account SET revision_applied = $2 WHERE account_id = $1`}
	SilenceWarnings = RevisionReader{
		`SELECT account_id, revision FROM account WHERE revision <> revision_silence AND account_id > $1 ORDER BY account_id LIMIT 100`,
		`SELECT 1 FROM account WHERE account_id = $1 AND revision_silence <> revision
			AND (revision_silence < $2 OR revision_silence > revision)`,
		`UPDATE account SET revision_silence = $2 WHERE account_id = $1`}
	Heartbeats = RevisionReader{
		`SELECT account_id, revision FROM account WHERE revision <> revision_heartbeat AND account_id > $1 ORDER BY account_id LIMIT 100`,
		`SELECT 1 FROM account WHERE account_id = $1 AND revision_heartbeat <> revision
			AND (revision_heartbeat < $2 OR revision_heartbeat > revision)`,
		`UPDATE account SET revision_heartbeat = $2 WHERE account_id = $1`}
	ScheduleGaps = RevisionReader{
		`SELECT account_id, revision FROM account WHERE revision <> revision_gaps AND account_id > $1 ORDER BY account_id LIMIT 100`,
		`SELECT 1 FROM account WHERE account_id = $1 AND revision_gaps <> revision
			AND (revision_gaps < $2 OR revision_gaps > revision)`,
		`UPDATE account SET revision_gaps = $2 WHERE account_id = $1`}
)

// Behind returns the accounts whose revision is newer than that of the reader. It reads them in pages: without a limit
// PostgreSQL, which cannot know that they are few, would read all accounts.
func (r RevisionReader) Behind(tx *db.Tx) (all []AccountRevision, err error) {
	for after := int64(-1); ; after = all[len(all)-1].ID {
		page, err := db.All(tx, scanAccount, r.behind, after)
		all = append(all, page...)
		if err != nil || len(page) < 100 {
			return all, err
		}
	}
}

// Awaits reports whether the reader has still to derive the rows of a revision that Behind returned. It is asked in the
// transaction that stores them: another process may have stored those of this revision or of a later one since.
func (r RevisionReader) Awaits(tx *db.Tx, a AccountRevision) (bool, error) {
	_, awaits, err := db.One(tx, db.Column[int64], r.awaits, a.ID, a.Revision)
	return awaits, err
}

// Reached stores the revision for which the reader has derived its rows.
func (r RevisionReader) Reached(tx *db.Tx, a AccountRevision) error {
	return tx.Do(r.reached, a.ID, a.Revision)
}
