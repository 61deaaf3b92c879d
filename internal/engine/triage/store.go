package triage

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/core/decide"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// item is what was decided about an event, or again about an alert, ready to be stored.
type item struct {
	event    *pending // nil: it is about an alert
	quiet    bool     // nothing about it is new, so no verdict is stored
	verdicts []verdict
	reads    int // it depends on so many reads of its memory
}

// verdict is a verdict with what is stored of it, encoded.
type verdict struct {
	decide.Verdict
	row         alert.Row
	origin      alert.Origin
	method      string // of grouping
	before      string // the incident that its alert was in
	body, trace string // JSON
}

// item takes verdicts into memory and encodes them.
func (m *snapshot) item(one *item, verdicts []decide.Verdict) (err error) {
	one.verdicts = make([]verdict, len(verdicts))
	for i := range verdicts {
		v := &one.verdicts[i]
		v.Verdict = verdicts[i]
		if a := v.Alert; a != nil {
			v.before = a.Incident
			in, err := m.inlet(a.Integration)
			if err != nil {
				return err
			}
			if in != nil {
				v.origin = in.origin
			}
			if v.method, err = m.method(v.Channel); err != nil {
				return err
			}
			m.took(&v.Verdict)
			if v.row, err = alert.RowOf(a); err != nil {
				return err
			}
		}
		if !one.quiet {
			err = v.encode()
		}
		if err != nil {
			return err
		}
	}
	one.reads = len(m.reads)
	if n := len(verdicts); n > 0 {
		m.steps += verdicts[n-1].Steps
	}
	return nil
}

// method is how a channel makes incidents of its alerts, as incidents say it.
func (m *snapshot) method(channel int64) (string, error) {
	ch, err := m.Channel(channel)
	if err == nil && ch != nil && ch.Grouping.ByFields {
		return "p", nil
	}
	return "n", err
}

func (v *verdict) encode() error {
	trace, err := json.Marshal(v.Trace)
	if err != nil {
		return err
	}
	body, err := json.Marshal(&v.Event, json.Deterministic(true))
	v.trace, v.body = string(trace), string(body)
	return err
}

// store stores what was decided, as far as everything still is as it was read for it: stored items, from the first
// one on. The others are to be decided again.
func (r *Service) store(m *snapshot, items []item) (stored int, err error) {
	if len(items) == 0 {
		return 0, nil
	}
	t := &tally{}
	err = r.write(m.ctx, t, func(tx *db.Tx) error {
		hold, err := m.holds(tx)
		if err != nil {
			return err
		}
		for stored = 0; stored < len(items) && items[stored].reads <= hold; stored++ {
		}
		for i := range items[:stored] {
			if err := r.put(tx, t, m, &items[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		stored = 0
	}
	return stored, err
}

// write runs a change and counts what it decided once that is on disk. A panic in it is its error.
func (r *Service) write(ctx context.Context, t *tally, fn func(*db.Tx) error) error {
	err := r.DB.Write(ctx, func(tx *db.Tx) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			}
		}()
		*t = tally{}
		return fn(tx)
	})
	if err != nil {
		return err
	}
	for _, outcome := range t.outcomes {
		r.outcomes.WithLabelValues(outcome).Inc()
	}
	for _, seconds := range t.waited {
		r.waited.Observe(seconds)
	}
	if len(t.outcomes) > 0 {
		r.Escalate.Raise()
	}
	return nil
}

// tally is what a transaction decided.
type tally struct {
	outcomes []string
	waited   []float64
}

// put stores one item. An event that is gone, or was decided already, is left alone.
func (r *Service) put(tx *db.Tx, t *tally, m *snapshot, one *item) error {
	id := ""
	if e := one.event; e != nil {
		id = e.id
		if waits, err := done(tx, m.account, id, m.now); err != nil || !waits {
			return err
		}
		t.waited = append(t.waited, max(0, m.now.Sub(time.Unix(0, e.received)).Seconds())) // it may have come since the turn began
	}
	for i := range one.verdicts {
		v := &one.verdicts[i]
		if err := r.apply(tx, m, v); err != nil {
			return err
		}
		if one.quiet {
			continue
		}
		if err := v.record(tx, m.account, id, m.now); err != nil {
			return err
		}
		t.outcomes = append(t.outcomes, string(v.Outcome))
		if err := r.warn(tx, m, v); err != nil {
			return err
		}
	}
	return nil
}

// done notes down that an event is decided, and reports whether it waited for that.
func done(tx *db.Tx, account int64, event string, now time.Time) (bool, error) {
	n, err := tx.Exec(`UPDATE event SET decided_at = $3 WHERE account_id = $1 AND event_id = $2 AND decided_at = 0`, account, event, now.UnixNano())
	return n > 0, err
}

// record stores a verdict; event is empty when an alert was decided again.
func (v *verdict) record(tx *db.Tx, account int64, event string, now time.Time) error {
	alert, incident := "", ""
	if v.Alert != nil {
		alert, incident = v.row.ID, v.row.Incident
	}
	_, err := tx.Exec(`INSERT INTO verdict (account_id, verdict_id, decided_at, event_id, channel_id, outcome, alert_id, incident_id, integration_id, event_time, severity, body, trace)
		VALUES ($1, (SELECT coalesce(max(verdict_id), 0) + 1 FROM verdict WHERE account_id = $1), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		account, now.UnixMilli(), event, v.Channel, string(v.Outcome), alert, incident, v.Event.Integration, v.Event.Time, v.Event.Severity, v.body, v.trace)
	return err
}

// Drill is the label that marks the events of a drill: their incidents say that nothing is wrong.
const Drill = "tocsin_drill"

// apply stores what a verdict says about its alert and incident, and tells of it.
func (r *Service) apply(tx *db.Tx, m *snapshot, v *verdict) (err error) {
	a := v.Alert
	if a == nil {
		return nil
	}
	writer := incident.Writer{Tx: tx, Bus: r.Bus, Account: m.account, Now: m.now}
	if v.New {
		err = v.row.Insert(tx, m.account, v.origin, m.now)
	} else {
		err = v.row.Update(tx, m.account, m.now)
	}
	if err != nil {
		return err
	}
	for _, kind := range v.Feed {
		item := activity.Item{Account: m.account, ID: a.ID, Channel: a.Channel, At: m.now, Event: activity.AlertDecided{Kind: kind, Severity: a.Severity, Status: a.Status, Title: a.Title}}
		if err := r.Bus.Publish(tx, item); err != nil {
			return err
		}
	}
	switch {
	case v.Grouping.Open:
		return writer.OpenFor(a, v.origin, v.Grouping.Key, v.method, v.Event.Labels[Drill] != "")
	case v.Grouping.Join != "":
		return writer.Joined(a.Incident, a, v.origin, v.Grouping.Storm)
	case v.Outcome == decide.Recovered:
		if err := alert.Uninhibit(tx, m.account, a.ID, m.now.Unix()); err != nil || v.before == "" {
			return err
		}
		return writer.Recovered(v.before)
	case v.Outcome == decide.Grouped:
		return writer.Updated(v.before, a)
	}
	return nil
}
