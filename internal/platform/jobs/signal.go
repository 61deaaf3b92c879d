package jobs

// Signal wakes the job that waits for it. It is made before the job and before those who raise it, so that all of them
// get it when they are constructed. It is kept until the job runs, so that none raised in between is lost. A nil Signal
// can be raised, and wakes no job.
type Signal struct{ raised chan struct{} }

// NewSignal returns a signal that is not raised.
func NewSignal() *Signal { return &Signal{make(chan struct{}, 1)} }

// Raise wakes the job, after a row was committed that is due at once. It never blocks; raised twice is raised once.
func (s *Signal) Raise() {
	if s == nil {
		return
	}
	select {
	case s.raised <- struct{}{}:
	default: // it is raised already
	}
}

// C receives once for each time the signal was raised, and clears it.
func (s *Signal) C() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.raised
}
