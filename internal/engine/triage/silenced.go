package triage

import (
	"context"
	"errors"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
)

// channels returns a function that returns the compiled channels of the present configuration; nil where there is none. It
// reads once which configuration that is.
func (r *Configs) channels(ctx context.Context, account int64, now time.Time) func(channel int64) (*decide.Channel, error) {
	var m *snapshot
	return func(channel int64) (*decide.Channel, error) {
		for {
			if m == nil {
				ready, err := r.config(ctx, account)
				if err != nil {
					return nil, err
				}
				m = newSnapshot(ctx, r.db, account, ready, now)
			}
			ch, err := m.Channel(channel)
			if !errors.Is(err, errReconfigured) {
				return ch, err
			}
			m = nil
		}
	}
}

// Silences returns a function that returns until when (Unix seconds) an incident is silenced, and why, in words. Silence
// rules match every active alert until then, or the channel is disabled; 0: neither holds. An alert that changes too often
// and is over for now counts as silenced. No person is paged for such an incident, even if it was open before the silence.
// steps is how many filter steps the answer took. The steps take time, so the function must not be called in a write
// transaction.
func (r *Configs) Silences(
	ctx context.Context, account int64, now time.Time,
) func(channel int64, incident string) (until int64, why sentence.Value, steps int64, err error) {
	channels := r.channels(ctx, account, now)
	var flapping map[string]bool // incidents; nil: not read
	return func(channel int64, incident string) (until int64, why sentence.Value, steps int64, err error) {
		ch, err := channels(channel)
		switch {
		case err != nil || ch == nil:
			return 0, "", 0, err
		case ch.Disabled:
			return now.Unix() + 3600, sentence.New("its_channel_disabled"), 0, nil // enabling it makes all escalations due
		}
		if flapping == nil {
			if err := r.db.Read(ctx, func(tx *db.Tx) (err error) {
				flapping, err = alert.FlappingIncidents(tx, account)
				return err
			}); err != nil {
				return 0, "", 0, err
			}
		}
		if len(ch.Silences.List) == 0 && !flapping[incident] {
			return 0, "", 0, nil
		}
		var alerts []decide.Alert
		if err := r.db.Read(ctx, func(tx *db.Tx) (err error) {
			alerts, err = alert.OfIncident(tx, account, incident, decide.MaxAlerts, 0)
			return err
		}); err != nil {
			return 0, "", 0, err
		}
		until, why, steps = silenced(ch, alerts, now)
		return until, why, steps, nil
	}
}

// silenced returns until when silence rules of a channel match every active alert of an incident, and why; 0 when they do
// not.
func silenced(ch *decide.Channel, alerts []decide.Alert, now time.Time) (until int64, why sentence.Value, steps int64) {
	meter := filter.NewMeter(filter.RuleSteps, filter.EventSteps) // one budget for all alerts; a rule over it matches nothing
	for i := range alerts {
		a := &alerts[i]
		if !a.Active() {
			continue
		}
		ends, reason := max(a.FlapsUntil, now.Unix()+1), sentence.New("awaits_quiet")
		if !a.AwaitsQuiet() {
			rule, silent := decide.Held(meter, ch, a, now.Unix())
			if rule == nil {
				return 0, "", meter.Used()
			}
			ends, reason = silent, sentence.New("silence_holds", rule.Name)
		}
		if until == 0 || ends < until {
			until, why = ends, reason
		}
	}
	return until, why, meter.Used()
}

// ReleasedBy returns the titles of the active alerts of a channel that will page when one of its silence rules ends at a
// moment (Unix seconds), the oldest first: those that the rule matches and no other rule silences from then on. Alerts
// of an incident that also has alerts which are not silenced are left out: it pages already. It must not be called in a
// write transaction.
func (r *Configs) ReleasedBy(
	ctx context.Context, account, channel int64, rule string, end int64, now time.Time,
) (titles []string, err error) {
	ch, err := r.channels(ctx, account, now)(channel)
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
	silences := r.Silences(ctx, account, now)
	held := map[string]bool{"": true} // whether an incident's escalation is held; an alert without an incident waits by itself
	for i := range alerts {
		a := &alerts[i]
		if a.AwaitsQuiet() || !decide.ReleasedBy(meter, ch, a, rule, end) {
			continue
		}
		if _, known := held[a.Incident]; !known {
			until, _, _, err := silences(channel, a.Incident)
			if err != nil {
				return nil, err
			}
			held[a.Incident] = until > 0
		}
		if held[a.Incident] {
			titles = append(titles, render.AlertName(a.Title, a.Labels))
		}
	}
	return titles, nil
}
