package app

import (
	"context"
	"time"

	"tocsin/internal/engine/selfalert"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// condition is what may be wrong with this machine. While it is, an alert of Tocsin's own is open. The alert goes to the
// account that was created first, which is the operator's.
type condition struct {
	raised time.Time // when this process last raised the alert; zero: it did not, or has ended it
	ended  bool      // this process knows that the alert is not open
}

// keep raises the alert of a condition that is wrong, twice in the time that it lasts, and ends it otherwise. Unless end
// is set, the alert ends by itself when it has lasted.
func (a *App) keep(ctx context.Context, c *condition, alert selfalert.Alert, wrong, end bool, now time.Time) error {
	recent := now.Before(c.raised.Add(alert.Lasts/2)) && !now.Before(c.raised)
	if wrong && recent || !wrong && (c.ended || !end) {
		return nil
	}
	var found bool
	if err := a.DB.Read(ctx, func(tx *db.Tx) (err error) {
		alert.Account, found, err = person.FirstAccount(tx)
		return err
	}); err != nil || !found {
		return err
	}
	err := a.DB.WriteOf(ctx, alert.Account, func(tx *db.Tx) error {
		if wrong {
			return a.selfAlerts.Raise(tx, alert, now)
		}
		return a.selfAlerts.End(tx, alert.Account, alert.Key, now)
	})
	if err != nil {
		return err
	}
	c.raised, c.ended = time.Time{}, !wrong
	if wrong {
		c.raised = now
	}
	return nil
}
