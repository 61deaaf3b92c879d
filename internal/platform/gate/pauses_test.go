package gate

import (
	"testing"
	"time"
)

var now = time.Unix(1776052800, 0)

// worked simulates accounts whose rounds take a part of the time, in percent, and returns how long the first worked of each
// second on average, and whether another one paused.
func worked(percent ...int) (first time.Duration, others bool) {
	p := Pauses{Credit: 250 * time.Millisecond, Longest: 2 * time.Second}
	const round, each = 50 * time.Millisecond, 20 * time.Second
	next := make([]time.Time, len(percent))
	for i := range next {
		next[i] = now
	}
	for at := now; at.Before(now.Add(each)); at = at.Add(round) {
		for i, part := range percent {
			if next[i].After(at) {
				continue
			}
			took := round * time.Duration(part) / 100
			pause := p.After(int64(i), took, at)
			next[i] = at.Add(pause)
			if i == 0 {
				first += took
			} else {
				others = others || pause > 0
			}
		}
	}
	return first / time.Duration(each/time.Second), others
}

// An account that always works has half of the time while others work much less, after a moment. Accounts that work alike
// do not pause, nor does one that is alone.
func TestAnAccountThatWorksMostPauses(t *testing.T) {
	for _, c := range []struct {
		percent     []int
		least, most time.Duration // of the first in a second
	}{
		{[]int{100}, time.Second, time.Second},
		{[]int{100, 5}, 250 * time.Millisecond, 450 * time.Millisecond},
		{[]int{100, 5, 5, 5, 5, 20, 20}, 250 * time.Millisecond, 450 * time.Millisecond},
		{[]int{100, 100, 100, 100}, time.Second, time.Second},
		{[]int{100, 60, 80}, time.Second, time.Second},
		{[]int{20, 1, 1}, 200 * time.Millisecond, 200 * time.Millisecond},
	} {
		first, others := worked(c.percent...)
		if first < c.least || first > c.most || others {
			t.Errorf("%v: the first worked %s of each second, want %s to %s; others paused: %t", c.percent, first, c.least, c.most, others)
		}
	}
}

// Accounts without work are forgotten.
func TestPausesOfManyAccounts(t *testing.T) {
	p, at := Pauses{Credit: 250 * time.Millisecond, Longest: 2 * time.Second}, now
	for account := range int64(30_000) {
		at = at.Add(time.Millisecond)
		p.After(account, time.Millisecond, at)
	}
	if len(p.used) > 2100 {
		t.Errorf("%d accounts are remembered", len(p.used))
	}
}
