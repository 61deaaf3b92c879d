package escalationplan

import (
	"cmp"
	"slices"
)

// State is what has become of an incident since its escalation began. What lies after the moment that is
// asked about has not happened yet.
//
// An incident whose acknowledgement is taken back, or that is opened again, begins another escalation: with
// another start.
type State struct {
	Acknowledged int64 // when; 0: it is not
	Resolved     int64 // when; 0: it is not
	Snoozes      []Span
}

// Span is a stretch of time, From included and Until not. A snooze that was ended early ends then.
type Span struct{ From, Until int64 }

// snoozed gives the end of the snooze that holds the moment, or the moment itself.
func (s State) snoozed(now int64) int64 {
	end := now
	for _, span := range s.spans(now) {
		if span.From <= now {
			end = max(end, span.Until)
		}
	}
	return end
}

// shift moves a moment of the plan behind the snoozes: the clock of an escalation stands still in them, so
// that after one it goes on where it was, and not with everything at once that would have happened.
func (s State) shift(at, start, now int64) int64 {
	counted := start // up to here snoozes are in at; before the start there was nothing to hold
	for _, span := range s.spans(now) {
		from := max(span.From, counted)
		if from > at {
			break
		}
		if span.Until > from {
			at += span.Until - from
			counted = span.Until
		}
	}
	return at
}

// spans are the snoozes that have begun, in order.
func (s State) spans(now int64) []Span {
	begun := slices.DeleteFunc(slices.Clone(s.Snoozes), func(span Span) bool { return span.From > now })
	slices.SortFunc(begun, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	return begun
}
