package jobs

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"tocsin/internal/platform/fair"
)

var now = time.Unix(1776052800, 0)

// rounds drives a RoundRobin whose rounds end when the test releases them.
type rounds struct {
	*testing.T
	*RoundRobin
	woken   <-chan struct{}
	begun   chan *Round
	release map[int64]chan error // by account: how its round in progress ends
}

func newRounds(t *testing.T) *rounds {
	wake := NewSignal()
	r := &rounds{
		T: t, RoundRobin: NewRoundRobin(wake, nil, nil), woken: wake.C(), begun: make(chan *Round, 1000),
		release: map[int64]chan error{},
	}
	return r
}

// begin starts rounds for these accounts and returns those that began. do runs at the end of each round; it may be nil.
func (r *rounds) begin(do func(*Round), n int, accounts ...int64) map[int64]*Round {
	r.Helper()
	release := map[int64]chan error{}
	for _, account := range accounts {
		release[account] = make(chan error, 1)
	}
	err := r.Begin(r.Context(), now, append([]int64(nil), accounts...), func(own *Round) error {
		r.begun <- own
		err := <-release[own.Account]
		if do != nil {
			do(own)
		}
		return err
	})
	if err != nil {
		r.Errorf("Begin: %v", err)
	}
	began := map[int64]*Round{}
	for range n {
		own := <-r.begun
		began[own.Account], r.release[own.Account] = own, release[own.Account]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.busy) != len(r.release) {
		r.Fatalf("%d rounds are in progress, want %d", len(r.busy), len(r.release))
	}
	return began
}

// end ends the round of an account and waits until its goroutine is free.
func (r *rounds) end(account int64, err error) {
	r.Helper()
	r.release[account] <- err
	delete(r.release, account)
	<-r.woken
}

// endAll ends all rounds in progress.
func (r *rounds) endAll() {
	for account := range r.release {
		r.end(account, nil)
	}
}

// TestAccountsTakeTurns ends rounds in random order, with three times as many accounts as goroutines. The next round
// must always be of the account, among those without one, whose last round began first.
func TestAccountsTakeTurns(t *testing.T) {
	r, random := newRounds(t), rand.New(rand.NewPCG(1, 2))
	var accounts []int64
	for n := range 3 * maxTurns {
		accounts = append(accounts, int64(n))
	}
	last := map[int64]int{}
	count := map[int64]int{}
	order := 0 // of each account: the order of its last round; its rounds
	r.begin(nil, maxTurns, accounts...)
	for _, account := range accounts[:maxTurns] { // the first have begun in the order of the list
		if r.release[account] == nil {
			t.Fatalf("account %d did not begin", account)
		}
		order++
		last[account] = order
		count[account]++
	}
	for range 2000 {
		var running []int64
		for _, account := range accounts {
			if r.release[account] != nil {
				running = append(running, account)
			}
		}
		r.end(running[random.IntN(len(running))], nil)
		want := int64(-1)
		for _, account := range accounts {
			if r.release[account] == nil && (want < 0 || last[account] < last[want]) {
				want = account
			}
		}
		for account := range r.begin(nil, 1, accounts...) {
			if account != want {
				t.Fatalf("round %d is of account %d, want %d", order, account, want)
			}
			order++
			last[account] = order
			count[account]++
		}
	}
	for _, account := range accounts {
		if count[account] < 2000/len(accounts)/2 {
			t.Errorf("account %d had %d rounds of %d", account, count[account], order)
		}
	}
	r.endAll()
}

func TestAccountHasOneRoundAtOnce(t *testing.T) {
	r := newRounds(t)
	r.begin(nil, 1, 7)
	r.begin(nil, 0, 7)
	r.begin(nil, 1, 7, 8, 7)
	r.end(8, nil)
	r.end(7, nil)
	r.begin(nil, 1, 7)
	r.endAll()
}

