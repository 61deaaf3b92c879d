// Package clock is the one place the program reads the time. Everything below the edge takes "now" as
// an argument, so that tests and replays decide what time it is; it must never be read in a core.
package clock

import (
	"sync"
	"time"
)

// Clock tells the present moment.
type Clock interface{ Now() time.Time }

// System is the machine's clock.
var System Clock = system{}

type system struct{}

func (system) Now() time.Time { return time.Now() }

// Manual is a clock that stands still until it is moved. The zero value stands at the zero time.
type Manual struct {
	mu  sync.Mutex
	now time.Time
}

// At gives a manual clock that stands at t.
func At(t time.Time) *Manual { return &Manual{now: t} }

// Now tells where the clock stands.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Set moves the clock to t, forwards or backwards.
func (m *Manual) Set(t time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = t
}

// Add moves the clock on by d.
func (m *Manual) Add(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}
