package jobs

import (
	"context"
	"sync"
)

// Signal wakes the job that waits for it. It is made before the job and before those who raise it, so that all of them
// get it when they are constructed. It is kept until the job runs, so that none raised in between is lost. A nil Signal
// can be raised, and wakes no job.
type Signal struct {
	raised   chan struct{}
	mu       sync.Mutex
	accounts map[int64]bool // with work
	any      bool           // or anything else
}

// NewSignal returns a signal that is not raised.
func NewSignal() *Signal {
	return &Signal{raised: make(chan struct{}, 1), accounts: map[int64]bool{}}
}

// Raise wakes the job, after a row was committed that is due at once. It never blocks; raised twice is raised once.
func (s *Signal) Raise() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.any = true
	s.mu.Unlock()
	s.rouse()
}

// RaiseFor is Raise for rows of one account. A job that asks for these accounts need not look for due rows of all.
func (s *Signal) RaiseFor(account int64) {
	if s == nil {
		return
	}
	s.keep(account)
	s.rouse()
}

// keep adds an account to those of the signal, and wakes no job.
func (s *Signal) keep(account int64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accounts[account] = true
}

// rouse wakes the job without further work.
func (s *Signal) rouse() {
	if s == nil {
		return
	}
	select {
	case s.raised <- struct{}{}:
	default: // it is raised already
	}
}

// C receives once for each time the signal was raised, and clears it.
func (s *Signal) C() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.raised
}

// Accounts returns for which accounts the signal was raised since the last call. all: other rows may be due too, or the run
// was not caused by the signal; the job must then look for due rows by itself.
func (s *Signal) Accounts(ctx context.Context) (accounts []int64, all bool) {
	woken, _ := ctx.Value(wokenKey{}).(bool)
	if s == nil {
		return nil, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for account := range s.accounts {
		accounts = append(accounts, account)
	}
	all = s.any || !woken
	s.any = false
	clear(s.accounts)
	return accounts, all
}

// wokenKey marks the context of a run that a signal has caused, before the time at which the job would have run without it.
type wokenKey struct{}
