package clock

import (
	"sync"
	"time"
)

// Corrected is the clock of this machine, corrected to one that several machines share. Until it has seen that one, and
// where there is none, it shows what the machine's clock shows. It is safe for concurrent use.
type Corrected struct {
	machine Clock

	mu     sync.RWMutex
	seen   bool
	offset time.Duration // what is added
	behind time.Duration // by how much more than offset is added at since, and ever less after it
	since  time.Time     // of the machine
}

// maxSlew is the largest step back that is spread: for twice as long the clock runs at half its speed, and never goes
// back. Over a larger one it would run slow for too long, so it goes back at once.
const maxSlew = 5 * time.Second

// Correct returns a clock that shows what the machine's does, until Observe.
func Correct(machine Clock) *Corrected { return &Corrected{machine: machine} }

// Now returns the corrected time.
func (c *Corrected) Now() time.Time {
	c.mu.RLock()
	defer c.mu.RUnlock()
	now := c.machine.Now()
	return now.Add(c.added(now))
}

// added returns the offset at a time of the machine.
func (c *Corrected) added(now time.Time) time.Duration {
	if c.behind == 0 {
		return c.offset
	}
	return c.offset + min(c.behind, max(0, c.behind-now.Sub(c.since)/2))
}

// Machine returns what the machine's clock shows, as Observe needs it.
func (c *Corrected) Machine() time.Time { return c.machine.Now() }

// Observe corrects the clock to the shared one, which showed theirs at some moment between asked and answered, both read
// from Machine. It moves no further than that proves. Forwards it moves at once.
func (c *Corrected) Observe(asked, answered, theirs time.Time) {
	trip := max(0, answered.Sub(asked))
	least, most := theirs.Sub(answered), theirs.Sub(asked)
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.added(answered)
	offset := min(max(c.offset, least), most)
	if !c.seen { // the first one has nothing to keep to
		was, offset = least+trip/2, least+trip/2
	}
	c.seen = true
	c.offset = offset
	c.behind = was - offset
	c.since = answered
	if c.behind < 0 || c.behind > maxSlew {
		c.behind = 0
	}
}

// Offset returns what is added to the machine's clock, once a step back is over.
func (c *Corrected) Offset() time.Duration {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.offset
}
