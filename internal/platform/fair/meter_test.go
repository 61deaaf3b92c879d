package fair

import (
	"testing"
	"time"
)

var now = time.Unix(1776052800, 0)

// worked simulates accounts whose rounds take a part of the time, in percent, and returns how long the first worked of each
// second on average, and whether another one paused.
func worked(percent ...int) (first time.Duration, others bool) {
	p := NewMeter()
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
			pause := p.Worked(int64(i), took, at)
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

// An account that always works has a quarter of the time while others work much less, after a moment. Accounts that work alike
// do not pause, nor does one that is alone.
func TestAccountThatWorksMostPauses(t *testing.T) {
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

// Work of all kinds counts together: an account that does three kinds at once has no more time for them than for one.
func TestKindsOfWorkShareTime(t *testing.T) {
	m := NewMeter()
	const kinds, piece, each, before = 3, 10 * time.Millisecond, 20 * time.Second, (lasts + 2) * window
	var next [kinds]time.Time
	var worked time.Duration
	for at := now; at.Before(now.Add(each)); at = at.Add(piece) {
		m.Worked(2, piece/20, at)
		for kind := range next {
			if next[kind].After(at) {
				continue
			}
			if at.Sub(now) > before {
				worked += piece
			}
			next[kind] = at.Add(m.Worked(1, piece, at))
		}
	}
	if part := worked.Seconds() / (each - before).Seconds(); part < 0.2 || part > 0.3 {
		t.Errorf("the account worked for %.0f %% of the time", 100*part)
	}
}

// A piece of work that took seconds is followed by a pause of seconds, and by no longer one.
func TestPauseIsBounded(t *testing.T) {
	m, at := NewMeter(), now
	for range 100 {
		at = at.Add(20 * time.Millisecond)
		m.Worked(2, time.Millisecond, at)
		m.Worked(1, 10*time.Millisecond, at)
	}
	at = at.Add(time.Minute)
	if pause := m.Worked(1, time.Minute, at); pause > 0 {
		t.Errorf("a pause of %s although no other account is at work", pause)
	}
	for range lasts + 1 {
		at = at.Add(window + time.Millisecond)
		m.Worked(2, time.Millisecond, at)
		m.Worked(1, 300*time.Millisecond, at)
	}
	if pause := m.Worked(1, time.Minute, at); pause != longestPause {
		t.Errorf("a pause of %s after a minute, want %s", pause, longestPause)
	}
}

// TestWaits: what waits is noted where the work is measured, and nowhere else.
func TestWaits(t *testing.T) {
	ctx, waited := WithWaits(t.Context())
	Waited(t.Context(), time.Hour)
	Waited(ctx, time.Minute)
	if d := waited(); d != time.Minute {
		t.Errorf("%s", d)
	}
}

// Others that do something for a moment are no company: an account that works all the time does not pause for them.
func TestMomentIsNoCompany(t *testing.T) {
	m := NewMeter()
	for n := range 2000 {
		at := now.Add(time.Duration(n) * 10 * time.Millisecond)
		if n%1000 < 90 { // for less than one of ten seconds
			m.Worked(2, time.Millisecond, at)
		}
		if pause := m.Worked(1, 8*time.Millisecond, at); pause > 0 {
			t.Fatalf("a pause of %s after %s", pause, at.Sub(now))
		}
	}
}

// Accounts without work are forgotten.
func TestMeterForgets(t *testing.T) {
	p, at := NewMeter(), now
	for account := range int64(30_000) {
		at = at.Add(time.Millisecond)
		p.Worked(account, time.Millisecond, at)
	}
	if len(p.used) > 1000*(lasts+1)+100 {
		t.Errorf("%d accounts are remembered", len(p.used))
	}
}
