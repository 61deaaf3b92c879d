package schedule

import (
	"math"
	"testing"

	"tocsin/internal/core/lint"
)

// What holds until tomorrow is not read again.
func TestGapsHoldForDay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from  int64
		gap   lint.Span
		until int64
	}{
		{0, lint.Span{}, gapWindow},
		{0, lint.Span{From: 100, Until: 200}, 100},
		{0, lint.Span{From: gapWindow + 50, Until: gapHorizon}, 51},
		{0, lint.Span{From: gapHorizon - 1, Until: gapHorizon}, gapWindow},
		{5, lint.Span{From: 5, Until: 3000}, 3000},                // it has begun
		{5, lint.Span{From: 5, Until: gapHorizon}, gapWindow + 5}, // its end is not known
		{5, lint.Span{From: 5, Until: 5}, 5},                      // a schedule that cannot be computed
	} {
		g := Gaps{until: math.MaxInt64}
		if g.add(c.gap, c.gap != lint.Span{}, c.from); g.until != c.until {
			t.Errorf("at %d, a gap from %d to %d: holds until %d, want %d", c.from, c.gap.From, c.gap.Until, g.until, c.until)
		}
	}
}
