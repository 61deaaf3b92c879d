package app

import (
	"context"
	"errors"

	"tocsin/internal/channel"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
	"tocsin/internal/schedule"
	"tocsin/internal/team"
)

// complete does for older databases what migrations cannot, because it takes more than SQL. What fails is
// logged and tried again at the next start: nearly everything works without it.
func (a *App) complete(ctx context.Context) {
	err := a.DB.Write(ctx, func(tx *db.Tx) error {
		return errors.Join(schedule.Complete(tx, a.Keyring), rum.Complete(tx, a.Keyring), team.Complete(tx), person.Complete(tx), channel.Complete(tx), incident.Complete(tx))
	})
	if err != nil {
		a.Log.Error("what an older version stored is not yet complete", "error", err)
	}
}