// TestRoundThatNeverEndsBlocksNoOther: a round that hangs keeps one goroutine; the other accounts have their rounds.
func TestRoundThatNeverEndsBlocksNoOther(t *testing.T) {
	r := newRounds(t)
	r.begin(nil, 1, 7)
	for range 20 {
		for account := range r.begin(nil, 2, 7, 8, 9) {
			if account == 7 {
				t.Fatal("a second round of the account that hangs")
			}
			r.end(account, nil)
		}
	}
	r.endAll()
}

// TestExpensiveAccountsShareOneGoroutine: after an expensive round, an account has its next one when no other expensive
// account has one. The other accounts are not held up, and a cheap round makes an account one of them again.
func TestExpensiveAccountsShareOneGoroutine(t *testing.T) {
	r := newRounds(t)
	expensive := func(own *Round) { own.Expensive = own.Account < 10 }
	r.begin(expensive, 4, 1, 2, 3, 20)
	r.endAll()
	seen := map[int64]bool{}
	for range 3 {
		began := r.begin(expensive, 1, 1, 2, 3)
		for account, own := range began {
			if own.GoesOn() {
				t.Error("an expensive round may continue while others wait for its goroutine")
			}
			if cheap := r.begin(expensive, 2, 1, 2, 3, 20, 21); !cheap[20].GoesOn() || cheap[21] == nil {
				t.Error("a cheap round must end although no account waits for its goroutine")
			}
			seen[account] = true
		}
		r.endAll()
	}
	if len(seen) != 3 {
		t.Errorf("three rounds in turn were those of %v", seen)
	}
	for account := range r.begin(nil, 1, 1, 2, 3) { // a cheap round
		r.end(account, nil)
		if began := r.begin(nil, 2, 1, 2, 3); began[account] == nil {
			t.Errorf("account %d is still expensive after a cheap round", account)
		}
		r.endAll()
	}
}

// TestRoundsContinueWhileNoAccountWaits: a round may continue until an account waits for its goroutine.
func TestRoundsContinueWhileNoAccountWaits(t *testing.T) {
	r := newRounds(t)
	var accounts []int64
	for n := range maxTurns {
		accounts = append(accounts, int64(n))
	}
	own := r.begin(nil, maxTurns, accounts...)[0]
	if !own.GoesOn() {
		t.Error("the round must end although no account waits")
	}
	r.begin(nil, 0, append(accounts, 1000)...)
	if own.GoesOn() {
		t.Error("the round may continue although an account waits")
	}
	r.begin(nil, 0, accounts...)
	if !own.GoesOn() {
		t.Error("the round must end although the account no longer waits")
	}
	r.endAll()
}

// TestFailuresRest: an account rests for a second after a round that failed or panicked, or that postponed a part.
func TestFailuresRest(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		do    func(*Round) error
		after int64
		fails bool
	}{
		"succeeds":                {func(*Round) error { return nil }, 0, false},
		"fails":                   {func(*Round) error { return broken }, math.MaxInt64, true},
		"panics":                  {func(*Round) error { panic(broken) }, math.MaxInt64, true},
		"postpones a part":        {func(own *Round) error { own.Rest(12); return nil }, 12, false},
		"postpones it, and fails": {func(own *Round) error { own.Rest(12); return broken }, 12, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRoundRobin(nil, nil, nil)
			if err := r.Begin(t.Context(), now, []int64{7}, c.do); err != nil {
				t.Error(err)
			}
			r.Wait()
			rest := now.Add(time.Second)
			if after := r.After(7, now); after != c.after || r.After(8, now) != 0 {
				t.Errorf("postponed up to %d, want %d", after, c.after)
			}
			if again := r.Again(now); again.IsZero() != (c.after == 0) || c.after > 0 && !again.Equal(rest) {
				t.Errorf("retried at %v, want %v", again, rest)
			}
			if err := r.Begin(t.Context(), now, nil, nil); (err != nil) != c.fails {
				t.Errorf("Begin returned %v", err)
			}
			if err := r.Begin(t.Context(), now, nil, nil); err != nil {
				t.Errorf("Begin returned the error twice: %v", err)
			}
			if after, again := r.After(7, rest), r.Again(rest); after != 0 || !again.IsZero() {
				t.Errorf("after a second: postponed up to %d, until %v", after, again)
			}
		})
	}
}

