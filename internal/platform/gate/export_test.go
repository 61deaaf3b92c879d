package gate

import "time"

// Later makes do run what is to be run later.
func (t *Turns) Later(do func(time.Duration, func())) { t.after = do }

// Waiting returns how many calls of an account wait.
func Waiting(t *Turns, account int64) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.accounts[account]; s != nil {
		return len(s.waiting)
	}
	return 0
}

// LaterPace makes do run the ends of rests.
func LaterPace(p *Pace, do func(time.Duration, func())) { p.after = do }
