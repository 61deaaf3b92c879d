package jobs

import "time"

// Backoff bounds the pause before a retry.
type Backoff struct{ Min, Max time.Duration }

// Wait returns want within the bounds, then a quarter shorter (spread 0) to a quarter longer (spread 1): retries of
// calls that failed together must not come together. A caller that doubles want with each failure waits twice as
// long each time.
func (b Backoff) Wait(want time.Duration, spread float64) time.Duration {
	return time.Duration(float64(min(max(want, b.Min), b.Max)) * (0.75 + spread/2))
}
