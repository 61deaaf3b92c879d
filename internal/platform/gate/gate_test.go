package gate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestGate: a call waits for the call before it of its account, and not for those of others; who stops waiting leaves
// nothing behind.
func TestGate(t *testing.T) {
	g := New(2, nil)
	leaveA := mustEnter(t, g, 1)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Enter(gone, 1); err == nil {
		t.Error("two calls of an account compute at once")
	}
	leaveB := mustEnter(t, g, 2) // another account's does not wait
	if _, err := g.Enter(gone, 3); err == nil {
		t.Error("three accounts compute at once")
	}
	entered := make(chan func())
	go func() {
		leave, err := g.Enter(context.Background(), 1)
		if err != nil {
			panic(err)
		}
		entered <- leave
	}()
	leaveA()
	(<-entered)()
	leaveB()
	if len(g.accounts) != 0 || len(g.all) != 0 {
		t.Errorf("%d accounts and %d turns are left behind", len(g.accounts), len(g.all))
	}
}

// TestGateRests: the next call of an account that works much more than others waits, and no other account does.
func TestGateRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMeter(time.Now)
		g := New(1, m)
		for at := time.Now().Add(-(lasts + 1) * (window + time.Millisecond)); at.Before(time.Now()); at = at.Add(window + time.Millisecond) {
			m.Worked(2, time.Millisecond, at)
			m.Worked(1, time.Minute, at)
		}
		mustEnter(t, g, 1)()
		over, stop := context.WithCancel(t.Context())
		stop()
		if _, err := g.Enter(over, 1); err == nil {
			t.Fatal("a call without a rest before it")
		}
		mustEnter(t, g, 2)()
	})
}

func mustEnter(t *testing.T, g Gate, account int64) (leave func()) {
	t.Helper()
	leave, err := g.Enter(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	return leave
}
