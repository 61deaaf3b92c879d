package clock

import (
	"math/rand/v2"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestCorrectedShowsSharedTime(t *testing.T) {
	machine := At(noon.Add(time.Hour)) // an hour ahead
	c := Correct(machine)
	if !c.Now().Equal(noon.Add(time.Hour)) || c.Offset() != 0 {
		t.Errorf("before the first look: %s", c.Now())
	}
	asked := c.Machine()
	machine.Add(20 * time.Millisecond)
	c.Observe(asked, c.Machine(), noon.Add(10*time.Millisecond))
	if want := noon.Add(20 * time.Millisecond); !c.Now().Equal(want) {
		t.Errorf("%s, want %s", c.Now(), want)
	}
	machine.Add(time.Minute) // a slow answer proves little
	kept, asked := c.Offset(), c.Machine()
	machine.Add(2 * time.Second)
	c.Observe(asked, c.Machine(), noon.Add(time.Minute+20*time.Millisecond+300*time.Millisecond))
	if c.Offset() != kept {
		t.Errorf("the offset moved by %s for a look that allows it", c.Offset()-kept)
	}
	machine.Add(-3 * time.Hour) // the machine's clock is set back
	right := noon.Add(2 * time.Minute)
	c.Observe(c.Machine(), c.Machine(), right)
	if !c.Now().Equal(right) {
		t.Errorf("%s after the machine's clock was set, want %s", c.Now(), right)
	}
	machine.Add(time.Hour)
	right = right.Add(time.Minute) // the machine's clock is set forwards
	c.Observe(c.Machine(), c.Machine(), right)
	if !c.Now().Equal(right) {
		t.Errorf("%s after the machine's clock was set forwards, want %s", c.Now(), right)
	}
}

// TestCorrectedNeverGoesBack: the machine's clock drifts, answers take long, and time goes on all the same; it is never
// further from the shared clock than the answers prove.
func TestCorrectedNeverGoesBack(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0))
		drift := 0.9 + 0.2*r.Float64() // far worse than any real clock
		machine, shared := At(noon.Add(time.Duration(r.Int64N(int64(time.Hour))))), noon
		pass := func(d time.Duration) {
			shared = shared.Add(d)
			machine.Add(time.Duration(float64(d) * drift))
		}
		c := Correct(machine)
		last := time.Time{}
		for look := range 50 {
			asked := c.Machine()
			pass(time.Duration(r.Int64N(int64(20 * time.Millisecond))))
			theirs := shared
			pass(time.Duration(r.Int64N(int64(20 * time.Millisecond))))
			c.Observe(asked, c.Machine(), theirs)
			for range 100 {
				now := c.Now()
				if now.Before(last) {
					t.Fatalf("seed %d: the clock went back from %s to %s", seed, last, now)
				}
				if off := now.Sub(shared).Abs(); look > 0 && off > 3*time.Second {
					t.Fatalf("seed %d: %s off", seed, off)
				}
				last = now
				pass(time.Duration(r.Int64N(int64(200 * time.Millisecond))))
			}
		}
	}
}
