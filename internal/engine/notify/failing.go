package notify

import (
	"cmp"
	"fmt"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
)

// FailingTarget is a person's address or a chat that has taken no message for longer than maxFailing.
type FailingTarget struct {
	Account int64
	Key     string         // identifies the target
	Name    string         // for people; it holds no secret
	Error   sentence.Value // the last one; empty: the target takes messages again
}

const (
	maxFailing    = time.Hour      // after which a target that fails is reported
	forgetFailing = 24 * time.Hour // after which a failure does not count any more
)

// target identifies where a message went.
func (f *attempt) target() string { return cmp.Or(f.recipient, f.Queue) }

// targetFailed stores that a target did not take a message, and reports a target that has failed for long.
func (r *Service) targetFailed(tx *db.Tx, f *attempt, why sentence.Value, now time.Time) error {
	since, _, err := db.One(tx, db.Column[int64], `INSERT INTO notice_failing (account_id, target, since, last_at) VALUES ($1, $2, $3, $3)
		ON CONFLICT (account_id, target) DO UPDATE SET last_at = excluded.last_at RETURNING since`, f.Account, f.target(), now.UnixMilli())
	if err != nil || now.Sub(time.UnixMilli(since)) < maxFailing || r.Failing == nil {
		return err
	}
	return r.reportTarget(tx, f, why, now)
}

// targetTook deletes the failures of a target that has taken a message, and reports that.
func (r *Service) targetTook(tx *db.Tx, f *attempt, now time.Time) error {
	n, err := tx.Exec(`DELETE FROM notice_failing WHERE account_id = $1 AND target = $2`, f.Account, f.target())
	if err != nil || n == 0 || r.Failing == nil {
		return err
	}
	return r.reportTarget(tx, f, "", now)
}

// reportTarget reports that a target fails, or takes messages again if why is empty. A report that fails must not keep the
// result of the attempt from being stored: the message would be sent again.
func (r *Service) reportTarget(tx *db.Tx, f *attempt, why sentence.Value, now time.Time) error {
	failed, err := tx.Try(func() error {
		name := fmt.Sprintf("a chat or address over %s", kindOf(f.Method))
		if f.Person != 0 {
			p, _, err := Find(tx, f.Account, f.Person)
			if err != nil {
				return err
			}
			name = fmt.Sprintf("%s over %s", p.Name, kindOf(f.Method))
		}
		return r.Failing(tx, FailingTarget{Account: f.Account, Key: f.target(), Name: name, Error: why}, now)
	})
	if failed != nil {
		r.Log.Error("a target that fails could not be reported", "account_id", f.Account, "error", failed)
	}
	return err
}

// PruneFailing deletes failures of targets that have not been tried since.
func PruneFailing(tx *db.Tx, now time.Time) (more bool, err error) {
	err = tx.Do(`DELETE FROM notice_failing WHERE last_at <= $1`, now.Add(-forgetFailing).UnixMilli())
	return false, err
}
