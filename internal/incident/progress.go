package incident

import (
	"slices"

	"tocsin/internal/platform/fault"
)

// The values of an incident's progress.
const (
	Triggered  = "Triggered"  // no person has acknowledged it
	Processing = "Processing" // at least one person has acknowledged it
	Closed     = "Closed"     // it is over
)

// Move is an action that changes the progress of an incident, or depends on it.
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
	Answer  Move = "answered"  // the answer to a question, by a person who answers for the incident
	Retract Move = "retracted" // every acknowledgement is withdrawn, by Tocsin
)

// Status is the part of an incident that decides which moves are allowed.
type Status struct {
	Progress string
	Ackers   []int64 // the persons who have acknowledged it
	Snoozed  bool
}

// Illegal is the error for a move that the incident's progress does not allow.
type Illegal struct {
	Move Move
	Why  string
}

func (e *Illegal) Error() string { return e.Clause().String() }

// Clause returns the refusal as what it is made of.
func (e *Illegal) Clause() fault.Clause {
	return fault.NewClause("it cannot be %s: %s", string(e.Move), fault.NewClause(e.Why))
}

// After returns the status after a person's move, or an *Illegal.
//
// Acknowledging twice is allowed and changes nothing. Several persons may acknowledge; the incident is Triggered again
// when the last of them withdraws. A snooze ends with an acknowledgement and when the incident is closed.
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
			return refuse("no person has acknowledged it")
		}
		next.Ackers = slices.DeleteFunc(next.Ackers, func(p int64) bool { return p == person })
		if len(s.Ackers) > 0 && len(next.Ackers) == len(s.Ackers) {
			return refuse("it was acknowledged by others, and each person can only withdraw their own")
		}
		if len(next.Ackers) == 0 {
			next.Progress = Triggered
		}
	case Answer:
		if s.Progress != Processing {
			return refuse("no person has acknowledged it")
		}
	case Retract:
		if s.Progress != Processing {
			return refuse("no person has acknowledged it")
		}
		next.Progress, next.Ackers = Triggered, nil
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
