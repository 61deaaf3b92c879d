// Package gate limits how many calls compute at the same time, fairly among accounts.
//
// It must never let one account hold back another for longer than one call.
package gate

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Half returns the size for calls that compute for long: half of the processors and most connections stay free for
// calls that take a millisecond, and for notifications.
func Half() int { return max(1, runtime.NumCPU()/2) }

// Gate lets one call of an account compute at a time, and few calls in all, so that an account whose calls take long delays its
// own calls only. The account's next call starts after the pause that the meter returns.
type Gate struct {
	meter    *Meter
	all      chan struct{}
	mu       *sync.Mutex
	accounts map[int64]*turn
}

// turn is held by the call of an account that computes.
type turn struct {
	held  chan struct{} // until its account may compute again
	users int           // that hold it or wait for it; the account is forgotten after the last
}

// New returns a gate that so many accounts may pass at the same time.
func New(size int, m *Meter) Gate {
	return Gate{meter: m, all: make(chan struct{}, size), mu: &sync.Mutex{}, accounts: map[int64]*turn{}}
}

// Enter waits for the turn of an account. The caller must call leave afterwards.
func (g Gate) Enter(ctx context.Context, account int64) (leave func(), err error) {
	g.mu.Lock()
	t := g.accounts[account]
	if t == nil {
		t = &turn{held: make(chan struct{}, 1)}
		g.accounts[account] = t
	}
	t.users++
	g.mu.Unlock()
	forget := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(g.accounts, account)
		}
	}
	if err := take(ctx, t.held); err != nil {
		forget()
		return nil, err
	}
	if err := take(ctx, g.all); err != nil {
		<-t.held
		forget()
		return nil, err
	}
	began := g.meter.start()
	return func() {
		<-g.all
		end := func() {
			<-t.held
			forget()
		}
		if pause := g.meter.since(account, began); pause > 0 {
			time.AfterFunc(pause, end)
		} else {
			end()
		}
	}, nil
}

func take(ctx context.Context, from chan struct{}) error {
	select {
	case from <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
