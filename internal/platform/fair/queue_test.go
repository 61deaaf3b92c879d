package fair

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// moved is a queue with a clock that the test moves, at which accounts 1 and 2 have been at work for some seconds.
type moved struct {
	*testing.T
	*Queue
	now   time.Time
	rest  time.Duration // the last one
	rests []func()      // the ends of rests
}

func newMoved(t *testing.T, l Limits) *moved {
	x := &moved{T: t, now: now}
	x.Queue = NewQueue(l, NewMeter())
	x.Queue.now = func() time.Time { return x.now }
	x.after = func(d time.Duration, do func()) { x.rest, x.rests = d, append(x.rests, do) }
	x.work(time.Millisecond)
	return x
}

// work lets both accounts work for some seconds; the first for a time that is given, again and again.
func (x *moved) work(first time.Duration) {
	for range 200 {
		x.now = x.now.Add(20 * time.Millisecond)
		x.meter.Worked(2, time.Millisecond, x.now)
		x.meter.Worked(1, first, x.now)
	}
}

// enter enters as often as a flow may at once, n times at most, and returns the ends.
func (x *moved) enter(of Flow, n int) (ends []func()) {
	x.Helper()
	over, stop := context.WithCancel(x.Context())
	stop() // a call that would wait does not
	for range n {
		end, err := x.Queue.Enter(over, of, 0)
		if err != nil {
			return ends
		}
		ends = append(ends, end)
	}
	return ends
}

func (x *moved) call(of Flow, took time.Duration) {
	ends := x.enter(of, 1)
	x.now = x.now.Add(took)
	all(ends)
}

func (x *moved) rested() {
	ends := x.rests
	x.rests = nil
	all(ends)
}

func all(ends []func()) {
	for _, end := range ends {
		end()
	}
}

func TestQuickCallsShareTurns(t *testing.T) {
	x := newMoved(t, Quick)
	for n := 1; n <= 8; n *= 2 {
		ends := x.enter(Of(1), 100)
		if len(ends) != n {
			t.Errorf("%d calls at once, want %d", len(ends), n)
		}
		all(ends)
	}
	ends := x.enter(Of(1), 100)
	if len(ends) != 8 {
		t.Errorf("%d quick calls at once, want 8", len(ends))
	}
	if n := len(x.enter(Of(2), 1)); n != 1 {
		t.Error("another account waits for the first")
	}
	all(ends)
	if n := len(x.enter(Of(1), 100)); n != 8 {
		t.Errorf("%d afterwards, want 8", n)
	}
}

func TestSlowCallsTakeTurns(t *testing.T) {
	x := newMoved(t, Quick)
	x.call(Of(1), 300*time.Millisecond)
	x.rested()
	x.work(time.Millisecond)
	ends := x.enter(Of(1), 100)
	if len(ends) != 1 {
		t.Errorf("%d slow calls at once, want 1", len(ends))
	}
	if n := len(x.enter(Of(2), 1)); n != 1 {
		t.Error("another account waits")
	}
	all(ends)
	for range 100 {
		x.call(Of(1), time.Millisecond)
		x.call(Of(2), 0)
		x.rested()
	}
	if n := len(x.enter(Of(1), 100)); n != 8 {
		t.Errorf("%d after many quick calls, want 8", n)
	}
}

func TestCallsRestForOtherWork(t *testing.T) {
	x := newMoved(t, Quick)
	x.work(15 * time.Millisecond)
	x.call(Of(1), 0)
	if x.rest != quickRest || len(x.rests) != 1 {
		t.Errorf("%d rests, the last of %s", len(x.rests), x.rest)
	}
	ends := x.enter(Of(1), 2)
	if len(ends) != 1 { // two calls may run, and one rests
		t.Errorf("%d calls while one rests", len(ends))
	}
	all(ends)
	x.rested()
	x.call(Of(1), 20*time.Millisecond)
	if x.rest <= quickRest {
		t.Errorf("a rest of %s after a long call", x.rest)
	}
}

func TestAccountAloneIsNotLimited(t *testing.T) {
	q := NewQueue(Quick, NewMeter())
	for range 100 {
		if _, err := q.Enter(t.Context(), Of(1), 0); err != nil {
			t.Fatal(err)
		}
	}
	var none *Queue
	if _, err := none.Enter(t.Context(), Of(1), 0); err != nil {
		t.Error(err)
	}
}

// One key of an account does not wait for all calls of others, and a call that stops waiting takes no turn.
func TestKeysTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newMoved(t, Quick)
		for range 8 {
			x.call(Of(1), 0)
		}
		ends := x.enter(Of(1), 8)
		order := make(chan int64, 6)
		gone, stop := context.WithCancel(t.Context())
		for _, key := range []int64{7, 8, 7, 8, 7, 9, -1} {
			ctx := t.Context()
			if key < 0 {
				ctx = gone
			}
			go func() {
				if end, err := x.Enter(ctx, Of(1), key); err == nil {
					order <- key
					end()
				}
			}()
			synctest.Wait()
		}
		stop()
		synctest.Wait()
		if n := x.Waiting(); n != 6 {
			t.Fatalf("%d calls wait, want 6", n)
		}
		ends[0]() // each turn passes on to the next
		for n, want := range []int64{7, 8, 9, 7, 8, 7} {
			if got := <-order; got != want {
				t.Errorf("turn %d went to key %d, want %d", n, got, want)
			}
		}
	})
}

