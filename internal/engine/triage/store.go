package triage

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/core/decide"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// item holds the verdicts about an event, or about an alert that was decided again, ready to be stored.
type item struct {
	event    *pending // nil: it is about an alert
	quiet    bool     // the result is the same as before, so no verdict is stored
	verdicts []verdict
	reads    int // the number of the snapshot's reads that it depends on
}

// verdict is a verdict with its encoded columns.
type verdict struct {
	decide.Verdict
	row         alert.Row
	origin      alert.Origin
	method      string // of grouping
	before      string // the incident that its alert was in
	body, trace string // JSON
}

// item applies verdicts to the snapshot and encodes them.
func (m *snapshot) item(one *item, verdicts []decide.Verdict) (err error) {
	one.verdicts = make([]verdict, len(verdicts))
	for i := range verdicts {
		v := &one.verdicts[i]
		v.Verdict = verdicts[i]
		if v.Alert != nil {
			if err := m.applied(v); err != nil {
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

// applied applies the verdict about an alert to the snapshot and encodes the alert.
func (m *snapshot) applied(v *verdict) error {
	a := v.Alert
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
	m.applyVerdict(&v.Verdict)
	if a.Muted == decide.Inhibited && v.Outcome == decide.Inhibited {
		if err := m.rely(v.Channel, a.MutedBy); err != nil {
			return err
		}
	}
	v.row, err = alert.RowOf(a)
	return err
}

// method returns the grouping method of a channel as incidents store it: "p" by fields, "n" none.
func (m *snapshot) method(channel int64) (string, error) {
	ch, err := m.Channel(channel)
	if err == nil && ch != nil && ch.Grouping.ByFields {
		return "p", nil
	}
	return "n", err
}

// encode encodes the columns body and trace.
func (v *verdict) encode() error {
	trace, err := json.Marshal(v.Trace)
	if err != nil {
		return err
	}
	body, err := json.Marshal(&v.Event, json.Deterministic(true))
	v.trace, v.body = string(trace), string(body)
	return err
}

// store stores items as long as all reads that they depend on are unchanged. It returns how many it stored, from the first
// one on; the others must be decided again.
func (r *Service) store(m *snapshot, items []item) (stored int, err error) {
	if len(items) == 0 {
		return 0, nil
	}
	t := &counts{}
	err = r.write(m.ctx, t, func(tx *db.Tx) error {
		unchanged, err := m.unchanged(tx)
		if err != nil {
			return err
		}
		for stored = 0; stored < len(items) && items[stored].reads <= unchanged; stored++ {
		}
		last, err := lastVerdict(tx, m.account)
		for i := range items[:stored] {
			if err == nil {
				last, err = r.put(tx, t, m, &items[i], last)
			}
		}
		return err
	})
	if err != nil {
		stored = 0
	}
	return stored, err
}

// write runs a write transaction, and updates the metrics after the commit. A panic in fn becomes its error.
func (r *Service) write(ctx context.Context, t *counts, fn func(*db.Tx) error) error {
	err := r.DB.Write(ctx, func(tx *db.Tx) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			}
		}()
		*t = counts{}
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

// counts holds what a transaction adds to the metrics when it commits.
type counts struct {
	outcomes []string
	waited   []float64
}

// put stores one item. An event that was deleted or decided meanwhile is left as it is. last is the id of the account's
// last verdict, before and after.
func (r *Service) put(tx *db.Tx, t *counts, m *snapshot, one *item, last int64) (int64, error) {
	id := ""
	if e := one.event; e != nil {
		id = e.id
		if waits, err := done(tx, m.account, id, m.now); err != nil || !waits {
			return last, err
		}
		t.waited = append(t.waited, max(0, m.now.Sub(time.Unix(0, e.received)).Seconds())) // it may have come since the round began
	}
	for i := range one.verdicts {
		v := &one.verdicts[i]
		if err := r.apply(tx, m, v); err != nil {
			return last, err
		}
		if one.quiet {
			continue
		}
		last++
		if err := v.record(tx, m.account, last, id, m.now); err != nil {
			return last, err
		}
		t.outcomes = append(t.outcomes, string(v.Outcome))
		if err := errors.Join(r.warn(tx, m, v), r.stray(tx, m, v)); err != nil {
			return last, err
		}
	}
	return last, nil
}

// done marks an event as decided, and reports whether it was still waiting.
func done(tx *db.Tx, account int64, event string, now time.Time) (bool, error) {
	n, err := tx.Exec(`UPDATE event SET decided_at = $3
		WHERE account_id = $1 AND event_id = $2 AND decided_at = 0`, account, event, now.UnixNano())
	return n > 0, err
}

// lastVerdict returns the id of an account's last verdict; 0: it has none. A transaction reads it once and counts on: a
// subquery in each INSERT costs a third of the INSERT.
func lastVerdict(tx *db.Tx, account int64) (int64, error) {
	id, _, err := db.One(tx, db.Column[int64], `SELECT coalesce(max(verdict_id), 0) FROM verdict WHERE account_id = $1`, account)
	return id, err
}

// record stores a verdict under an id; event is empty when an alert was decided again.
func (v *verdict) record(tx *db.Tx, account, id int64, event string, now time.Time) error {
	alert, incident := "", ""
	if v.Alert != nil {
		alert, incident = v.row.ID, v.row.Incident
	}
	_, err := tx.Exec(`INSERT INTO verdict (account_id, verdict_id, decided_at, event_id, channel_id, outcome, alert_id, incident_id,
			integration_id, event_time, severity, body, trace)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		account, id, now.UnixMilli(), event, v.Channel, string(v.Outcome), alert, incident,
		v.Event.Integration, v.Event.Time, v.Event.Severity, v.body, v.trace)
	return err
}

// Drill is the label that marks the events of a drill. Their incidents are marked as tests.
const Drill = "tocsin_drill"

// apply stores the alert and the incident of a verdict, and publishes what changed.
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
	for n, kind := range v.Feed {
		item := activity.Item{
			Account: m.account, ID: a.ID, Channel: a.Channel, At: m.now, First: v.New && n == 0,
			Event: activity.AlertDecided{Kind: kind, Severity: a.Severity, Status: a.Status, Title: a.Title},
		}
		if err := r.Bus.Publish(tx, item); err != nil {
			return err
		}
	}
	if v.Frees {
		if err := alert.Uninhibit(tx, m.account, a.ID, m.now.Unix()); err != nil {
			return err
		}
	}
	switch {
	case v.Grouping.Open:
		return writer.OpenFor(a, v.origin, v.Grouping.Key, v.method, v.Event.Labels[Drill] != "")
	case v.Grouping.Join != "":
		if err := writer.Joined(a.Incident, a, v.origin, v.Grouping.Storm); err != nil {
			return err
		}
		return escalation.Recheck(tx, m.account, a.Incident, m.now)
	case v.Outcome == decide.Recovered && v.before != "":
		return writer.Recovered(v.before)
	case v.Outcome == decide.Grouped:
		if err := writer.Updated(v.before, a); err != nil {
			return err
		}
		return escalation.Recheck(tx, m.account, v.before, m.now)
	}
	return nil
}
