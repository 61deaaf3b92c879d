// Package insight answers how an account's incidents were handled: figures by account, team, channel and person, the
// incidents that they are computed from, the alerts that come most often, and how often persons were notified
// (docs/insight.md). It stores nothing.
//
// It must never count what belongs to a private channel that the caller may not read, nor let one account's figures keep
// others waiting.
package insight

import (
	"context"

	"tocsin/internal/api"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fair"
)

// Service holds the dependencies of the operations.
type Service struct {
	DB    *db.DB // of exports, which read page by page
	seats *fair.Queue
}

// New returns the service.
func New(d *db.DB) *Service {
	return &Service{DB: d, seats: fair.NewQueue(fair.Long, d.Meter())}
}

// Module returns the package's operations.
func (s *Service) Module() module.Module {
	return module.Module{Name: "insight", Ops: s.Ops()}
}

// computed returns the Func of an operation that reads much: it waits for its turn before it takes a transaction.
func computed[In, Out any](s *Service, fn func(*api.Call, In) (Out, error)) api.Func {
	return api.DoAfter(func(c *api.Call, in In) (out Out, err error) {
		leave, err := s.seats.Enter(c.Ctx, fair.Of(c.Who.AccountID), 0)
		if err != nil {
			return out, err
		}
		defer leave()
		err = c.Read(func() (err error) {
			out, err = fn(c, in)
			return err
		})
		return out, err
	}, func(_ *api.Call, out Out) (Out, error) { return out, nil })
}

// read runs fn on one state of the database, when it is the account's turn.
func (s *Service) read(ctx context.Context, account int64, fn func(*db.Tx) error) error {
	leave, err := s.seats.Enter(ctx, fair.Of(account), 0)
	if err != nil {
		return err
	}
	defer leave()
	return s.DB.Snapshot(ctx, fn)
}