// TestClockThatIsSetBackDoesNotProlongRest: a rest ends when it would last longer than a second.
func TestClockThatIsSetBackDoesNotProlongRest(t *testing.T) {
	r := NewRoundRobin(nil, nil, nil)
	(&Round{Account: 7, Now: now, turns: r}).Rest(12)
	if after := r.After(7, now.Add(-time.Hour)); after != 0 {
		t.Errorf("postponed up to %d an hour before", after)
	}
}

// TestRoundsGiveWay: while other work goes first, an account pauses as long as its round took, and another may have the goroutine.
func TestRoundsGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const took = 40 * time.Millisecond
		wake := NewSignal()
		r := NewRoundRobin(wake, nil, func() bool { return true })
		var ended time.Time
		err := r.Begin(t.Context(), now, []int64{7}, func(*Round) error {
			time.Sleep(took) // only the length of the round counts
			ended = time.Now()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		<-wake.C()
		r.mu.Lock()
		if n := r.inUse[false]; n != 0 {
			t.Errorf("%d goroutines are in use in the pause", n)
		}
		r.mu.Unlock()
		r.Wait()
		if pause := time.Since(ended); pause != took {
			t.Errorf("the account had its next turn after %v, want %v", pause, took)
		}
	})
}

// TestRoundsPauseForTheirOwnWork: an account that works much more than others pauses after a round, for the time that the
// round took without what it waited for to be written.
func TestRoundsPauseForTheirOwnWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, waits := range []bool{false, true} {
			m, at := fair.NewMeter(), time.Now()
			for ago := 5 * time.Second; ago >= 0; ago -= 1010 * time.Millisecond { // both have been at work for a while
				m.Worked(7, time.Millisecond, at.Add(-ago))
				m.Worked(8, time.Millisecond, at.Add(-ago))
			}
			r := NewRoundRobin(NewSignal(), m, nil)
			var ended time.Time
			if err := r.Begin(t.Context(), now, []int64{7}, func(own *Round) error {
				began := time.Now()
				time.Sleep(300 * time.Millisecond) // only the length of the round counts
				if waits {
					fair.Waited(own.Ctx, time.Since(began))
				}
				ended = time.Now()
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			r.Wait()
			if paused := time.Since(ended) > 700*time.Millisecond; paused == waits {
				t.Errorf("waits: %t, paused: %t", waits, paused)
			}
		}
	})
}

// TestRoundsOfStartedJobsHaveBeats: what goes on of an account waits for the next beat, unless a round filled its transaction.
// Jobs that are not started have none.
func TestRoundsOfStartedJobsHaveBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := context.WithValue(t.Context(), pacedKey{}, true)
		for _, c := range []struct {
			ctx  context.Context
			full bool
			want time.Duration
		}{{started, false, beat}, {started, true, 7 * time.Millisecond}, {t.Context(), false, 7 * time.Millisecond}} {
			r, began := NewRoundRobin(NewSignal(), nil, nil), time.Now().Truncate(beat).Add(beat)
			time.Sleep(time.Until(began))
			if err := r.Begin(c.ctx, now, []int64{7}, func(own *Round) error {
				own.Full = c.full
				time.Sleep(7 * time.Millisecond) // only the length of the round counts
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			r.Wait()
			if got := time.Since(began); got != c.want {
				t.Errorf("full: %t: the account is free after %v, want %v", c.full, got, c.want)
			}
		}
	})
}

