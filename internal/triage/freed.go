package triage

import (
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/db"
	"tocsin/internal/decide"
)

// Freed lists the titles of the active alerts of a channel that page when one of its silence rules ends at a moment
// (Unix seconds), the oldest first: those that it matches and no other rule holds from then on. An incident some of
// whose alerts are not silenced now is not held back by any rule.
func (r *Room) Freed(tx *db.Tx, account, channel int64, rule string, end int64, now time.Time) (titles []string, err error) {
	ready, err := r.ready(tx, account)
	if err != nil {
		return nil, err
	}
	s := &state{tx: tx, account: account, ready: ready}
	ch, err := s.Channel(channel)
	if err != nil || ch == nil || ch.Disabled {
		return nil, err
	}
	alerts, err := alert.HeldBack(tx, account, channel, end)
	if err != nil {
		return nil, err
	}
	stands := map[string]bool{"": true} // whether an incident's escalation stands still; an alert in none waits by itself
	for i := range alerts {
		a := &alerts[i]
		if !decide.Freed(ch, a, rule, end) {
			continue
		}
		if _, known := stands[a.Incident]; !known {
			until, _, err := r.Silenced(tx, account, channel, a.Incident, now)
			if err != nil {
				return nil, err
			}
			stands[a.Incident] = until > 0
		}
		if stands[a.Incident] {
			titles = append(titles, a.Title)
		}
	}
	return titles, nil
}
