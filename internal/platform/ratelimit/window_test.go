package ratelimit

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var start = time.Date(2026, 4, 12, 13, 31, 11, 0, time.UTC)

// published is the rate of the specification, section 8.
var published = Rate{PerSecond: 50, PerMinute: 1000}

func TestThe51stInsideOneSecondIsRefused(t *testing.T) {
	table := New[string](0)
	// The first half arrives late in one clock second, the second half early
	// in the next: a counter per clock second would let all of them in.
	for i := range 50 {
		at := start.Add(time.Duration(975+i) * time.Millisecond)
		if v := table.Allow("k", published, at); !v.OK || v.Limit != 50 || v.Remaining != 49-i {
			t.Fatalf("request %d: %+v", i+1, v)
		}
	}
	frees := start.Add(1975 * time.Millisecond)
	now := start.Add(1100 * time.Millisecond)
	want := Result{Limit: 50, Reset: frees, RetryAfter: frees.Sub(now)}
	if v := table.Allow("k", published, now); v != want {
		t.Errorf("request 51: %+v, want %+v", v, want)
	}
	if v := table.Allow("k", published, frees.Add(-1)); v.OK {
		t.Error("accepted a nanosecond before the oldest left its second")
	}
	if v := table.Allow("k", published, frees); !v.OK {
		t.Errorf("refused when the oldest had left its second: %+v", v)
	}
	if v := table.Allow("other", published, now); !v.OK {
		t.Errorf("another key was refused: %+v", v)
	}
}

func TestThe1001stInsideOneMinuteIsRefused(t *testing.T) {
	table := New[string](0)
	at := func(i int) time.Time { return start.Add(time.Duration(i) * 59 * time.Millisecond) }
	for i := range 1000 {
		if v := table.Allow("k", published, at(i)); !v.OK {
			t.Fatalf("request %d: %+v", i+1, v)
		}
	}
	frees := start.Add(time.Minute)
	want := Result{Limit: 1000, Reset: frees, RetryAfter: frees.Sub(at(1000))}
	for range 3 { // refused requests do not count
		if v := table.Allow("k", published, at(1000)); v != want {
			t.Errorf("request 1001: %+v, want %+v", v, want)
		}
	}
	if v := table.Allow("k", published, frees); !v.OK || v.Remaining != 0 {
		t.Errorf("after a minute: %+v", v)
	}
}

func TestNoLimitRemembersNothing(t *testing.T) {
	table := New[string](0)
	if v := table.Allow("k", Rate{}, start); v != (Result{OK: true}) {
		t.Errorf("verdict %+v", v)
	}
	if n := table.Sweep(start); n != 0 {
		t.Errorf("%d keys are remembered", n)
	}
}

// TestAgainstList compares the ring with a list of all accepted times, walked
// from its beginning for every question.
func TestAgainstList(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0))
		rate := Rate{PerSecond: r.IntN(6), PerMinute: 1 + r.IntN(40)}
		if seed%3 == 0 {
			rate = Rate{PerSecond: 1 + r.IntN(20)}
		}
		var w window
		var l list
		clock := start.UnixNano()
		for step := range 300 {
			clock += stride(r)
			now := clock
			if r.IntN(8) == 0 { // this one read the clock a while ago
				now -= r.Int64N(disorder + 1)
			}
			got, want := w.allow(rate, now), l.allow(rate, now)
			if got != want {
				t.Fatalf("seed %d, step %d, rate %+v: %+v, want %+v", seed, step, rate, got, want)
			}
			if top := 40; len(w.times) >= 2*top {
				t.Fatalf("seed %d: %d places for at most %d times", seed, len(w.times), top)
			}
			if r.IntN(50) == 0 && rate.PerMinute > 0 { // an operator changes the limits
				rate = Rate{PerSecond: r.IntN(6), PerMinute: max(1, rate.PerMinute-r.IntN(5))}
			}
		}
	}
}

// stride is how far the clock moves between two requests: often not at all,
// sometimes exactly to the edge of a window.
func stride(r *rand.Rand) int64 {
	switch r.IntN(8) {
	case 0:
		return oneSecond - int64(r.IntN(2))
	case 1:
		return oneMinute - int64(r.IntN(2))
	case 2:
		return r.Int64N(10 * oneSecond)
	case 3, 4:
		return r.Int64N(oneSecond)
	}
	return 0
}

type list struct {
	accepted []int64
	latest   int64
}

func (l *list) allow(rate Rate, now int64) Result {
	now = max(now, l.latest)
	l.latest = now
	limits := []struct {
		limit int
		span  int64
	}{{rate.PerSecond, oneSecond}, {rate.PerMinute, oneMinute}}
	count := func(span, at int64) (n int) {
		for _, t := range l.accepted {
			if at-t < span {
				n++
			}
		}
		return n
	}
	ok := true
	for _, w := range limits {
		ok = ok && (w.limit == 0 || count(w.span, now) < w.limit)
	}
	if ok {
		l.accepted = append(l.accepted, now)
	}
	var all []Result
	for _, w := range limits {
		if w.limit == 0 {
			continue
		}
		left := max(0, w.limit-count(w.span, now))
		var more []int64 // the moments at which there is more left
		for _, t := range l.accepted {
			if x := t + w.span; x > now && max(0, w.limit-count(w.span, x)) > left {
				more = append(more, x)
			}
		}
		if len(more) == 0 {
			continue // empty, after a refusal by the other window
		}
		all = append(all, Result{OK: ok, Limit: w.limit, Remaining: left, Reset: time.Unix(0, slices.Min(more)).UTC()})
	}
	v := slices.MinFunc(all, func(a, b Result) int {
		if a.Remaining != b.Remaining {
			return a.Remaining - b.Remaining
		}
		return b.Reset.Compare(a.Reset)
	})
	if !ok {
		v.RetryAfter = time.Duration(v.Reset.UnixNano() - now)
	}
	return v
}

func TestClockSetBack(t *testing.T) {
	rate := Rate{PerSecond: 5, PerMinute: 10}
	for _, back := range []time.Duration{2 * time.Second, time.Minute, time.Hour, 50 * 365 * 24 * time.Hour} {
		table := New[string](0)
		for range 7 {
			table.Allow("k", rate, start)
		}
		now := start.Add(-back)
		if v := table.Allow("k", rate, now); v.OK {
			t.Errorf("%v back: the history was lost: %+v", back, v)
		}
		if v := table.Allow("k", rate, now.Add(time.Second)); !v.OK || v.Remaining != 4 {
			t.Errorf("%v back, a second later: %+v", back, v)
		}
	}
}
