package credential

import (
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Invitation is a mail with a link that is to be sent to a person.
type Invitation struct {
	AccountID, PersonID int64
	MakerID             int64  // who asked for it
	Kind                string // of the link
	Attempt             int64  // how many were made before
}

// Invite makes the mail to a person due. It replaces one that waits.
func Invite(tx *db.Tx, i Invitation, now time.Time) error {
	return tx.Do(`INSERT INTO invitation (account_id, person_id, maker_id, kind, next_at, attempt) VALUES ($1, $2, $3, $4, $5, 0)
		ON CONFLICT (account_id, person_id) DO UPDATE
			SET maker_id = excluded.maker_id, kind = excluded.kind, next_at = excluded.next_at, attempt = 0`,
		i.AccountID, i.PersonID, i.MakerID, i.Kind, now.Unix())
}

// DueInvitation returns the invitation that has waited longest; found is false when none is due.
func DueInvitation(tx *db.Tx, now time.Time) (i Invitation, found bool, err error) {
	return db.One(tx, scanInvitation,
		`SELECT account_id, person_id, maker_id, kind, attempt FROM invitation WHERE next_at <= $1 ORDER BY next_at LIMIT 1`, now.Unix())
}

func scanInvitation(scan db.Scan) (i Invitation, err error) {
	return i, scan(&i.AccountID, &i.PersonID, &i.MakerID, &i.Kind, &i.Attempt)
}

// DelayInvitation counts an attempt and sets when the next one is due.
func DelayInvitation(tx *db.Tx, i Invitation, next time.Time) error {
	return tx.Do(`UPDATE invitation SET attempt = attempt + 1, next_at = $1 WHERE account_id = $2 AND person_id = $3`,
		next.Unix(), i.AccountID, i.PersonID)
}

// PostponeInvitations sets when the invitations of an account that are due are due again, without an attempt: the account
// has sent as many as it may.
func PostponeInvitations(tx *db.Tx, account int64, now, next time.Time) error {
	return tx.Do(`UPDATE invitation SET next_at = $1 WHERE account_id = $2 AND next_at <= $3`, next.Unix(), account, now.Unix())
}

// EndInvitation deletes an invitation that was sent or is no longer needed.
func EndInvitation(tx *db.Tx, account, person int64) error {
	return tx.Do(`DELETE FROM invitation WHERE account_id = $1 AND person_id = $2`, account, person)
}

// Overdue returns how many invitations are due.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "invitation", time.Second,
		`SELECT count(*), coalesce(min(next_at), 0) FROM invitation WHERE next_at <= $1`, now.Unix())
}

// Release deletes the invitations of a database that was restored or copied: the server on the other one has sent them.
func Release(tx *db.Tx, _ time.Time) error {
	return tx.Do(`DELETE FROM invitation WHERE attempt >= 0`)
}
