package triage

import (
	"context"
	"errors"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
)

// channelOf returns a compiled channel of the present configuration; nil when there is none.
func (r *Configs) channelOf(ctx context.Context, account, channel int64, now time.Time) (*decide.Channel, error) {
	for {
		ready, err := r.config(ctx, account)
		if err != nil {
			return nil, err
		}
		ch, err := newSnapshot(ctx, r.db, account, ready, now).Channel(channel)
		if !errors.Is(err, errReconfigured) {
			return ch, err
		}
	}
}

// Silenced returns until when (Unix seconds) silence rules match every active alert of an incident, or its channel is
// disabled, and why, in words; 0 when they do not. No person is paged for such an incident, even if it was open before
// the silence. It matches filters, which takes time, so it must not be called in a write transaction.
func (r *Configs) Silenced(
	ctx context.Context, account, channel int64, incident string, now time.Time,
) (until int64, why string, err error) {
	ch, err := r.channelOf(ctx, account, channel, now)
	switch {
	case err != nil || ch == nil:
		return 0, "", err
	case ch.Disabled:
		return now.Unix() + 3600, sentence.Of("its_channel_disabled"), nil // enabling it makes all escalations due
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
	meter := filter.NewMeter(filter.RuleSteps, filter.EventSteps) // one budget for all alerts; a rule over it matches nothing
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
			until, why = ends, sentence.Of("silence_holds", rule.Name)
		}
	}
	return until, why, nil
}

// ReleasedBy returns the titles of the active alerts of a channel that will page when one of its silence rules ends at a
// moment (Unix seconds), the oldest first: those that the rule matches and no other rule silences from then on. Alerts
// of an incident that also has alerts which are not silenced are left out: it pages already. It must not be called in a
// write transaction.
func (r *Configs) ReleasedBy(
	ctx context.Context, account, channel int64, rule string, end int64, now time.Time,
) (titles []string, err error) {
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
	held := map[string]bool{"": true} // whether an incident's escalation is held; an alert without an incident waits by itself
	for i := range alerts {
		a := &alerts[i]
		if !decide.ReleasedBy(meter, ch, a, rule, end) {
			continue
		}
		if _, known := held[a.Incident]; !known {
			until, _, err := r.Silenced(ctx, account, channel, a.Incident, now)
			if err != nil {
				return nil, err
			}
			held[a.Incident] = until > 0
		}
		if held[a.Incident] {
			titles = append(titles, a.Title)
		}
	}
	return titles, nil
}
