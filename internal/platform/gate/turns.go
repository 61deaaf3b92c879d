package gate

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// Turns limits how much of one account is computed at a time while other accounts are at work: a few calls as long as they
// are quick, and one when they take long, followed by a rest three times as long. Until calls were quick there is one at a
// time. So an account keeps no more than a quarter of one processor busy for long, unless its calls take seconds: a rest lasts
// four at most. It pauses for its other work too, after a quick call only for a moment: a person who looks at what
// burns must not wait for all that the account does meanwhile. An account that is alone is not limited. A nil *Turns limits
// no one.
type Turns struct {
	meter *Meter
	now   func() time.Time
	after func(time.Duration, func()) // runs a function later, on another goroutine

	mu       sync.Mutex
	accounts map[int64]*share
	company  Company
}

// share is what an account has in progress.
type share struct {
	running int           // or rest
	waiting []waiter      // in order of arrival
	had     map[int64]int // by key: the number of its last turn, while any waits
	turns   int
	long    time.Duration // how long its calls take: a long one counts at once, and quick ones let it fall
	quick   int           // how many quick calls there were since the last long one, up to mostTurns
}

// waiter waits for a turn.
type waiter struct {
	key  int64
	turn chan struct{}
}

const (
	mostTurns = 8                      // of an account at a time
	quick     = 5 * time.Millisecond   // calls that take no longer may all have their turns
	rests     = 3                      // times as long as a long call, also of a Pace
	maxRest   = longestPause           // after a long call
	quickRest = 100 * time.Millisecond // at most, after a quick one
	decay     = 16                     // a quick call lets long fall by this part of it
	remembers = 10_000                 // accounts
)

// NewTurns returns turns that measure calls by a clock.
func NewTurns(m *Meter, now func() time.Time) *Turns {
	return &Turns{meter: m, now: now, after: func(d time.Duration, do func()) { time.AfterFunc(d, do) }, accounts: map[int64]*share{}}
}

// Enter waits until an account may compute. Its keys take turns: those who use one do not wait for all who use another. The
// caller must call leave afterwards, and must not enter again before.
func (t *Turns) Enter(ctx context.Context, account, key int64) (leave func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	t.mu.Lock()
	began := t.now()
	s := t.accounts[account]
	if s == nil {
		t.forget()
		s = &share{}
		t.accounts[account] = s
	}
	alone := t.company.Alone(account, began)
	if alone || len(s.waiting) == 0 && s.running < s.limit() {
		s.running++
		s.note(key)
		t.mu.Unlock()
		return func() { t.leave(account, s, began) }, nil
	}
	turn := make(chan struct{})
	s.waiting = append(s.waiting, waiter{key, turn})
	t.mu.Unlock()
	select {
	case <-turn:
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		if n := slices.Index(s.waiting, waiter{key, turn}); n >= 0 {
			s.waiting = slices.Delete(s.waiting, n, n+1)
			return nil, ctx.Err()
		}
	}
	began = t.now()
	return func() { t.leave(account, s, began) }, nil
}

// limit returns how many calls of the account may compute at a time.
func (s *share) limit() int {
	if s.long > quick {
		return max(1, int(mostTurns*quick/s.long))
	}
	return min(mostTurns, 1+s.quick)
}

// leave ends a turn that began at a moment. A long one is followed by a rest.
func (t *Turns) leave(account int64, s *share, began time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ended := t.now()
	took := ended.Sub(began)
	rest := t.meter.Worked(account, took, ended)
	s.long = max(took, s.long-s.long/decay)
	if took <= quick {
		s.quick = min(mostTurns, s.quick+1)
		rest = min(rest, quickRest)
	} else {
		s.quick = 0
		rest = min(max(rest, rests*took), maxRest)
	}
	if rest == 0 {
		s.pass()
		return
	}
	t.after(rest, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		s.pass()
	})
}

// note notes the turn of a key.
func (s *share) note(key int64) {
	if s.had == nil {
		s.had = map[int64]int{}
	}
	s.turns++
	s.had[key] = s.turns
}

// pass ends a turn and passes on those that are free, to the key whose last turn is longest ago.
func (s *share) pass() {
	for s.running--; len(s.waiting) > 0 && s.running < s.limit(); s.running++ {
		first := slices.MinFunc(s.waiting, func(a, b waiter) int { return cmp.Compare(s.had[a.key], s.had[b.key]) })
		s.note(first.key)
		close(first.turn)
		s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool { return w == first })
	}
	if len(s.waiting) == 0 {
		clear(s.had)
	}
}

// forget drops the accounts that have nothing in progress when there are many.
func (t *Turns) forget() {
	if len(t.accounts) < remembers {
		return
	}
	for account, s := range t.accounts {
		if s.running == 0 && len(s.waiting) == 0 {
			delete(t.accounts, account)
		}
	}
}
