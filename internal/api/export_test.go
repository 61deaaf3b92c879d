package api

import "time"

// Remembered sweeps and tells how many windows are left.
func Remembered(f *Frame) (rates, guesses int) {
	f.Sweep()
	now := f.Clock.Now()
	return f.rates.Sweep(now), f.Guesses.sweep(now)
}

// Check holds a body against the request schema of an operation, as a call does before the operation's
// own rules.
func Check(f *Frame, path string, body []byte) error {
	document, err := parse(body)
	if err != nil {
		return err
	}
	f.prepare(f.ops[path])
	return f.ops[path].check.check(nil, document)
}

// SetBodies changes the bounds of request bodies: the bytes over all connections, how long one waits for room, and
// how long one may take to arrive.
func SetBodies(f *Frame, total int64, wait, arrive time.Duration) {
	f.bodies, f.bodyTime = newBodyBudget(total, wait), arrive
}

// BodyBytes is what bodies hold at the moment.
func BodyBytes(f *Frame) int64 {
	f.bodies.mu.Lock()
	defer f.bodies.mu.Unlock()
	return f.bodies.used
}
