package ratelimit

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestBehindForeseesTurns asks when requests would be accepted behind one another, and then accepts each at that moment,
// and none before.
func TestBehindForeseesTurns(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0))
		rate := Rate{PerSecond: r.IntN(6), PerMinute: 1 + r.IntN(40)}
		if seed%3 == 0 {
			rate = Rate{PerSecond: 1 + r.IntN(20)}
		}
		table := New[string](0)
		now := start
		for range 200 {
			now = now.Add(time.Duration(stride(r)))
			table.Allow("k", rate, now)
		}
		turns := make([]time.Duration, 60)
		for ahead := range turns {
			v := table.Behind(ahead, "k", rate, now)
			turns[ahead] = v.RetryAfter
			if v.OK || v.Limit == 0 || !v.Reset.Equal(now.Add(v.RetryAfter)) {
				t.Fatalf("seed %d: %+v", seed, v)
			}
		}
		for ahead, turn := range turns {
			at := now.Add(turn)
			if turn > turns[max(0, ahead-1)] && table.Allow("k", rate, at.Add(-1)).OK {
				t.Fatalf("seed %d, rate %+v: request %d was accepted before %s", seed, rate, ahead, turn)
			}
			if v := table.Allow("k", rate, at); !v.OK {
				t.Fatalf("seed %d, rate %+v: request %d was refused at %s: %+v", seed, rate, ahead, turn, v)
			}
		}
	}
}
