package gate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"tocsin/internal/platform/gate"
)

// turns is a Turns with a clock that the test moves.
type turns struct {
	*testing.T
	*gate.Turns
	meter *gate.Meter
	now   time.Time
	rest  time.Duration // the last one
	rests []func()      // the ends of rests
}

func newTurns(t *testing.T) *turns {
	x := &turns{T: t, now: time.Unix(1776052800, 0)}
	x.meter = gate.NewMeter(func() time.Time { return x.now })
	x.Turns = gate.NewTurns(x.meter, func() time.Time { return x.now })
	x.Later(func(d time.Duration, do func()) { x.rest, x.rests = d, append(x.rests, do) })
	return x
}

// enter enters as often as an account may at once, n times at most, and returns the ends.
func (t *turns) enter(account int64, n int) (ends []func()) {
	t.Helper()
	for range n {
		over, stop := context.WithCancel(t.Context())
		stop() // one that would wait does not
		end, err := t.Turns.Enter(over, account, 0)
		if err != nil {
			return ends
		}
		ends = append(ends, end)
	}
	return ends
}

func leave(ends []func()) {
	for _, end := range ends {
		end()
	}
}

// warm makes quick calls of an account until it may make as many at once as any.
func (t *turns) warm(account int64) {
	for range 8 {
		leave(t.enter(account, 1))
	}
}

// TestQuickCallsShareTheirTurns: a few calls of an account run at a time while another account is at work, after the first
// ones were quick. They might all have taken long.
func TestQuickCallsShareTheirTurns(t *testing.T) {
	x := newTurns(t)
	leave(x.enter(2, 1))
	for n := 1; n <= 8; n *= 2 {
		ends := x.enter(1, 100)
		if len(ends) != n {
			t.Errorf("%d calls at once, want %d", len(ends), n)
		}
		leave(ends)
	}
	ends := x.enter(1, 100)
	if len(ends) != 8 {
		t.Errorf("%d quick calls at once, want 8", len(ends))
	}
	if n := len(x.enter(2, 1)); n != 1 {
		t.Error("another account waits for the first")
	}
	leave(ends)
	if n := len(x.enter(1, 100)); n != 8 {
		t.Errorf("%d afterwards, want 8", n)
	}
}

// TestSlowCallsTakeTurns: after a call that took long the account has one at a time, until enough quick ones came.
func TestSlowCallsTakeTurns(t *testing.T) {
	x := newTurns(t)
	call := func(account int64, took time.Duration) {
		ends := x.enter(account, 1)
		x.now = x.now.Add(took)
		leave(ends)
	}
	call(2, 0)
	call(1, 300*time.Millisecond)
	leave(x.rests)
	x.rests = nil
	call(2, 0)
	ends := x.enter(1, 100)
	if len(ends) != 1 {
		t.Errorf("%d slow calls at once, want 1", len(ends))
	}
	if other := x.enter(2, 100); len(other) != 3 {
		t.Errorf("%d calls of another account, which has had two quick ones, want 3", len(other))
	}
	x.now = x.now.Add(300 * time.Millisecond)
	leave(ends)
	if n := len(x.enter(1, 100)); n != 0 {
		t.Errorf("%d calls while the account rests", n)
	}
	leave(x.rests)
	for range 100 {
		call(1, time.Millisecond)
		call(2, 0)
	}
	if n := len(x.enter(1, 100)); n != 8 {
		t.Errorf("%d after many quick calls, want 8", n)
	}
}

// TestCallsRestForOtherWork: quick calls of an account that works all the time elsewhere rest too, for a moment only.
func TestCallsRestForOtherWork(t *testing.T) {
	x := newTurns(t)
	for range 200 {
		x.now = x.now.Add(20 * time.Millisecond)
		x.meter.Worked(2, time.Millisecond, x.now)
		x.meter.Worked(1, 15*time.Millisecond, x.now)
	}
	leave(x.enter(2, 1))
	leave(x.enter(1, 1))
	if x.rest != 100*time.Millisecond || len(x.rests) != 1 {
		t.Errorf("%d rests, the last of %s", len(x.rests), x.rest)
	}
	leave(x.rests)
	if n := len(x.enter(1, 1)); n != 1 {
		t.Error("no call after the rest")
	}
}

// TestAccountAloneIsNotLimited: nothing waits where there is only one account.
func TestAccountAloneIsNotLimited(t *testing.T) {
	x := newTurns(t)
	if n := len(x.enter(1, 100)); n != 100 {
		t.Errorf("%d calls at once", n)
	}
	var none *gate.Turns
	if _, err := none.Enter(t.Context(), 1, 0); err != nil {
		t.Error(err)
	}
}

// TestTurnsPassOn: those who wait have their turns in order, and one who stops waiting takes none.
func TestTurnsPassOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTurns(t)
		leave(x.enter(2, 1))
		x.warm(1)
		ends := x.enter(1, 8)
		order := make(chan int, 3)
		for n := range 3 {
			ctx, stop := context.WithCancel(t.Context())
			go func() {
				if _, err := x.Enter(ctx, 1, 0); err == nil {
					order <- n
				}
			}()
			synctest.Wait()
			if n == 1 {
				stop()
				synctest.Wait()
			}
			defer stop()
		}
		if n := gate.Waiting(x.Turns, 1); n != 2 {
			t.Fatalf("%d calls wait, want 2", n)
		}
		ends[0]()
		first := <-order
		ends[1]()
		if second := <-order; first != 0 || second != 2 {
			t.Errorf("the turns went to %d and %d, want 0 and 2", first, second)
		}
	})
}

// TestKeysTakeTurns: one key of an account does not wait for all the calls of others.
func TestKeysTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTurns(t)
		leave(x.enter(2, 1))
		x.warm(1)
		ends := x.enter(1, 8)
		order := make(chan int64, 6)
		for n, key := range []int64{7, 8, 7, 8, 7, 9} {
			go func() {
				if end, err := x.Enter(t.Context(), 1, key); err == nil {
					order <- key
					end()
				}
			}()
			synctest.Wait()
			if waiting := gate.Waiting(x.Turns, 1); waiting != n+1 {
				t.Fatalf("%d calls wait, want %d", waiting, n+1)
			}
		}
		ends[0]() // each turn passes on to the next
		for n, want := range []int64{7, 8, 9, 7, 8, 7} {
			if got := <-order; got != want {
				t.Errorf("turn %d went to key %d, want %d", n, got, want)
			}
		}
	})
}
