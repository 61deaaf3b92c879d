package channel

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// Evaluating only some minutes finds what evaluating all of them does, also on days on which clocks change.
func TestStretchAgainstEveryMinute(t *testing.T) {
	t.Parallel()
	for name, days := range clockChanges {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(60) {
			rng := rand.New(rand.NewPCG(seed, 9))
			day, _ := time.ParseInLocation(time.DateOnly, days[rng.IntN(len(days))], zone)
			var windows []TimeFilter
			for range 1 + rng.IntN(3) {
				w := TimeFilter{Start: fmt.Sprintf("%02d:%02d", rng.IntN(24), rng.IntN(60)), End: []string{"23:59", "00:00", fmt.Sprintf("%02d:%02d", rng.IntN(24), rng.IntN(60))}[rng.IntN(3)]}
				for range rng.IntN(4) {
					w.Repeat = append(w.Repeat, rng.IntN(7))
				}
				windows = append(windows, w)
			}
			now := day.Add(time.Duration(rng.IntN(3*86400)-2*86400) * time.Second).Unix()
			in, until := stretch(windows, now, zone, nil)
			at := time.Unix(now, 0)
			want, next := InWindow(windows, at, zone, nil), at.Truncate(time.Minute)
			for range maxStretch {
				next = next.Add(time.Minute)
				if InWindow(windows, next, zone, nil) != want {
					break
				}
			}
			if in != want || until != next.Unix() {
				t.Fatalf("%s, seed %d, %v at %v: %v until %v, want %v until %v", name, seed, windows, at.In(zone), in, time.Unix(until, 0).In(zone), want, next.In(zone))
			}
		}
	}
}
