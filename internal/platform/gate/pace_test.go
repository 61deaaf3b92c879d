package gate_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tocsin/internal/platform/gate"
)

func caller(name string) gate.Caller { return gate.Caller{Account: int64(name[0])} }

// TestPace: one call computes at a time and is followed by a rest three times as long; callers take turns; who stops
// waiting leaves nothing behind, and what waits is bounded.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Unix(1776052800, 0)
		p := gate.NewPace(nil, func() time.Time { return now })
		var rests []time.Duration
		var end func()
		gate.LaterPace(p, func(d time.Duration, do func()) { rests, end = append(rests, d), do })
		over, stop := context.WithCancel(t.Context())
		stop()

		leave, err := p.Enter(over, caller("a")) // no caller waits, so this caller need not wait either
		if err != nil {
			t.Fatal(err)
		}
		type entered struct {
			who   string
			leave func()
		}
		turns := make(chan entered, 10)
		wait := func(who string) {
			go func() {
				if leave, err := p.Enter(t.Context(), caller(who)); err == nil {
					turns <- entered{who, leave}
				}
			}()
			synctest.Wait()
		}
		for _, who := range []string{"a", "a", "a", "b", "c", "b"} {
			wait(who)
		}
		if _, err := p.Enter(over, caller("d")); !errors.Is(err, context.Canceled) || p.Waiting() != 6 {
			t.Errorf("%v, and %d wait", err, p.Waiting())
		}
		var order []string
		for n := range 6 {
			now = now.Add(time.Duration(n+1) * time.Millisecond)
			leave()
			synctest.Wait()
			if len(turns) > 0 {
				t.Fatal("a call does not wait for the rest")
			}
			end()
			next := <-turns
			order, leave = append(order, next.who), next.leave
		}
		if want := []string{"a", "b", "c", "a", "b", "a"}; !slices.Equal(order, want) {
			t.Errorf("the turns went to %v, want %v", order, want)
		}
		now = now.Add(time.Hour)
		leave()
		if want := []time.Duration{3e6, 6e6, 9e6, 12e6, 15e6, 18e6, 4 * time.Second}; !slices.Equal(rests, want) {
			t.Errorf("rests of %v, want %v", rests, want)
		}
		for range 100 {
			wait("a")
		}
		if _, err := p.Enter(t.Context(), caller("a")); !errors.Is(err, gate.ErrFull) {
			t.Errorf("the 101st call of a caller: %v", err)
		}
		wait("b")
	})
}
