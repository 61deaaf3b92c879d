package insight

import (
	"context"
	"runtime"
	"sync"
)

// atOnce returns how many accounts compute figures at the same time. Half of the processors and most connections stay free
// for calls that take a millisecond, and for notifications.
func atOnce() int { return max(1, runtime.NumCPU()/2) }

// gate lets one call of an account compute at a time, so that an account with much history delays its own calls only.
type gate struct {
	all      chan struct{}
	mu       *sync.Mutex
	accounts map[int64]*turn
}

// turn is held by the call of an account that computes.
type turn struct {
	held  chan struct{}
	users int // that hold it or wait for it; the account is forgotten after the last
}

func newGate(size int) gate {
	return gate{all: make(chan struct{}, size), mu: &sync.Mutex{}, accounts: map[int64]*turn{}}
}

// enter waits for the turn of an account. The caller must call leave afterwards.
func (g gate) enter(ctx context.Context, account int64) (leave func(), err error) {
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
	return func() {
		<-g.all
		<-t.held
		forget()
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