// TestRoundsThatStopReportNothing: an error after the context has ended is that of a program that stops.
func TestRoundsThatStopReportNothing(t *testing.T) {
	r := NewRoundRobin(nil, nil, nil)
	ctx, stop := context.WithCancel(t.Context())
	err := r.Begin(ctx, now, []int64{7}, func(own *Round) error {
		stop()
		if own.GoesOn() {
			t.Error("the round may continue although the program stops")
		}
		return own.Ctx.Err()
	})
	r.Wait()
	if failed := r.Failed(); err != nil || failed != nil || r.After(7, now) != 0 {
		t.Errorf("%v, %v", err, failed)
	}
}

// Accounts that are left over reach the next run of the job through its signal: one that is busy when it is to begin, one
// that finds no goroutine, and one that has more work.
func TestAccountsThatAreLeftOverBeginLater(t *testing.T) {
	r := newRounds(t)
	accounts := func() map[int64]bool {
		found, all := r.wake.Accounts(context.WithValue(t.Context(), wokenKey{}, true))
		if all {
			t.Error("all accounts are looked for")
		}
		set := map[int64]bool{}
		for _, account := range found {
			set[account] = true
		}
		return set
	}
	r.begin(func(own *Round) { own.More = own.Account == 2 }, 2, 1, 2)
	r.begin(nil, 0, 1)
	if got := accounts(); len(got) > 0 {
		t.Errorf("%v while their rounds are in progress", got)
	}
	r.end(1, nil)
	if got := accounts(); len(got) != 1 || !got[1] {
		t.Errorf("%v, want the account that was to begin while it was busy", got)
	}
	r.end(2, nil)
	if got := accounts(); len(got) != 1 || !got[2] {
		t.Errorf("%v, want the account with more work", got)
	}
	var many []int64
	for n := range maxTurns + 3 {
		many = append(many, int64(10+n))
	}
	began := r.begin(nil, maxTurns, many...)
	left := accounts()
	if len(left) != 3 {
		t.Errorf("%d accounts are left over, want 3", len(left))
	}
	for account := range left {
		if began[account] != nil {
			t.Errorf("account %d has a round", account)
		}
	}
	r.endAll()
}

// TestAccountIsLeftToAnotherProcess: an account of which another process has done many rows is left to it for a moment; a
// few rows are no reason, and a rest that is longer stays.
func TestAccountIsLeftToAnotherProcess(t *testing.T) {
	r := NewRoundRobin(nil, nil, nil)
	(&Round{Account: 7, Now: now, turns: r}).Missed(few)
	if after := r.After(7, now); after != 0 {
		t.Errorf("postponed up to %d after a few rows", after)
	}
	(&Round{Account: 7, Now: now, turns: r}).Missed(few + 1)
	if after, again := r.After(7, now), r.Again(now); after != math.MaxInt64 || !again.Equal(now.Add(leave)) {
		t.Errorf("postponed up to %d, until %v", after, again)
	}
	if after := r.After(7, now.Add(leave)); after != 0 {
		t.Errorf("postponed up to %d after that", after)
	}
	for n, want := range []time.Duration{2 * leave, 4 * leave, 8 * leave, putOff, putOff} {
		r.run(&Round{Ctx: t.Context(), Account: 7, Now: now.Add(time.Hour), turns: r}, func(own *Round) error { own.Missed(100); return nil })
		if again := r.Again(now.Add(time.Hour)); !again.Equal(now.Add(time.Hour + want)) {
			t.Errorf("missed %d times more: left until %v, want %v", n+1, again, now.Add(time.Hour+want))
		}
		delete(r.rests, 7)
	}
	r.run(&Round{Ctx: t.Context(), Account: 7, Now: now, turns: r}, func(*Round) error { return nil })
	(&Round{Account: 7, Now: now, turns: r}).Missed(100)
	if again := r.Again(now); !again.Equal(now.Add(leave)) {
		t.Errorf("after a round that was not missed: left until %v", again)
	}
	failed := &Round{Account: 8, Now: now, turns: r}
	failed.Rest(12)
	failed.Missed(100)
	if after := r.After(8, now); after != 12 {
		t.Errorf("postponed up to %d, want 12", after)
	}
}
