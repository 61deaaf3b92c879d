package selfalert

import (
	"context"
	"time"

	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// Condition is what may be wrong with the program's machine. While it is, an alert of Tocsin's own is open. The alert goes to the
// account that was created first, which is the operator's.
type Condition struct {
	raised time.Time // when this process last raised the alert; zero: it did not, or has ended it
	ended  bool      // this process knows that the alert is not open
}

// Keep raises the alert of a condition that is wrong, twice in the time that it lasts, and ends it otherwise. Unless end
// is set, the alert ends by itself when it has lasted.
func (r *Service) Keep(ctx context.Context, c *Condition, alert Alert, wrong, end bool, now time.Time) error {
	recent := now.Before(c.raised.Add(alert.Lasts/2)) && !now.Before(c.raised)
	if wrong && recent || !wrong && (c.ended || !end) {
		return nil
	}
	var found bool
	if err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		alert.Account, found, err = person.FirstAccount(tx)
		return err
	}); err != nil || !found {
		return err
	}
	err := r.DB.WriteOf(ctx, alert.Account, func(tx *db.Tx) error {
		if wrong {
			return r.Raise(tx, alert, now)
		}
		return r.End(tx, alert.Account, alert.Key, now)
	})
	if err != nil {
		return err
	}
	c.raised = time.Time{}
	c.ended = !wrong
	if wrong {
		c.raised = now
	}
	return nil
}

// Again lets Keep raise the alert although it was raised recently, because it is more severe now.
func (c *Condition) Again() { c.raised = time.Time{} }
