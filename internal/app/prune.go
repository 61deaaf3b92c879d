package app

import (
	"context"
	"time"

	"tocsin/internal/audit"
	"tocsin/internal/channel"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/triage"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// prune removes what is older than its retention: in batches with a transaction each, so that callers get
// their turn in between.
func (a *App) prune(ctx context.Context) error {
	for _, kept := range []struct {
		days  int
		prune func(*db.Tx, time.Time) (more bool, err error)
	}{{a.DeliveryDays, webhook.Prune}, {a.AuditDays, audit.Prune}, {a.EventDays, triage.Prune}, {a.EventDays, notify.Prune}, {a.DroppedDays, triage.PruneDropped}, {a.IncidentDays, incident.Prune}} {
		if kept.days == 0 {
			continue
		}
		before := a.Clock.Now().AddDate(0, 0, -kept.days)
		for more := true; more; {
			err := a.DB.Write(ctx, func(tx *db.Tx) (err error) {
				more, err = kept.prune(tx, before)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return a.DB.Write(ctx, func(tx *db.Tx) error { return channel.Expire(tx, a.Clock.Now()) })
}
