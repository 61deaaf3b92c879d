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

// RoundRobin lets accounts take turns in one kind of work. Each account that waits has its turn on a goroutine of its own,
// never two at once, the one that had none for longest first. An account whose last turn cost much shares one goroutine
// with the others of its kind: however many there are, and whatever they have configured, they take no more than one
// processor from the rest.
type RoundRobin struct {
	mu      sync.Mutex
	running sync.WaitGroup
	wake    *Signal         // raised when a turn has ended and there may be another
	order   int64           // counts the turns that have begun
	began   map[int64]int64 // by account: when its last turn began, in that order
	busy    map[int64]bool  // accounts whose turn it is
	dear    map[int64]bool  // accounts whose last turn cost much
	rests   map[int64]rest  // accounts with something that failed
	inUse   map[bool]int    // goroutines by whether they are those of dear accounts
	crowded map[bool]bool   // whether an account waits for one
	errs    []error         // of turns, since Begin was last called
}

// rest puts off what failed: nothing up to after (as its kind of work numbers it) is tried again before until.
type rest struct {
	until time.Time
	after int64
}

// putOff is how long an account rests after a turn that failed.
const putOff = time.Second

// maxTurns is how many accounts have their turn at once, beside the dear ones. Their reads are short, so they queue for
// the processors only.
var maxTurns = 8 * runtime.NumCPU()

// NewRoundRobin returns turns of which none has begun. The signal is raised when a turn has ended: the job is to call
// Begin again.
func NewRoundRobin(wake *Signal) *RoundRobin {
	return &RoundRobin{wake: wake, began: map[int64]int64{}, busy: map[int64]bool{}, dear: map[int64]bool{}, rests: map[int64]rest{}, inUse: map[bool]int{}, crowded: map[bool]bool{}}
}

// Wait waits for the turns that have begun.
func (t *RoundRobin) Wait() { t.running.Wait() }

// Round is one account's.
type Round struct {
	Ctx     context.Context
	Account int64
	Now     time.Time
	Dear    bool // it has cost much; set by what it does
	turns   *RoundRobin
	among   bool // it has a goroutine of the dear ones
}

// Begin gives the accounts that wait their turns, as far as there are goroutines for them. It does not wait for their
// ends: an account that is left over has its turn when another's ends. The error is that of turns which have ended since
// the last call.
func (t *RoundRobin) Begin(ctx context.Context, now time.Time, waiting []int64, do func(*Round) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.SortStableFunc(waiting, func(a, b int64) int { return int(t.began[a] - t.began[b]) })
	clear(t.crowded)
	for _, account := range waiting {
		dear := t.dear[account]
		most := maxTurns
		if dear {
			most = 1
		}
		switch {
		case t.busy[account]:
		case t.inUse[dear] == most:
			t.crowded[dear] = true
		default:
			t.order++
			t.busy[account], t.began[account] = true, t.order
			t.inUse[dear]++
			t.running.Go(func() { t.run(&Round{Ctx: ctx, Account: account, Now: now, turns: t, among: dear}, do) })
		}
	}
	if len(t.busy) == 0 { // nobody waits: who was before whom is no matter any more
		clear(t.began)
	}
	return t.failed()
}

// failed gives what turns failed with since it was last called.
func (t *RoundRobin) failed() error {
	err := errors.Join(t.errs...)
	t.errs = nil
	return err
}

// Failed gives what turns failed with since Begin or Failed was last called, for tests.
func (t *RoundRobin) Failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed()
}

func (t *RoundRobin) run(own *Round, do func(*Round) error) {
	err := guarded(own, do)
	t.mu.Lock()
	delete(t.busy, own.Account)
	t.inUse[own.among]--
	if t.dear[own.Account] = own.Dear; !own.Dear {
		delete(t.dear, own.Account)
	}
	if err != nil && own.Ctx.Err() == nil {
		t.errs = append(t.errs, err)
		if r := t.rests[own.Account]; !r.until.After(own.Now) { // not again at once
			t.rests[own.Account] = rest{own.Now.Add(putOff), math.MaxInt64}
		}
	}
	t.mu.Unlock()
	t.wake.Raise()
}

func guarded(own *Round, do func(*Round) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do(own)
}

// GoesOn reports whether the turn may go on although it has had its share: nobody waits for it.
func (t *Round) GoesOn() bool {
	t.turns.mu.Lock()
	defer t.turns.mu.Unlock()
	return t.Ctx.Err() == nil && !t.turns.crowded[t.among]
}

// Rest puts off what failed, and all before it.
func (t *Round) Rest(after int64) {
	t.turns.mu.Lock()
	defer t.turns.mu.Unlock()
	t.turns.rests[t.Account] = rest{t.Now.Add(putOff), after}
}

// After is up to where an account's work is put off; 0: it is not.
func (t *RoundRobin) After(account int64, now time.Time) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.rests[account]
	if r.until.After(now) && r.until.Sub(now) <= putOff { // whatever the clock does
		return r.after
	}
	delete(t.rests, account)
	return 0
}

// Again is when the first of what was put off is tried again; zero: nothing is put off.
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
