package jobs

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/fault"
)

// RoundRobin divides one kind of work fairly among accounts. Each account that waits has its rounds on a goroutine of
// its own, never two at once. The account whose last round is longest ago is first. Accounts whose last round was
// expensive share one goroutine: however many there are, and whatever they have configured, they use no more than one
// processor. Nor do the rounds of one account follow each other without a pause for long, unless it is alone: see fair.Meter.
type RoundRobin struct {
	mu      sync.Mutex
	running sync.WaitGroup
	wake    *Signal         // raised when a round has ended: another may begin
	order   int64           // how many rounds have begun
	began   map[int64]int64 // by account: the order in which its last round began
	busy    map[int64]bool  // accounts with a round in progress; true: they wait for another one
	dear    map[int64]bool  // accounts whose last round was expensive
	rests   map[int64]rest  // accounts with work that failed
	missed  map[int64]int   // how many rounds in a row another process was faster
	inUse   map[bool]int    // goroutines in use, for expensive accounts and for the others
	crowded map[bool]bool   // whether an account waits for such a goroutine
	errs    []error         // of rounds that have ended since the last call of Begin
	meter   *fair.Meter
	first   func() bool // whether other work goes first; nil: none does
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

// maxPause bounds the pause that the meter returns: what a person looks at may take seconds, and must not delay the events of
// the account for as long.
const maxPause = time.Second

// maxGiven bounds the pause after a round while other work goes first.
const maxGiven = 100 * time.Millisecond

// NewRoundRobin returns a round robin without rounds in progress. wake is raised when a round has ended: the job then
// calls Begin again. While first reports true at the end of a round, its account pauses as long as the round took, at most
// 100 ms: callers wait for what goes first, and the rounds still take half of the time. nil: nothing goes first. The meter
// measures rounds without what they wait for to be written, which the database measures.
func NewRoundRobin(wake *Signal, m *fair.Meter, first func() bool) *RoundRobin {
	return &RoundRobin{
		wake: wake, began: map[int64]int64{}, busy: map[int64]bool{}, dear: map[int64]bool{}, rests: map[int64]rest{}, missed: map[int64]int{},
		inUse: map[bool]int{}, crowded: map[bool]bool{}, meter: m, first: first,
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
	More      bool // the account has more work that is due; set by the function too
	Full      bool // the work filled a transaction, so what is left waits for no beat; set by the function too
	turns     *RoundRobin
	missed    bool // another process was faster
	among     bool // the round has the goroutine of expensive accounts
}

// Begin starts a round for each account that waits, as far as goroutines are free, and returns without waiting for
// their ends. An account that is left over is one of the signal's when another round has ended. The error joins those of the
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
		_, busy := t.busy[account]
		switch {
		case busy:
			t.busy[account] = true
		case t.inUse[dear] == limit:
			t.crowded[dear] = true
			t.wake.keep(account)
		default:
			t.order++
			t.busy[account], t.began[account] = false, t.order
			t.inUse[dear]++
			t.running.Go(func() {
				t.run(&Round{Ctx: db.For(ctx, account), Account: account, Now: now, turns: t, among: dear}, do)
			})
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

// run runs a round and releases its goroutine, and after a pause if there must be one its account. A round that failed
// rests, unless it has postponed its work itself.
func (t *RoundRobin) run(own *Round, do func(*Round) error) {
	began := time.Now()
	var waited func() time.Duration
	own.Ctx, waited = fair.WithWaits(own.Ctx)
	err := fault.Guard(func() error { return do(own) })
	ended, pause := time.Now(), time.Duration(0)
	if t.first != nil && t.first() {
		pause = min(ended.Sub(began), maxGiven)
	}
	if !own.Full {
		pause = max(pause, UntilBeat(own.Ctx))
	}
	t.mu.Lock()
	pause = max(pause, min(t.meter.Worked(own.Account, max(0, ended.Sub(began)-waited()), ended), maxPause))
	t.inUse[own.among]--
	delete(t.dear, own.Account)
	if own.Expensive {
		t.dear[own.Account] = true
	}
	if !own.missed {
		delete(t.missed, own.Account)
	}
	if err != nil && own.Ctx.Err() == nil {
		t.errs = append(t.errs, err)
		if r := t.rests[own.Account]; !r.until.After(own.Now) { // else it would fail again at once, in a busy loop
			t.rests[own.Account] = rest{own.Now.Add(putOff), math.MaxInt64}
		}
	}
	t.mu.Unlock()
	if pause > 0 {
		t.wake.rouse() // another account may use the goroutine
		sleep(own.Ctx, pause)
	}
	t.mu.Lock()
	if t.busy[own.Account] || own.More {
		t.wake.keep(own.Account)
	}
	delete(t.busy, own.Account)
	t.mu.Unlock()
	t.wake.rouse()
}

// GoesOn reports whether the round may continue: no other account waits for its goroutine, no other process does the work, and
// the program does not stop.
func (t *Round) GoesOn() bool {
	t.turns.mu.Lock()
	defer t.turns.mu.Unlock()
	return t.Ctx.Err() == nil && !t.missed && !t.turns.crowded[t.among]
}

// Rest postpones the work numbered up to after, which failed.
func (t *Round) Rest(after int64) {
	t.turns.mu.Lock()
	defer t.turns.mu.Unlock()
	t.turns.rests[t.Account] = rest{t.Now.Add(putOff), after}
}

// leave is how long this process first leaves an account to another process that does its work. few is how many rows must have
// been prepared in vain before that: looking at another account takes longer.
const (
	leave = 100 * time.Millisecond
	few   = 10

	maxDoubled = 4 // times: longer than putOff
)

// Missed records that another process handled all n prepared rows. After more than few rows the account is left to that process
// for a while: else each process would do the work of all. The time doubles each time in a row, up to a second, after which the
// other process may have ended.
func (t *Round) Missed(n int) {
	r := t.turns
	if r == nil { // the caller waits for these rows
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n <= few || !r.rests[t.Account].until.Before(t.Now) {
		return
	}
	r.rests[t.Account] = rest{t.Now.Add(min(leave<<r.missed[t.Account], putOff)), math.MaxInt64}
	t.missed = true
	r.missed[t.Account] = min(r.missed[t.Account]+1, maxDoubled)
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

// next is when the first row of an account is due, Unix seconds.
type next struct{ account, at int64 }

// due returns the accounts of which a row is due, without those whose work is postponed, and when the job is to run again
// because of the others; zero: there are none.
func (t *RoundRobin) due(all []next, now time.Time) (accounts []int64, again time.Time) {
	for _, n := range all {
		if n.at <= now.Unix() && t.After(n.account, now) == 0 {
			accounts = append(accounts, n.account)
		} else {
			again = Earlier(again, time.Unix(max(n.at, now.Unix()+1), 0))
		}
	}
	return accounts, Earlier(again, t.Again(now))
}

// Rounds returns the function of a job that begins rounds of all accounts that have rows. The query finds each of them, and when
// the first row is due, Unix seconds. An account with rows that are due at once comes with the signal, without the query.
func (t *RoundRobin) Rounds(d *db.DB, query string, do func(*Round) error) func(context.Context, time.Time) (time.Time, error) {
	return func(ctx context.Context, now time.Time) (again time.Time, err error) {
		waiting, all := t.wake.Accounts(ctx)
		if !all {
			waiting = slices.DeleteFunc(waiting, func(account int64) bool { return t.After(account, now) > 0 })
			return t.Again(now), t.Begin(ctx, now, waiting, do)
		}
		var rows []next
		err = d.Read(ctx, func(tx *db.Tx) (err error) {
			rows, err = db.All(tx, func(scan db.Scan) (n next, err error) { return n, scan(&n.account, &n.at) }, query)
			return err
		})
		if err != nil {
			return again, err
		}
		waiting, again = t.due(rows, now)
		return again, t.Begin(ctx, now, waiting, do)
	}
}

// Earlier returns the first of two moments; zero: none.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
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
