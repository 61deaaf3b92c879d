// Package clock is the only package that reads the time. Pure packages take "now" as an argument, so that tests and
// replays set the time; they must never use this package.
package clock

import (
	"sync"
	"time"
)

// Clock returns the present moment.
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

// At returns a manual clock that stands at t.
func At(t time.Time) *Manual { return &Manual{now: t} }

// Now returns the moment at which the clock stands.
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
