package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
)

// prune removes what is older than its retention, module by module. One that fails does not keep the others.
func (a *App) prune(ctx context.Context) (err error) {
	for _, m := range a.Modules {
		for _, kept := range m.Prune {
			before, limited := a.kept(kept.Period)
			if !limited || kept.Prune == nil {
				continue
			}
			before, failed := a.drop(ctx, before, kept.Tables)
			if failed == nil {
				failed = a.pruneBefore(ctx, before, kept.Prune)
			}
			err = errors.Join(err, failed)
		}
	}
	return errors.Join(err, a.pruneAccounts(ctx))
}

// drop drops the parts of tables that are older than a time, and returns the time before which rows are left to delete.
func (a *App) drop(ctx context.Context, before time.Time, tables []db.Droppable) (until time.Time, err error) {
	until, dropped, err := a.DB.Drop(ctx, before, tables)
	for _, part := range dropped {
		a.Log.Info("retention dropped a part of a table", "part", part)
	}
	return until, err
}

// ahead makes the parts of tables for the time to come.
func (a *App) ahead(ctx context.Context, now time.Time) (next time.Time, err error) {
	var forever []string
	for _, m := range a.Modules {
		for _, r := range m.Prune {
			if _, limited := a.kept(r.Period); limited {
				continue
			}
			for _, t := range r.Tables {
				forever = append(forever, t.Table)
			}
		}
	}
	made, err := a.DB.Ahead(ctx, now, forever)
	for _, part := range made {
		a.Log.Info("a part of a table was made", "part", part)
	}
	return next, err
}

// pruneAccounts removes what is older than its retention, account by account. One that fails does not keep the others.
func (a *App) pruneAccounts(ctx context.Context) (err error) {
	var accounts []configstore.AccountRevision
	if err := a.DB.Read(ctx, func(tx *db.Tx) (err error) {
		accounts, err = configstore.AccountRevisions(tx)
		return err
	}); err != nil {
		return err
	}
	var all []module.Retention
	for _, m := range a.Modules {
		all = append(all, m.Prune...)
	}
	all = slices.DeleteFunc(all, func(r module.Retention) bool {
		_, limited := a.kept(r.Period)
		return r.Of == nil || !limited
	})
	for _, account := range accounts {
		err = errors.Join(err, a.pruneAccount(ctx, account.ID, all))
	}
	return err
}

// pruneAccount removes batches of an account, with a transaction each while others wait for the account.
func (a *App) pruneAccount(ctx context.Context, account int64, all []module.Retention) error {
	for done := 0; done < len(all); {
		at := done
		err := a.DB.WriteOf(ctx, account, func(tx *db.Tx) error {
			for at = done; at < len(all); {
				before, _ := a.kept(all[at].Period)
				more, err := all[at].Of(tx, account, before)
				if err != nil {
					return err
				}
				if !more {
					at++
				}
				if more || tx.Awaited() {
					break
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		done = at
	}
	return nil
}

// kept returns since when rows of a period are kept; limited is false when they are kept for ever.
func (a *App) kept(p module.Period) (since time.Time, limited bool) {
	days := 0
	switch p {
	case module.Ended:
		return a.Clock.Now(), true
	case module.Deliveries:
		days = a.DeliveryDays
	case module.Audit:
		days = a.AuditDays
	case module.Events:
		days = a.EventDays
	case module.Dropped:
		days = a.DroppedDays
	case module.Incidents:
		days = a.IncidentDays
	}
	return a.Clock.Now().AddDate(0, 0, -days), days > 0
}

// pruneBefore removes batches with a transaction each, so that callers get their turn in between.
func (a *App) pruneBefore(ctx context.Context, before time.Time, prune func(*db.Tx, time.Time) (bool, error)) error {
	for more := true; more; {
		err := a.DB.WriteOf(ctx, db.NoAccount, func(tx *db.Tx) (err error) {
			more, err = prune(tx, before)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
