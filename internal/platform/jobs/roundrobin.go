package jobs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// RoundRobin divides one kind of work fairly among accounts. Each account that waits has its rounds on a goroutine of
// its own, never two at once. The account whose last round is longest ago is first. Accounts whose last round was
// expensive share one goroutine: however many there are, and whatever they have configured, they use no more than one
// processor.
type RoundRobin struct {
	mu      sync.Mutex
	running sync.WaitGroup
	wake    *Signal         // raised when a round has ended: another may begin
	order   int64           // how many rounds have begun
	began   map[int64]int64 // by account: the order in which its last round began
	busy    map[int64]bool  // accounts with a round in progress
	dear    map[int64]bool  // accounts whose last round was expensive
	rests   map[int64]rest  // accounts with work that failed
	inUse   map[bool]int    // goroutines in use, for expensive accounts and for the others
	crowded map[bool]bool   // whether an account waits for such a goroutine
	errs    []error         // of rounds that have ended since the last call of Begin
}

// rest postpones work that failed: nothing numbered up to after is retried before until. The kind of work defines the
// numbers.
type rest struct {
	until time.Time
	after int64
}

// putOff is how long an account rests after a round that failed.
const putOff = time.Second

// maxTurns is how many rounds run at once, beside the expensive one. Their reads are short, so they wait for the
// processors only.
var maxTurns = 8 * runtime.NumCPU()

// NewRoundRobin returns a round robin without rounds in progress. wake is raised when a round has ended: the job then
// calls Begin again.
func NewRoundRobin(wake *Signal) *RoundRobin {
	return &RoundRobin{
		wake: wake, began: map[int64]int64{}, busy: map[int64]bool{}, dear: map[int64]bool{}, rests: map[int64]rest{},
		inUse: map[bool]int{}, crowded: map[bool]bool{},
	}
}

// Wait waits for the rounds in progress.
func (t *RoundRobin) Wait() { t.running.Wait() }

// Round is a share of the work for one account.
type Round struct {
	Ctx       context.Context
	Account   int64
	Now       time.Time
	Expensive bool // the round was expensive; set by the function that does the work
	turns     *RoundRobin
	among     bool // the round has the goroutine of expensive accounts
}

// Begin starts a round for each account that waits, as far as goroutines are free, and returns without waiting for
// their ends. An account that is left over has its round after another one has ended. The error joins those of the
// rounds that have ended since the last call. Begin sorts waiting.
func (t *RoundRobin) Begin(ctx context.Context, now time.Time, waiting []int64, do func(*Round) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.SortStableFunc(waiting, func(a, b int64) int { return int(t.began[a] - t.began[b]) })
	clear(t.crowded)
	for _, account := range waiting {
		dear := t.dear[account]
		limit := maxTurns
		if dear {
			limit = 1
		}
		switch {
		case t.busy[account]:
		case t.inUse[dear] == limit:
			t.crowded[dear] = true
		default:
			t.order++
			t.busy[account], t.began[account] = true, t.order
			t.inUse[dear]++
			t.running.Go(func() { t.run(&Round{Ctx: ctx, Account: account, Now: now, turns: t, among: dear}, do) })
		}
	}
	if len(t.busy) == 0 { // no account waits: the order of past rounds does not matter, and the map must not grow
		clear(t.began)
	}
	return t.failed()
}

// failed returns the errors of rounds since its last call.
func (t *RoundRobin) failed() error {
	err := errors.Join(t.errs...)
	t.errs = nil
	return err
}

// Failed returns the errors of rounds since the last call of Begin or Failed, for tests.
func (t *RoundRobin) Failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed()
}

// run runs a round and releases its goroutine. A round that failed rests, unless it has postponed its work itself.
func (t *RoundRobin) run(own *Round, do func(*Round) error) {
	err := guarded(own, do)
	t.mu.Lock()
	delete(t.busy, own.Account)
	t.inUse[own.among]--
	delete(t.dear, own.Account)
	if own.Expensive {
		t.dear[own.Account] = true
	}
	if err != nil && own.Ctx.Err() == nil {
		t.errs = append(t.errs, err)
		if r := t.rests[own.Account]; !r.until.After(own.Now) { // else it would fail again at once, in a busy loop
			t.rests[own.Account] = rest{own.Now.Add(putOff), math.MaxInt64}
		}
	}
	t.mu.Unlock()
	t.wake.Raise()
}

// guarded returns a panic of the work as an error.
func guarded(own *Round, do func(*Round) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do(own)
}

// GoesOn reports whether the round may continue: no other account waits for its goroutine, and the program does not stop.
func (t *Round) GoesOn() bool {
	t.turns.mu.Lock()
	defer t.turns.mu.Unlock()
	return t.Ctx.Err() == nil && !t.turns.crowded[t.among]
}

// Rest postpones the work numbered up to after, which failed.
func (t *Round) Rest(after int64) {
	t.turns.mu.Lock()
	defer t.turns.mu.Unlock()
	t.turns.rests[t.Account] = rest{t.Now.Add(putOff), after}
}

// After returns the number up to which an account's work is postponed; 0: none is.
func (t *RoundRobin) After(account int64, now time.Time) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.rests[account]
	if r.until.After(now) && r.until.Sub(now) <= putOff { // a clock that was set back must not prolong a rest
		return r.after
	}
	delete(t.rests, account)
	return 0
}

// Again returns when the first postponed work is retried; zero: none is postponed.
func (t *RoundRobin) Again(now time.Time) (first time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for account, r := range t.rests {
		switch {
		case !r.until.After(now):
			delete(t.rests, account)
		case first.IsZero() || r.until.Before(first):
			first = r.until
		}
	}
	return first
}
