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

// Service warns of the ends of silences.
type Service struct {
	DB      *db.DB
	Log     *slog.Logger
	Notify  *notify.Service
	Configs *triage.Configs // know which alerts a silence holds back
}

// In seconds.
const (
	lead       = 900 // how long before the end the warning is sent; half the silence's length when that is less
	recheckGap = 60  // after which a silence that held nothing back is checked again: an alert may still come
)

// batch is the most silences that one run checks.
const batch = 10

// Job returns the background job.
func (r *Service) Job() jobs.Job { return jobs.Job{Name: "silence", Interval: time.Second, Run: r.due} }

// row holds when a silence is checked.
type row struct {
	account  int64
	rule     string
	end, due int64
}

const columns = `account_id, rule_id, end_at, due_at`

func scanRow(scan db.Scan) (w row, err error) {
	return w, scan(&w.account, &w.rule, &w.end, &w.due)
}

// due checks the silences that are due, and returns when the next one is.
func (r *Service) due(ctx context.Context, now time.Time) (again time.Time, err error) {
	var changed []renewal
	var next int64
	err = r.DB.Snapshot(ctx, func(tx *db.Tx) (err error) {
		changed, err = renewals(tx, now.Unix())
		if err != nil {
			return err
		}
		next, _, err = db.One(tx, db.Column[int64],
			`SELECT coalesce(min(due_at), 0) FROM silence_end WHERE due_at > 0 AND end_at > $1`, now.Unix())
		return err
	})
	switch {
	case err != nil || len(changed) == 0 && next == 0:
		return again, err
	case len(changed) == 0 && next > now.Unix(): // without work no write transaction is needed
		return time.Unix(next, 0), nil
	}
	var rows []row
	for _, n := range changed {
		err = errors.Join(err, r.DB.WriteOf(ctx, n.ID, n.store))
	}
	if err != nil {
		return now, err
	}
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		rows, err = db.All(tx, scanRow, `SELECT `+columns+` FROM silence_end
			WHERE due_at > 0 AND due_at <= $1 AND end_at > $1 ORDER BY due_at LIMIT $2 + 0`, now.Unix(), batch)
		return err
	})
	if err != nil {
		return now, err
	}
	for _, w := range rows {
		if err := r.step(ctx, w, now); err != nil {
			return now, err
		}
	}
	if len(rows) == batch { // else no row is left, and the next run is after the interval however often rules change
		again = now
	}
	return again, nil
}

// renewal holds the rows of an account whose configuration has changed, for its revision. They are computed before the
// transaction that stores them, because there may be thousands of rules to read.
type renewal struct {
	configstore.AccountRevision
	rows []row
}

// renewals returns the rows of all accounts whose configuration has changed.
func renewals(tx *db.Tx, now int64) ([]renewal, error) {
	accounts, err := configstore.SilenceWarnings.Behind(tx)
	if err != nil {
		return nil, err
	}
	changed := make([]renewal, len(accounts))
	for i, account := range accounts {
		rules, err := channel.Silences.All(tx, account.ID)
		if err != nil {
			return nil, err
		}
		changed[i].AccountRevision = account
		for _, rule := range rules {
			if once := rule.TimeFilter; once != nil && once.EndTime > now && rule.Status == "enabled" {
				due := once.EndTime - min(lead, (once.EndTime-once.StartTime)/2)
				changed[i].rows = append(changed[i].rows, row{account.ID, rule.RuleID, once.EndTime, due})
			}
		}
	}
	return changed, nil
}

// store stores the rows of the account, and deletes those of silences that do not end any more. A row whose end is the
// same keeps the moment of its next check: if it were due again, the same few silences would be checked after each change
// of the configuration, and never the others.
func (n renewal) store(tx *db.Tx) error {
	if awaits, err := configstore.SilenceWarnings.Awaits(tx, n.AccountRevision); err != nil || !awaits {
		return err
	}
	before, err := db.All(tx, db.Column[string], `SELECT rule_id FROM silence_end WHERE account_id = $1`, n.ID)
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	for _, rule := range before {
		gone[rule] = true
	}
	for _, w := range n.rows {
		delete(gone, w.rule)
		if err := tx.Do(`INSERT INTO silence_end (`+columns+`) VALUES ($1, $2, $3, $4)
			ON CONFLICT (account_id, rule_id) DO UPDATE SET end_at = excluded.end_at, due_at = excluded.due_at
			WHERE silence_end.end_at <> excluded.end_at`, w.account, w.rule, w.end, w.due); err != nil {
			return err
		}
	}
	for rule := range gone {
		if err := tx.Do(`DELETE FROM silence_end WHERE account_id = $1 AND rule_id = $2`, n.ID, rule); err != nil {
			return err
		}
	}
	return configstore.SilenceWarnings.Reached(tx, n.AccountRevision)
}

// step warns of one silence, unless that was done, and stores when it is checked next. One that fails does not block the
// others. Its alerts are read before the write transaction, and once more when the warning is sent.
func (r *Service) step(ctx context.Context, w row, now time.Time) error {
	e, over, readErr := readEnding(ctx, r.DB, r.Configs, w.account, w.rule, w.end, now)
	return r.DB.WriteOf(ctx, w.account, func(tx *db.Tx) error {
		done := false
		failed, err := tx.Try(func() (err error) {
			done, err = notify.Stored(tx, w.account, key(w.rule, w.end))
			if err != nil || done || readErr != nil || over != "" {
				return errors.Join(err, readErr)
			}
			done, err = r.warn(tx, w, e, now)
			return err
		})
		if err != nil {
			return err
		}
		next := now.Unix() + recheckGap
		switch {
		case failed != nil:
			r.Log.Error("the warning of a silence's end could not be stored", "account_id", w.account, "rule_id", w.rule, "error", failed)
		case done:
			next = 0
		}
		return tx.Do(`UPDATE silence_end SET due_at = $3
			WHERE account_id = $1 AND rule_id = $2 AND end_at = $4`, w.account, w.rule, next, w.end)
	})
}
