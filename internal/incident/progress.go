package incident

import (
	"fmt"
	"slices"
)

// The stations of an incident.
const (
	Triggered  = "Triggered"  // nobody has taken care
	Processing = "Processing" // somebody has acknowledged it
	Closed     = "Closed"     // it is over
)

// Move is what can be done about an incident that changes its station.
type Move string

// The moves.
const (
	Ack     Move = "acknowledged"
	Unack   Move = "unacknowledged"
	Sleep   Move = "snoozed"
	Wake    Move = "woken"
	Resolve Move = "resolved"
	Reopen  Move = "reopened"
	Merge   Move = "merged"
	Join    Move = "joined" // by an alert or another incident
	Assign  Move = "assigned"
)

// Status is where an incident stands.
type Status struct {
	Progress string
	Ackers   []int64 // who has acknowledged it
	Snoozed  bool
}

// Illegal is a move that an incident's station does not allow.
type Illegal struct {
	Move Move
	Why  string
}

func (e *Illegal) Error() string { return fmt.Sprintf("it cannot be %s: %s", e.Move, e.Why) }

// After is the station after a person's move, or an *Illegal.
//
// Acknowledging twice is allowed and changes nothing; several persons may acknowledge, and it goes back to
// Triggered when the last of them has taken it back. A snooze ends with an acknowledgement and with the end.
func (s Status) After(m Move, person int64) (Status, error) {
	refuse := func(why string) (Status, error) { return s, &Illegal{m, why} }
	if s.Progress == Closed && m != Reopen {
		return refuse("it is closed")
	}
	next := Status{s.Progress, slices.Clone(s.Ackers), s.Snoozed}
	switch m {
	case Ack:
		next.Progress, next.Snoozed = Processing, false
		if !slices.Contains(next.Ackers, person) {
			next.Ackers = append(next.Ackers, person)
		}
	case Unack:
		if s.Progress != Processing {
			return refuse("nobody has acknowledged it")
		}
		if next.Ackers = slices.DeleteFunc(next.Ackers, func(p int64) bool { return p == person }); len(next.Ackers) == len(s.Ackers) && len(s.Ackers) > 0 {
			return refuse("it was acknowledged by others, and each takes back their own")
		}
		if len(next.Ackers) == 0 {
			next.Progress = Triggered
		}
	case Sleep:
		next.Snoozed = true
	case Wake:
		if !s.Snoozed {
			return refuse("it is not snoozed")
		}
		next.Snoozed = false
	case Resolve, Merge:
		next.Progress, next.Snoozed = Closed, false
	case Reopen:
		if s.Progress != Closed {
			return refuse("it is open")
		}
		next.Progress, next.Ackers = Triggered, nil
	}
	return next, nil
}
