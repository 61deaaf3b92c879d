package jobs

import (
	"log/slog"
	"testing"
	"time"

	"tocsin/internal/platform/clock"
)

// Processes that share a database do not run their jobs in step. A row that is due waits for a moment only, and a job with
// further due rows not at all; a process that is alone waits for nothing.
func TestSharedJobsAreSpread(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	j := &Job{Interval: time.Second}
	for _, c := range []struct {
		shared         bool
		again          time.Time
		earliest, last time.Duration
	}{
		{false, time.Time{}, time.Second, time.Second},
		{true, time.Time{}, 750 * time.Millisecond, time.Second},
		{false, now, 0, 0},
		{true, now, 0, 0},
		{true, now.Add(-time.Second), 0, 0},
		{false, now.Add(100 * time.Millisecond), 100 * time.Millisecond, 100 * time.Millisecond},
		{true, now.Add(100 * time.Millisecond), 100 * time.Millisecond, 150 * time.Millisecond},
		{false, now.Add(time.Hour), time.Second, time.Second},
		{true, now.Add(time.Hour), 750 * time.Millisecond, time.Second},
	} {
		r := New(clock.At(now), slog.New(slog.DiscardHandler), nil)
		r.Shared = c.shared
		if first, last := r.pause(j, c.again, 0), r.pause(j, c.again, 1); first != c.earliest || last != c.last {
			t.Errorf("%+v: waits from %v to %v", c, first, last)
		}
	}
}
