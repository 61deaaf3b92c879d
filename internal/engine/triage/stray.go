package triage

import (
	"strings"

	"tocsin/internal/core/decide"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/untold"
	"tocsin/internal/platform/db"
)

// stray notes an event that no channel takes: there is none for it, or it is disabled.
func (r *Service) stray(tx *db.Tx, m *snapshot, v *verdict) error {
	if r.Untold == nil {
		return nil
	}
	var why []string
	choice := ""
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
		why = []string{sentence.Of("event_was_dropped")}
	case v.Outcome == decide.Unrouted:
		choice = ""
	default:
		return nil
	}
	return r.Untold.Stray(tx, m.account, untold.Stray{Event: v.Event, Channel: v.Channel, Why: strings.Join(why, "; "), Choice: choice}, m.now)
}
