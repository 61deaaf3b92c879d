package triage

import (
	"context"
	"fmt"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
)

// channelOf gives a channel made ready, as it is now.
func (r *Configs) channelOf(ctx context.Context, account, channel int64, now time.Time) (*decide.Channel, error) {
	for {
		ready, err := r.config(ctx, account)
		if err != nil {
			return nil, err
		}
		ch, err := newSnapshot(ctx, r.db, account, ready, now).Channel(channel)
		if err != errReconfigured {
			return ch, err
		}
	}
}

// Silenced tells whether silence rules hold every active alert of an incident at a moment, or its channel is disabled,
// until when (Unix seconds) and why, in words. Nobody is paged of such an incident, though it was open before. It must
// not be called in a write transaction: it matches filters.
func (r *Configs) Silenced(ctx context.Context, account, channel int64, incident string, now time.Time) (until int64, why string, err error) {
	ch, err := r.channelOf(ctx, account, channel, now)
	switch {
	case err != nil || ch == nil:
		return 0, "", err
	case ch.Disabled:
		return now.Unix() + 3600, "its channel is disabled", nil // when it is enabled all are looked at again
	case len(ch.Silences.List) == 0:
		return 0, "", nil
	}
	var alerts []decide.Alert
	err = r.db.Read(ctx, func(tx *db.Tx) (err error) {
		alerts, err = alert.OfIncident(tx, account, incident, decide.MaxAlerts, 0)
		return err
	})
	if err != nil {
		return 0, "", err
	}
	meter := filter.NewMeter(filter.RuleSteps, filter.EventSteps) // for all of them: what is over it holds nothing
	for i := range alerts {
		a := &alerts[i]
		if !a.Active() {
			continue
		}
		rule, ends := decide.Held(meter, ch, a, now.Unix())
		if rule == nil {
			return 0, "", nil
		}
		if until == 0 || ends < until {
			until, why = ends, fmt.Sprintf("silence rule %s holds its alerts", rule.Name)
		}
	}
	return until, why, nil
}

// ReleasedBy lists the titles of the active alerts of a channel that page when one of its silence rules ends at a moment
// (Unix seconds), the oldest first: those that it matches and no other rule holds from then on. An incident some of
// whose alerts are not silenced now is not held back by any rule. It must not be called in a write transaction.
func (r *Configs) ReleasedBy(ctx context.Context, account, channel int64, rule string, end int64, now time.Time) (titles []string, err error) {
	ch, err := r.channelOf(ctx, account, channel, now)
	if err != nil || ch == nil || ch.Disabled {
		return nil, err
	}
	var alerts []decide.Alert
	err = r.db.Read(ctx, func(tx *db.Tx) (err error) {
		alerts, err = alert.HeldBack(tx, account, channel, end)
		return err
	})
	if err != nil {
		return nil, err
	}
	meter := filter.NewMeter(filter.RuleSteps, filter.EventSteps)
	stands := map[string]bool{"": true} // whether an incident's escalation stands still; an alert in none waits by itself
	for i := range alerts {
		a := &alerts[i]
		if !decide.ReleasedBy(meter, ch, a, rule, end) {
			continue
		}
		if _, known := stands[a.Incident]; !known {
			until, _, err := r.Silenced(ctx, account, channel, a.Incident, now)
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