// The seats are of all flows, and an account that is alone has no more.
func TestLongCallsShareSeats(t *testing.T) {
	x := newMoved(t, Limits{Flow: 1, Seats: 2})
	first := x.enter(Of(1), 2)
	if len(first) != 1 {
		t.Errorf("%d calls of an account at once", len(first))
	}
	second := x.enter(Of(2), 2)
	if third := x.enter(Of(3), 1); len(second) != 1 || len(third) != 0 {
		t.Errorf("%d and %d calls of two others at 2 seats", len(second), len(third))
	}
	all(first)
	if n := len(x.enter(Of(3), 1)); n != 1 {
		t.Error("a seat that was left is not free")
	}
	alone := NewQueue(Limits{Flow: 1, Seats: 2}, NewMeter())
	over, stop := context.WithCancel(t.Context())
	stop()
	for n := range 3 {
		if _, err := alone.Enter(over, Of(1), 0); (err == nil) != (n < 2) {
			t.Errorf("call %d of an account that is alone: %v", n+1, err)
		}
	}
}

// One call computes at a time and is followed by a rest three times as long. Flows take turns, and the calls that wait are bounded.
func TestRareCallsRestAndTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newMoved(t, Rare)
		flow := func(who string) Flow {
			return Flow{Network: netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, who[0]}), 32)}
		}
		type entered struct {
			who   string
			leave func()
		}
		turns := make(chan entered, 10)
		wait := func(who string) {
			go func() {
				if leave, err := x.Enter(t.Context(), flow(who), 0); err == nil {
					turns <- entered{who, leave}
				}
			}()
			synctest.Wait()
		}
		leave := x.enter(flow("a"), 2)[0]
		for _, who := range []string{"a", "a", "a", "b", "c", "b"} {
			wait(who)
		}
		if n := len(x.enter(flow("d"), 1)); n != 0 || x.Waiting() != 6 {
			t.Errorf("%d calls beside one, and %d wait", n, x.Waiting())
		}
		var order []string
		var rests []time.Duration
		for n := range 6 {
			x.now = x.now.Add(time.Duration(n+1) * time.Millisecond)
			leave()
			synctest.Wait()
			if len(turns) > 0 {
				t.Fatal("a call does not wait for the rest")
			}
			rests = append(rests, x.rest)
			x.rested()
			next := <-turns
			order, leave = append(order, next.who), next.leave
		}
		if want := []string{"a", "b", "c", "a", "b", "a"}; !slices.Equal(order, want) {
			t.Errorf("the turns went to %v, want %v", order, want)
		}
		x.now = x.now.Add(time.Hour)
		leave()
		if want := []time.Duration{3e6, 6e6, 9e6, 12e6, 15e6, 18e6, longestPause}; !slices.Equal(append(rests, x.rest), want) {
			t.Errorf("rests of %v, want %v", append(rests, x.rest), want)
		}
		for range 100 {
			wait("a")
		}
		if _, err := x.Enter(t.Context(), flow("a"), 0); !errors.Is(err, ErrFull) {
			t.Errorf("the 101st call of a flow: %v", err)
		}
		wait("b")
		if n := x.Waiting(); n != 101 {
			t.Errorf("%d wait, want 101", n)
		}
	})
}

// Calls that began to wait beside another account do not wait for those that come when the account is alone.
func TestWaitingCallsGoOnAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newMoved(t, Quick)
		first := x.enter(Of(1), 1)
		turn := make(chan func(), 1)
		go func() {
			if leave, err := x.Enter(t.Context(), Of(1), 0); err == nil {
				turn <- leave
			}
		}()
		synctest.Wait()
		x.now = x.now.Add(time.Minute)
		if n := len(x.enter(Of(1), 1)); n != 0 {
			t.Error("a call overtakes another that waits")
		}
		x.call(Of(3), 0)
		(<-turn)() // a call reads the clock when its turn begins: the clock must not be moved before
		all(first)
		x.now = x.now.Add(time.Minute)
		if n := len(x.enter(Of(1), 100)); n != 100 {
			t.Errorf("%d calls of an account that is alone", n)
		}
	})
}

// An account that is alone does not rest, and a stranger does.
func TestRareCallsOfAccountAloneDoNotRest(t *testing.T) {
	q := NewQueue(Rare, NewMeter())
	at := now
	q.now = func() time.Time {
		at = at.Add(time.Millisecond)
		return at
	}
	rests := 0
	q.after = func(time.Duration, func()) { rests++ }
	for range 3 {
		leave, err := q.Enter(t.Context(), Of(1), 0)
		if err != nil {
			t.Fatal(err)
		}
		leave()
	}
	if rests != 0 {
		t.Errorf("%d rests of an account that is alone", rests)
	}
	leave, err := q.Enter(t.Context(), Flow{Network: netip.MustParsePrefix("192.0.2.1/32")}, 0)
	if err != nil {
		t.Fatal(err)
	}
	leave()
	if rests != 1 {
		t.Errorf("%d rests of a stranger, want 1", rests)
	}
}

func TestQueueForgetsFlows(t *testing.T) {
	q := NewQueue(Quick, nil)
	for account := range int64(3 * remembers) {
		leave, err := q.Enter(t.Context(), Of(account+1), 0)
		if err != nil {
			t.Fatal(err)
		}
		leave()
	}
	if len(q.flows) > remembers {
		t.Errorf("%d flows are remembered", len(q.flows))
	}
}
