package queue

import (
	"testing"
	"time"

	"tocsin/internal/platform/fair"
)

// While several accounts append, those of many rows have a queue of their own. An account that is alone has none of its own.
func TestLargeAppendsHaveQueueOfTheirOwn(t *testing.T) {
	t.Parallel()
	a, at := &Appends[int]{All: New[int](fair.NewMeter()), Large: New[int](fair.NewMeter())}, time.Unix(1776052800, 0)
	for i, v := range []struct {
		account int64
		rows    int
		before  func()
		large   bool
	}{
		{1, maxSmall, nil, false}, {1, maxSmall + 1, nil, false}, // alone
		{2, maxSmall + 1, func() { at = keepCompany(a.All.rests.meter, at) }, true}, {1, maxSmall + 1, nil, true},
		{1, maxSmall, nil, false}, {2, 1, nil, false},
		{2, maxSmall + 1, func() { at = at.Add(time.Minute) }, false}, // alone again
	} {
		if v.before != nil {
			v.before()
		}
		if got := a.Choose(&Write[int]{Account: v.account, Rows: v.rows}, at); (got == a.Large) != v.large {
			t.Errorf("append %d has the queue of large ones: %t", i, !v.large)
		}
	}
}

// keepCompany lets accounts 1 to 3 work for some seconds, and returns when they have.
func keepCompany(m *fair.Meter, at time.Time) time.Time {
	for range 500 {
		at = at.Add(10 * time.Millisecond)
		for account := range int64(3) {
			m.Worked(account+1, time.Microsecond, at)
		}
	}
	return at
}

// The database is crowded while an append waits, of whichever size.
func TestCrowded(t *testing.T) {
	t.Parallel()
	d := &Appends[int]{}
	if d.Crowded() {
		t.Error("an engine that does not append by itself is crowded")
	}
	d.All, d.Large = New[int](fair.NewMeter()), New[int](fair.NewMeter())
	for _, g := range []*Queue[int]{d.All, d.Large} {
		if d.Crowded() {
			t.Error("it is crowded and no append waits")
		}
		w := &Write[int]{}
		g.add(w)
		if !d.Crowded() {
			t.Error("it is not crowded and an append waits")
		}
		g.remove(w, nil)
	}
}
