package clock

import "time"

// Steady returns a clock that goes on from what the machine's shows now, however that is set later. While the machine is suspended it
// may stand still.
func Steady(machine Clock) Clock { return steady{machine, machine.Now()} }

type steady struct {
	machine Clock
	began   time.Time
}

// Now returns the time. The difference is that of the monotonic clock, where the machine's has one.
func (s steady) Now() time.Time { return s.began.Add(s.machine.Now().Sub(s.began)) }
