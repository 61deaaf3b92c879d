// Package notify notifies people and chats: it stores a notification for each target as a row, and sends it when it is
// due.
//
// A notification is sent at least once, with the same key each time. One target that fails or hangs must never block
// another. A stale notification must never be sent: the incident is checked again when its notification is sent.
package notify

import (
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
)

// Module returns the package's jobs, resealing of secrets, retention, count of overdue work, settling at a release and
// gauges.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:   "engine/notify",
		Jobs:   []jobs.Job{r.Job()},
		Reseal: []func(*db.Tx, secret.Renew) (int, error){Reseal},
		Prune: []module.Retention{
			{Period: module.Events, Prune: Prune},
			{Period: module.Ended, Prune: PruneSends},
			{Period: module.Ended, Prune: PruneFailing},
		},
		Overdue: Overdue,
		Sends:   true,
		Release: Release,
		Gauges:  []module.Gauge{retries},
	}
}

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

// Prune deletes a batch of notifications that were settled before a moment. more reports whether there may be others; the
// caller then calls it again.
func Prune(tx *db.Tx, before time.Time) (more bool, err error) {
	const batch = 2000
	n, err := tx.Exec(`DELETE FROM notice WHERE (account_id, notice_id) IN (
		SELECT account_id, notice_id FROM notice WHERE settled_at > 0 AND settled_at < $1 LIMIT $2 + 0)`, before.UnixMilli(), batch)
	return n == batch, err
}

// retries counts the notifications that failed and are tried again.
var retries = module.Gauge{
	Name: "tocsin_notification_retries_waiting", Help: "Notifications that failed and wait for another attempt.",
	Read: func(tx *db.Tx, _ time.Time) ([]module.Sample, error) {
		n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM notice WHERE settled_at = 0 AND status = 'waiting' AND attempts > 0`)
		return []module.Sample{{Value: float64(n)}}, err
	},
}
