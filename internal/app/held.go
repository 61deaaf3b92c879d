package app

import (
	"context"
	"net/http"
	"os"

	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/hold"
)

// openGate decides whether the server may send, and logs when it must not.
func (a *App) openGate(ctx context.Context) (err error) {
	if a.Release {
		if _, err := Release(ctx, a.DB, a.Clock); err != nil {
			return err
		}
	}
	a.Gate, err = hold.Open(ctx, a.DB, host(), a.Hold, a.Clock.Now())
	if err == nil && a.Gate.Reason() != "" {
		a.Log.Warn("the server is held: it takes events and answers, and sends nothing until tocsin release", "reason", a.Gate.Reason())
	}
	return err
}

// Release permits the server on a database to send. It returns why it was held; empty: it was not. The modules settle
// what waited and must not be sent any more.
func Release(ctx context.Context, d *db.DB, c clock.Clock) (reason string, err error) {
	err = d.Write(ctx, func(tx *db.Tx) error {
		was, err := hold.Release(ctx, tx, d, host())
		reason = was.Reason
		if err != nil || reason == "" {
			return err
		}
		for _, m := range offline(Config{Clock: c}).Modules {
			if m.Release == nil {
				continue
			}
			if err := m.Release(tx, c.Now()); err != nil {
				return err
			}
		}
		return nil
	})
	return reason, err
}

// host returns the name of this machine.
func host() string {
	name, err := os.Hostname()
	if err != nil {
		return "an unknown host"
	}
	return name
}

// showHeld adds a header with the reason to every reply of a held server.
func (a *App) showHeld(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.Gate.Reason() != "" {
			w.Header().Set("Tocsin-Held", "nothing is sent until tocsin release")
		}
		next.ServeHTTP(w, r)
	})
}
