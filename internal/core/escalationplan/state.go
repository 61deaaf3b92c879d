package escalationplan

import (
	"cmp"
	"slices"
)

// State is what happened to an incident since its escalation began. Moments after the present one are ignored.
//
// An incident whose acknowledgement is withdrawn, or that is reopened, begins another escalation with another start.
type State struct {
	Acknowledged int64 // when; 0: it is not
	Resolved     int64 // when; 0: it is not
	Snoozes      []Span
}

// Span is a period, From included and Until not. Until of a snooze that was ended early is that moment.
type Span struct{ From, Until int64 }

// snoozed returns the end of the snooze that contains the moment, or the moment itself.
func (s State) snoozed(now int64) int64 {
	end := now
	for _, span := range s.spans(now) {
		if span.From <= now {
			end = max(end, span.Until)
		}
	}
	return end
}

// shift moves a moment of the plan by the snoozes before it: the clock of an escalation is stopped during a snooze, so
// that it continues afterwards instead of doing all missed steps at once.
func (s State) shift(at, start, now int64) int64 {
	counted := start // snoozes up to here are included in at; those before the start do not count
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

// spans returns the snoozes that have begun, in order.
func (s State) spans(now int64) []Span {
	begun := slices.DeleteFunc(slices.Clone(s.Snoozes), func(span Span) bool { return span.From > now })
	slices.SortFunc(begun, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	return begun
}
