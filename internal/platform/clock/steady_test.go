package clock

import (
	"strings"
	"testing"
)

// TestSteadyGoesByMonotonicClock: a difference of two times without a monotonic reading would be that of a clock that others set.
func TestSteadyGoesByMonotonicClock(t *testing.T) {
	c := Correct(Steady(System))
	c.Observe(c.Machine(), c.Machine(), noon)
	if now := c.Now(); !strings.Contains(now.String(), " m=") || now.Before(noon) {
		t.Errorf("%s has no monotonic reading", now)
	}
	now := At(noon)
	s := Steady(now)
	now.Add(1)
	if !s.Now().Equal(noon.Add(1)) {
		t.Errorf("%s, want 1 ns after noon", s.Now())
	}
}
