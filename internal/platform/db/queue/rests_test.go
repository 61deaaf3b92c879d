package queue

import (
	"testing"
	"time"

	"tocsin/internal/platform/fair"
)

// TestRests: an account that keeps the lane busy rests after each transaction while others write, and they do not. The lane
// takes its writes again by itself when the rest ends.
func TestRests(t *testing.T) {
	t.Parallel()
	g := NewOfOne[int](fair.NewMeter())
	l := &Lane[int]{queue: g, wake: make(chan struct{}, 1)}
	g.lanes = []*Lane[int]{l}
	const hog, other = 1, 2
	next := func(of ...int64) (taken []*Write[int]) {
		for _, account := range of {
			g.add(&Write[int]{Account: account})
		}
		left := Room{writes: 99, rows: 99}
		return g.next(l, &left)
	}
	at := time.Unix(1776052800, 0)
	ran := func(account int64, took time.Duration) {
		g.rests.after([]*Write[int]{{Account: account, Took: took}, {Account: NoAccount}}, at, at.Add(took))
		at = at.Add(took)
	}
	for range 120 {
		ran(other, time.Millisecond)
		ran(hog, 40*time.Millisecond)
	}
	if rest := g.rests.until[hog].Sub(at); rest <= 0 || rest > longestRest || len(g.rests.until) != 1 {
		t.Fatalf("rests at %s: %v", at, g.rests.until)
	}
	g.rests.until[hog] = time.Now().Add(time.Hour)
	next(other) // the hog has company
	if taken := next(hog, other); len(taken) != 1 || taken[0].Account != other {
		t.Fatalf("%d writes are taken beside those of an account that rests", len(taken))
	}
	if taken := next(); len(taken) != 0 || !l.idle {
		t.Fatalf("%d writes of an account that rests are taken", len(taken))
	}
	g.rests.until[hog] = time.Now().Add(time.Millisecond)
	next()
	<-l.wake
	if taken := next(); len(taken) != 1 || taken[0].Account != hog {
		t.Errorf("%d writes are taken after the rest", len(taken))
	}
	if len(g.rests.until) != 0 {
		t.Errorf("rests that ended are remembered: %v", g.rests.until)
	}
}

// TestNoRest: an account that no other account keeps company never rests, nor do accounts that write alike.
func TestNoRest(t *testing.T) {
	t.Parallel()
	for _, accounts := range [][]int64{{1}, {1, 2, 3}, {NoAccount, 1}} {
		r, at := newRests[int](fair.NewMeter()), time.Unix(1776052800, 0)
		for range 200 {
			for _, account := range accounts {
				r.after([]*Write[int]{{Account: account, Took: 10 * time.Millisecond}}, at, at.Add(15*time.Millisecond))
				at = at.Add(15 * time.Millisecond)
			}
		}
		if len(r.until) != 0 {
			t.Errorf("of %v these rest: %v", accounts, r.until)
		}
	}
}
