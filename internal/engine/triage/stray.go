package triage

import (
	"tocsin/internal/core/decide"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/untold"
)

// stray keeps an event that no channel takes for the end of the batch: there is none for it, or it is disabled.
func (b *batch) stray(v *verdict) {
	var why []sentence.Value
	var choice sentence.Value
	for _, step := range v.Trace {
		switch {
		case step.Stage == "route" && !step.Matched:
			why = append(why, step.Why)
		case step.Stage == "channel" && step.Matched:
			choice = step.Why
		}
	}
	switch {
	case v.Outcome == decide.Dropped && choice != "":
		why = []sentence.Value{sentence.New("event_was_dropped")}
	case v.Outcome == decide.Unrouted:
		choice = ""
	default:
		return
	}
	b.strays = append(b.strays, untold.Stray{Event: v.Event, Channel: v.Channel, Why: sentence.Join(why...), Choice: choice})
}
