package jobs_test

import (
	"testing"
	"time"

	"tocsin/internal/platform/jobs"
)

func TestBackoffStaysWithinItsBounds(t *testing.T) {
	b := jobs.Backoff{Min: 4 * time.Second, Max: time.Minute}
	for _, c := range []struct {
		want   time.Duration
		spread float64
		wait   time.Duration
	}{
		{0, 0.5, 4 * time.Second}, {-time.Hour, 0, 3 * time.Second}, {8 * time.Second, 0, 6 * time.Second},
		{8 * time.Second, 1, 10 * time.Second}, {time.Hour, 1, 75 * time.Second}, {1<<63 - 1, 0.5, time.Minute},
	} {
		if got := b.Wait(c.want, c.spread); got != c.wait {
			t.Errorf("Wait(%v, %v) = %v, want %v", c.want, c.spread, got, c.wait)
		}
	}
}
