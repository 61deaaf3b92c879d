package triage

import (
	"context"
	"errors"
	"slices"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/configstore"
	"tocsin/internal/core/decide"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// reevaluate starts the work of each account that has alerts whose silence, inhibition or flapping may have ended, and
// returns when the next one is due. First it makes all muted alerts due of accounts whose configuration has changed.
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
			after = account
			if due <= now.Unix() && r.muted.After(account, now) == 0 {
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

// reconfigured makes the muted alerts and the escalations of accounts due whose configuration has changed: the rule that
// held one may have been deleted.
func (r *Service) reconfigured(ctx context.Context, now time.Time) (err error) {
	var accounts []configstore.AccountRevision
	if err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		accounts, err = configstore.MutedAlerts.Behind(tx)
		return err
	}); err != nil {
		return err
	}
	for _, account := range accounts {
		err = errors.Join(err, r.DB.WriteOf(ctx, account.ID, func(tx *db.Tx) error {
			if awaits, err := configstore.MutedAlerts.Awaits(tx, account); err != nil || !awaits {
				return err
			}
			tx.OnCommit(func() { r.Escalate.RaiseFor(account.ID) })
			return errors.Join(alert.Unmute(tx, account.ID, now.Unix()), escalation.Reconsider(tx, account.ID, now),
				configstore.MutedAlerts.Reached(tx, account))
		}))
	}
	return err
}

// reevaluateAccount decides about muted alerts of one account, the earliest due first.
func (r *Service) reevaluateAccount(t *jobs.Round) error {
	single := 0
	for more, n := true, 0; more && n < maxRound && (n == 0 || t.GoesOn()); {
		size := r.batchSize()
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

// reevaluateBatch decides again about some muted alerts; left of them must be decided one by one. One that fails is
// postponed and does not block the others.
func (r *Service) reevaluateBatch(t *jobs.Round, due []alert.Due) (left int, err error) {
	ready, err := r.Configs.config(t.Ctx, t.Account)
	if err != nil {
		return 0, err
	}
	m := newSnapshot(t.Ctx, r.DB, t.Account, ready, t.Now)
	var wants []want
	for _, d := range due {
		wants = append(wants, want{byID, slot{Key: d.ID}})
	}
	m.fetch(wants)
	var items []item
	var failed error
	for _, d := range due {
		var one item
		failed = m.guarded(&one, func() ([]decide.Verdict, error) { return m.reevaluateOne(&one, d.ID) })
		if failed != nil {
			break
		}
		items = append(items, one)
		t.Expensive = m.steps > expensive
		if t.Expensive {
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
		return 0, r.postpone(t, due[0], err)
	case stored < len(items), errors.Is(failed, errUnknown), errors.Is(failed, errReconfigured):
		return len(due) - stored, nil
	case failed != nil:
		return 0, r.postpone(t, due[len(items)], failed)
	}
	return 0, nil
}

// reevaluateOne decides again about an alert.
func (m *snapshot) reevaluateOne(one *item, id string) ([]decide.Verdict, error) {
	now := m.now.Unix()
	found, err := m.ByID(id)
	if err != nil || found == nil || !found.Active() || found.MutedUntil == 0 || found.MutedUntil > now {
		return nil, err // it was changed meanwhile and is not due any more
	}
	a := *found
	a.Changes = slices.Clone(a.Changes)
	v, err := decide.Reevaluate(m, &a, now)
	if err != nil {
		return nil, err
	}
	if v.Outcome.Muted() && a.MutedUntil <= now { // muted by a rule that ends now: without a delay this would loop
		a.MutedUntil = now + 60
	}
	one.quiet = v.Unchanged
	return []decide.Verdict{v}, nil
}

// postpone makes an alert due a minute later that could not be decided again.
func (r *Service) postpone(t *jobs.Round, d alert.Due, cause error) error {
	r.Log.Error("an alert could not be decided again", "alert_id", d.ID, "account_id", d.Account, "error", cause)
	return r.DB.WriteOf(t.Ctx, t.Account, func(tx *db.Tx) error { return alert.PutOff(tx, d, t.Now.Unix()+60) })
}
