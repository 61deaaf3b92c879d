package queue

import (
	"testing"
	"time"

	"tocsin/internal/platform/gate"
)

// While several accounts append, those of many rows have a queue of their own. An account that is alone has none of its own.
func TestLargeAppendsHaveQueueOfTheirOwn(t *testing.T) {
	t.Parallel()
	a, at := &Appends[int]{All: New[int](gate.NewMeter(time.Now)), Large: New[int](gate.NewMeter(time.Now))}, time.Unix(1776052800, 0)
	for i, v := range []struct {
		account int64
		rows    int
		after   time.Duration
		large   bool
	}{
		{1, maxSmall, 0, false}, {1, maxSmall + 1, 0, false}, // alone
		{2, maxSmall + 1, 0, true}, {1, maxSmall + 1, 0, true}, {1, maxSmall, 0, false}, {2, 1, 0, false},
		{2, maxSmall + 1, time.Minute, false}, // alone again
	} {
		at = at.Add(v.after)
		if got := a.Choose(&Write[int]{Account: v.account, Rows: v.rows}, at); (got == a.Large) != v.large {
			t.Errorf("append %d has the queue of large ones: %t", i, !v.large)
		}
	}
}

// The database is crowded while an append waits, of whichever size.
func TestCrowded(t *testing.T) {
	t.Parallel()
	d := &Appends[int]{}
	if d.Crowded() {
		t.Error("an engine that does not append by itself is crowded")
	}
	d.All, d.Large = New[int](gate.NewMeter(time.Now)), New[int](gate.NewMeter(time.Now))
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
