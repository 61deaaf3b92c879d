package triage

import (
	"tocsin/internal/platform/jobs"

	"context"
	"errors"
	"slices"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/core/decide"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/platform/db"
)

// reevaluate decides anew about alerts whose silence, inhibition or flapping may have ended: each account that has such
// alerts has a turn. First of all it makes those due whose account was configured differently since.
func (r *Service) reevaluate(ctx context.Context, now time.Time) (again time.Time, err error) {
	if err := r.reconfigured(ctx, now); err != nil {
		return again, err
	}
	var accounts []int64
	err = r.DB.Read(ctx, func(tx *db.Tx) error {
		for after := int64(-1); ; {
			account, due, found, err := alert.NextAgain(tx, after)
			if err != nil || !found {
				return err
			}
			if after = account; due <= now.Unix() && r.muted.After(account, now) == 0 {
				accounts = append(accounts, account)
			} else if next := time.Unix(max(due, now.Unix()+1), 0); again.IsZero() || next.Before(again) {
				again = next
			}
		}
	})
	if err != nil {
		return again, err
	}
	return again, r.muted.Begin(ctx, now, accounts, r.reevaluateAccount)
}

// reconfigured makes the muted alerts and the escalations of accounts due whose configuration has changed: the
// rule that held one may be gone.
func (r *Service) reconfigured(ctx context.Context, now time.Time) error {
	const changed = `SELECT account_id FROM account WHERE revision <> revision_applied`
	var accounts []int64
	read := func(tx *db.Tx) (err error) {
		accounts, err = db.All(tx, db.Column[int64], changed)
		return err
	}
	if err := r.DB.Read(ctx, read); err != nil || len(accounts) == 0 { // those who write do not wait for nothing
		return err
	}
	return r.DB.Write(ctx, func(tx *db.Tx) error {
		err := read(tx)
		for i := 0; i < len(accounts) && err == nil; i++ {
			if err = errors.Join(alert.Unmute(tx, accounts[i], now.Unix()), escalation.Reconsider(tx, accounts[i], now)); err == nil {
				_, err = tx.Exec(`UPDATE account SET revision_applied = revision WHERE account_id = $1`, accounts[i])
			}
		}
		return err
	})
}

// reevaluateAccount decides about muted alerts of one account, the longest due first.
func (r *Service) reevaluateAccount(t *jobs.Round) error {
	single := 0
	for more, n := true, 0; more && n < share && (n == 0 || t.GoesOn()); {
		size := piece
		if single > 0 {
			size = 1
		}
		var due []alert.Due
		err := r.DB.Read(t.Ctx, func(tx *db.Tx) (err error) {
			due, err = alert.DueAgain(tx, t.Account, t.Now.Unix(), int64(size))
			return err
		})
		if err != nil || len(due) == 0 {
			return err
		}
		left, err := r.reevaluateBatch(t, due)
		if err != nil {
			return err
		}
		n += len(due)
		more = len(due) == size || left > 0
		single = max(left, single-1)
	}
	return nil
}

// reevaluateBatch decides about some muted alerts; left of them are to be decided one by one. One that fails is put off,
// and holds up no other.
func (r *Service) reevaluateBatch(t *jobs.Round, due []alert.Due) (left int, err error) {
	ready, err := r.Configs.config(t.Ctx, t.Account)
	if err != nil {
		return 0, err
	}
	m := newSnapshot(t.Ctx, r.DB, t.Account, ready, t.Now)
	var items []item
	var failed error
	for _, d := range due {
		var one item
		if failed = m.guarded(&one, func() ([]decide.Verdict, error) { return m.again(&one, d.ID) }); failed != nil {
			break
		}
		items = append(items, one)
		if t.Dear = m.steps > dear; t.Dear {
			break
		}
	}
	if r.between != nil {
		r.between(t.Account)
	}
	stored, err := r.store(m, items)
	switch {
	case t.Ctx.Err() != nil:
		return 0, t.Ctx.Err()
	case err != nil && len(items) > 1:
		return len(due), nil
	case err != nil:
		return 0, r.putOff(t, due[0], err)
	case stored < len(items), errors.Is(failed, errUnknown), errors.Is(failed, errReconfigured):
		return len(due) - stored, nil
	case failed != nil:
		return 0, r.putOff(t, due[len(items)], failed)
	}
	return 0, nil
}

// again decides anew about an alert.
func (m *snapshot) again(one *item, id string) ([]decide.Verdict, error) {
	now := m.now.Unix()
	found, err := m.ByID(id)
	if err != nil || found == nil || !found.Active() || found.MutedUntil == 0 || found.MutedUntil > now {
		return nil, err // others have had it meanwhile
	}
	a := *found
	a.Changes = slices.Clone(a.Changes)
	v, err := decide.Reevaluate(m, &a, now)
	if err != nil {
		return nil, err
	}
	if v.Outcome.Muted() && a.MutedUntil <= now { // whatever says so, not in a circle
		a.MutedUntil = now + 60
	}
	one.quiet = v.Outcome == found.Muted && a.MutedBy == found.MutedBy // nothing to explain
	return []decide.Verdict{v}, nil
}

// putOff makes an alert due later that could not be decided again.
func (r *Service) putOff(t *jobs.Round, d alert.Due, cause error) error {
	r.Log.Error("an alert could not be decided again", "alert_id", d.ID, "account_id", d.Account, "error", cause)
	return r.DB.Write(t.Ctx, func(tx *db.Tx) error { return alert.PutOff(tx, d, t.Now.Unix()+60) })
}
