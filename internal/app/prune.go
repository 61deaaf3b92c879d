package app

import (
	"context"
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/db"
)

// prune removes what is older than its retention, module by module.
func (a *App) prune(ctx context.Context) error {
	for _, m := range a.Modules {
		for _, kept := range m.Prune {
			before, limited := a.kept(kept.Period)
			if !limited {
				continue
			}
			if err := a.pruneBefore(ctx, before, kept.Prune); err != nil {
				return err
			}
		}
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
		err := a.DB.Write(ctx, func(tx *db.Tx) (err error) {
			more, err = prune(tx, before)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
