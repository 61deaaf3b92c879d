package notify

import (
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Overdue returns how many notifications are due and not sent, and since when.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "notice", time.Millisecond,
		`SELECT count(*), coalesce(min(due_at), 0) FROM notice WHERE settled_at = 0 AND due_at <= $1`, now.UnixMilli())
}

// FailedSince returns how many notifications failed for good since a moment.
func FailedSince(tx *db.Tx, since time.Time) (int64, error) {
	n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM notice
		WHERE status = 'failed' AND settled_at > 0 AND settled_at > $1`, since.UnixMilli())
	return n, err
}

// LastSent returns when the account's last message after a moment was sent, Unix milliseconds; 0: none was.
func LastSent(tx *db.Tx, account int64, after time.Time) (int64, error) {
	at, _, err := db.One(tx, db.Column[int64], `SELECT settled_at FROM notice WHERE account_id = $1 AND status = 'sent' AND settled_at > $2
		ORDER BY settled_at DESC LIMIT 1`, account, after.UnixMilli())
	return at, err
}
