package jobs

import "time"

// Backoff bounds how long to wait before something that failed is tried again.
type Backoff struct{ Min, Max time.Duration }

// Wait returns want within the bounds, made a quarter shorter to a quarter longer by spread, which is from 0 to 1:
// what failed together must not come back together. A caller whose want doubles with each failure waits twice as long
// each time.
func (b Backoff) Wait(want time.Duration, spread float64) time.Duration {
	return time.Duration(float64(min(max(want, b.Min), b.Max)) * (0.75 + spread/2))
}
