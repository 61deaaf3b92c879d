package delivery

import "time"

// Patience sets how long a run waits for its claims, until end is called.
func Patience(d time.Duration) (end func()) {
	before := patience
	patience = d
	return func() { patience = before }
}
