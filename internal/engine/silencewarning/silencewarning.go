// Package silencewarning tells whoever made a one-time silence that it is about to end, while it still holds alerts back:
// nobody is to be surprised by their pages. When to look at a silence is a row; what it holds back is found out at
// that moment, and once more when the notice is sent.
//
// It must never tell of an end twice, of one that is past or holds nothing back, or anybody who may not read the
// silence's channel.
package silencewarning

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/triage"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Service tells of the ends of silences.
type Service struct {
	DB      *db.DB
	Log     *slog.Logger
	Notify  *notify.Service
	Configs *triage.Configs // knows what silences hold back
}

// In seconds.
const (
	lead  = 900 // before its end a silence is told of; half its length when that is less
	often = 60  // until one that has held nothing back is looked at again: an alert may come yet
)

// batch is how many silences are looked at in one transaction.
const batch = 10

// Job is the room's background work.
func (r *Service) Job() jobs.Job { return jobs.Job{Name: "silence", Interval: time.Second, Run: r.due} }

// row is when to look at a silence.
type row struct {
	account  int64
	rule     string
	end, due int64
}

const columns = `account_id, rule_id, end_at, due_at`

func scanRow(scan db.Scan) (w row, err error) {
	return w, scan(&w.account, &w.rule, &w.end, &w.due)
}

// due looks at all silences that are due.
func (r *Service) due(ctx context.Context, now time.Time) (again time.Time, err error) {
	var anew []renewal
	var next int64
	err = r.DB.Snapshot(ctx, func(tx *db.Tx) (err error) {
		if anew, err = renewals(tx, now.Unix()); err == nil {
			next, _, err = db.One(tx, db.Column[int64], `SELECT coalesce(min(due_at), 0) FROM silence_end WHERE due_at > 0 AND end_at > $1`, now.Unix())
		}
		return err
	})
	switch {
	case err != nil || len(anew) == 0 && next == 0:
		return again, err
	case len(anew) == 0 && next > now.Unix(): // those who write do not wait for nothing
		return time.Unix(next, 0), nil
	}
	var rows []row
	err = r.DB.Write(ctx, func(tx *db.Tx) (err error) {
		for _, n := range anew {
			if err := n.store(tx); err != nil {
				return err
			}
		}
		rows, err = db.All(tx, scanRow, `SELECT `+columns+` FROM silence_end WHERE due_at > 0 AND due_at <= $1 AND end_at > $1 ORDER BY due_at LIMIT $2 + 0`, now.Unix(), batch)
		return err
	})
	for i := 0; i < len(rows) && err == nil; i++ {
		err = r.step(ctx, rows[i], now)
	}
	return now, err
}

// renewal are the rows of an account whose configuration has changed, for its revision. They are made before
// the transaction that stores them, as there may be thousands of rules to read.
type renewal struct {
	configstore.AccountRevision
	rows []row
}

func renewals(tx *db.Tx, now int64) ([]renewal, error) {
	accounts, err := configstore.SilenceWarnings.Behind(tx)
	anew := make([]renewal, len(accounts))
	for i := 0; i < len(accounts) && err == nil; i++ {
		anew[i].AccountRevision = accounts[i]
		var rules []channel.SilenceRule
		rules, err = channel.Silences.All(tx, accounts[i].ID)
		for _, rule := range rules {
			if once := rule.TimeFilter; once != nil && once.EndTime > now && rule.Status == "enabled" {
				due := once.EndTime - min(lead, (once.EndTime-once.StartTime)/2)
				anew[i].rows = append(anew[i].rows, row{accounts[i].ID, rule.RuleID, once.EndTime, due})
			}
		}
	}
	return anew, err
}

// store puts the rows in the place of those before. Of a silence that was told of, its notices know.
func (n renewal) store(tx *db.Tx) error {
	if _, err := tx.Exec(`DELETE FROM silence_end WHERE account_id = $1`, n.ID); err != nil {
		return err
	}
	for _, w := range n.rows {
		if _, err := tx.Exec(`INSERT INTO silence_end (`+columns+`) VALUES ($1, $2, $3, $4)`, w.account, w.rule, w.end, w.due); err != nil {
			return err
		}
	}
	return configstore.SilenceWarnings.Reached(tx, n.AccountRevision)
}

// step tells of one silence, unless that was done, and settles when to look again. One that cannot be told of holds
// up no other. What there is to tell is found out before the transaction that writes it down, and once more when the
// notice is sent.
func (r *Service) step(ctx context.Context, w row, now time.Time) error {
	e, over, unknown := look(ctx, r.DB, r.Configs, w.account, w.rule, w.end, now)
	return r.DB.Write(ctx, func(tx *db.Tx) error {
		done := false
		failed, err := tx.Try(func() (err error) {
			if done, err = notify.Told(tx, w.account, key(w.rule, w.end)); err != nil || done || unknown != nil || over != "" {
				return errors.Join(err, unknown)
			}
			done, err = r.tell(tx, w, e, now)
			return err
		})
		if err != nil {
			return err
		}
		next := now.Unix() + often
		switch {
		case failed != nil:
			r.Log.Error("nobody can be told of the end of a silence", "account_id", w.account, "rule_id", w.rule, "error", failed)
		case done:
			next = 0
		}
		_, err = tx.Exec(`UPDATE silence_end SET due_at = $3 WHERE account_id = $1 AND rule_id = $2 AND end_at = $4`, w.account, w.rule, next, w.end)
		return err
	})
}
