package triage

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/configstore"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/core/render"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/untold"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
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
	v.method, err = m.method(v.Channel)
	if err != nil {
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

// store stores items as long as all reads that they depend on are unchanged. stored is the number of items stored from the
// first on; the others must be decided again. The error is errElsewhere when another process has decided all their events,
// errOverlap when some.
func (r *Service) store(m *snapshot, items []item) (stored int, err error) {
	if len(items) == 0 {
		return 0, nil
	}
	t := &counts{}
	err = r.write(m.ctx, m.account, t, func(tx *db.Tx) error {
		unchanged, err := m.unchanged(tx)
		if err != nil {
			return err
		}
		for stored = 0; stored < len(items) && items[stored].reads <= unchanged; stored++ {
		}
		if stored == 0 {
			return stillWaits(tx, m.account, items[0].event)
		}
		configstore.Assume(tx, m.account, m.revision)
		b, err := r.newBatch(tx, t, m, items[:stored])
		if err != nil {
			return err
		}
		for i := range items[:stored] {
			if err := b.put(&items[i]); err != nil {
				return err
			}
		}
		return b.store(items[:stored])
	})
	if err != nil {
		stored = 0
	}
	return stored, err
}

// write runs a write transaction, and updates the metrics after the commit. A panic in fn becomes its error.
func (r *Service) write(ctx context.Context, account int64, t *counts, fn func(*db.Tx) error) error {
	err := r.DB.WriteOf(ctx, account, func(tx *db.Tx) error {
		*t = counts{}
		return fault.Guard(func() error { return fn(tx) })
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
		r.Escalate.RaiseFor(account)
	}
	return nil
}

// counts holds what a transaction adds to the metrics when it commits.
type counts struct {
	outcomes []string
	waited   []float64
}

// batch is the transaction that stores items. Shared reads run once at its start. Rows that nothing else reads are written
// together at its end.
type batch struct {
	*Service
	tx       *db.Tx
	t        *counts
	m        *snapshot
	last     int64 // the id of the account's last verdict
	verdicts db.Rows
	writer   incident.Writer
	recheck  []string        // incidents whose escalation is looked at again
	freed    []string        // alerts that inhibit others no longer as they did
	strays   []untold.Stray  // events that no channel takes
	happened []activity.Item // what happened to alerts, in order, with the alerts as they were
}

func (r *Service) newBatch(tx *db.Tx, t *counts, m *snapshot, items []item) (b *batch, err error) {
	b = &batch{Service: r, tx: tx, t: t, m: m, verdicts: db.Rows{Table: "verdict", Columns: verdictColumns}}
	var events []*pending
	var feeds, changed, recovered []string
	for i := range items {
		if items[i].event != nil {
			events = append(events, items[i].event)
		}
		for j := range items[i].verdicts {
			v := &items[i].verdicts[j]
			if v.Alert == nil {
				continue
			}
			if !v.New && len(v.Feed) > 0 {
				feeds = append(feeds, v.Alert.ID)
			}
			if v.Outcome == decide.Recovered && v.before != "" {
				recovered = append(recovered, v.before)
			}
			if id := cmp.Or(v.Grouping.Join, v.before); id != "" && !m.opened[id] && v.Outcome != decide.Repeated {
				changed = append(changed, id)
			}
		}
	}
	if err := done(tx, m.account, events...); err != nil {
		return nil, err
	}
	b.last, err = lastVerdict(tx, m.account, m.now)
	if err != nil {
		return nil, err
	}
	changed, recovered = distinct(changed), distinct(recovered)
	if err := activity.Begin(tx, m.account, distinct(append(feeds, changed...))); err != nil {
		return nil, err
	}
	incidents, err := incident.NewBatch(tx, m.account, changed, recovered)
	b.writer = incident.Writer{Tx: tx, Bus: r.Bus, Account: m.account, Now: m.now, Batch: incidents}
	return b, err
}

// distinct returns each id once.
func distinct(ids []string) []string {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// put stores one item.
func (b *batch) put(one *item) error {
	id := ""
	if e := one.event; e != nil {
		id = e.id
		b.t.waited = append(b.t.waited, max(0, b.m.now.Sub(time.Unix(0, e.received)).Seconds())) // it may have come since the round began
	}
	for i := range one.verdicts {
		v := &one.verdicts[i]
		if err := b.apply(v); err != nil {
			return err
		}
		if one.quiet {
			continue
		}
		b.last++
		b.verdicts.Values = append(b.verdicts.Values, v.values(b.m.account, b.last, id, b.m.now))
		b.t.outcomes = append(b.t.outcomes, string(v.Outcome))
		b.stray(v)
		if err := b.warn(b.tx, b.m, v); err != nil {
			return err
		}
	}
	return nil
}

// store stores what was kept for the end.
func (b *batch) store(items []item) error {
	if err := b.Bus.Publish(b.tx, b.happened...); err != nil {
		return err
	}
	if err := b.writer.Store(); err != nil {
		return err
	}
	if err := alert.Uninhibit(b.tx, b.m.account, b.m.now.Unix(), b.freed...); err != nil {
		return err
	}
	if err := escalation.RecheckAll(b.tx, b.m.account, distinct(b.recheck), b.m.now); err != nil {
		return err
	}
	if err := b.gather(items); err != nil {
		return err
	}
	if b.Untold != nil {
		if err := b.Untold.Strays(b.tx, b.m.account, b.strays, b.m.now); err != nil {
			return err
		}
	}
	return b.tx.Insert(b.verdicts)
}

// Errors that end a batch when another process has decided all or some of its events meanwhile. The remaining events are
// decided again.
var (
	errElsewhere = errors.New("another process has decided these events")
	errOverlap   = errors.New("another process has decided some of these events")
)

// done marks events as decided. If an event does not wait any more, the error is errElsewhere, or errOverlap while others
// still wait. No verdict may be stored then. The alerts may have been read after the other process stored its verdict. Each
// later verdict about the same alert would count that event again. The number alone does not identify an event: the embedded
// engine uses it again once no event waits.
func done(tx *db.Tx, account int64, events ...*pending) error {
	if len(events) == 0 {
		return nil
	}
	numbers, ids := make([]int64, len(events)), make([]string, len(events))
	for i, e := range events {
		numbers[i], ids[i] = e.seq, e.id
	}
	n, err := tx.Exec(`DELETE FROM event_waiting WHERE account_id = $1
		AND seq IN (SELECT CAST(value AS BIGINT) FROM json_each($2)) AND event_id IN (SELECT value FROM json_each($3))`,
		account, db.JSON(numbers), db.JSON(ids))
	switch {
	case err != nil:
		return err
	case n == 0:
		return errElsewhere
	case n < int64(len(events)):
		return errOverlap
	}
	return nil
}

// stillWaits returns errElsewhere for an event that does not wait any more.
func stillWaits(tx *db.Tx, account int64, e *pending) error {
	if e == nil {
		return nil
	}
	_, found, err := db.One(tx, db.Column[int64],
		`SELECT 1 FROM event_waiting WHERE account_id = $1 AND seq = $2 AND event_id = $3`, account, e.seq, e.id)
	if err == nil && !found {
		err = errElsewhere
	}
	return err
}

// lastVerdict returns the id after which those of an account's next verdicts follow. They begin with now in microseconds,
// so that PostgreSQL finds verdicts of a time without looking at all its parts of the table. A transaction reads it once
// and counts on: no other writes verdicts of the account meanwhile.
func lastVerdict(tx *db.Tx, account int64, now time.Time) (int64, error) {
	id, _, err := db.One(tx, db.Column[int64], `SELECT coalesce(max(verdict_id), 0) FROM verdict WHERE account_id = $1 AND verdict_id >= $2`,
		account, now.UnixMicro())
	return max(id, now.UnixMicro()-1), err
}

var verdictColumns = []string{"account_id", "verdict_id", "decided_at", "event_id", "channel_id", "outcome", "alert_id", "incident_id",
	"integration_id", "event_time", "severity", "body", "trace"}

// values returns the row of a verdict under an id; event is empty when an alert was decided again.
func (v *verdict) values(account, id int64, event string, now time.Time) []any {
	alert, incident := "", ""
	if v.Alert != nil {
		alert, incident = v.row.ID, v.row.Incident
	}
	return []any{account, id, now.UnixMilli(), event, v.Channel, string(v.Outcome), alert, incident,
		v.Event.Integration, v.Event.Time, v.Event.Severity, v.body, v.trace}
}

// groupName returns the source's name of the group of the verdict's alert.
func (v *verdict) groupName() incident.GroupName {
	return incident.GroupName{Title: v.Event.GroupTitle, Text: v.Event.GroupText, Key: v.Grouping.Key, BySource: v.Grouping.BySource}
}

// joinedName is groupName for an alert that joins an incident. One that is decided again, as when a silence ends, has no event
// that names its group.
func (b *batch) joinedName(v *verdict) (name incident.GroupName, err error) {
	name = v.groupName()
	if name.Title == "" && v.Alert.GroupKey != "" && b.GroupName != nil {
		name.Title, name.Text, err = b.GroupName(b.tx, b.m.account, v.Alert.GroupKey, b.m.now)
	}
	return name, err
}

// apply stores the alert and the incident of a verdict, and publishes what changed of the incident.
func (b *batch) apply(v *verdict) (err error) {
	a, m := v.Alert, b.m
	if a == nil {
		return nil
	}
	if v.New {
		err = v.row.Insert(b.tx, m.account, v.origin, m.now)
	} else {
		err = v.row.Update(b.tx, m.account, m.now)
	}
	if err != nil {
		return err
	}
	for n, kind := range v.Feed {
		b.happened = append(b.happened, activity.Item{
			Account: m.account, ID: a.ID, Channel: a.Channel, At: m.now, First: v.New && n == 0, Subject: v.row,
			Event: activity.AlertDecided{
				Kind: kind, Severity: a.Severity, Status: a.Status, Title: a.Title, Headline: render.AlertName(a.Title, a.Labels),
			},
		})
	}
	if v.Frees {
		b.freed = append(b.freed, a.ID)
	}
	if err := b.applyIncident(v); err != nil {
		return err
	}
	if v.Flaps == (decide.Flaps{}) && !v.Settled || a.Incident == "" {
		return nil
	}
	b.recheck = append(b.recheck, a.Incident)
	return b.writer.Flaps(a.Incident, a, v.Flaps, v.Settled, v.Again)
}

// applyIncident stores the changes that a verdict makes to the alert's incident.
func (b *batch) applyIncident(v *verdict) error {
	a := v.Alert
	switch {
	case v.Grouping.Open:
		return b.writer.OpenFor(a, v.origin, v.Grouping.Key, v.method, v.Event.Labels[event.Drill] != "")
	case v.Grouping.Join != "":
		b.recheck = append(b.recheck, a.Incident)
		name, err := b.joinedName(v)
		if err != nil {
			return err
		}
		return b.writer.Joined(a.Incident, a, v.origin, v.Grouping.Storm, name)
	case v.Outcome == decide.Recovered && v.before != "":
		return b.writer.Recovered(v.before)
	case v.Outcome == decide.Grouped:
		b.recheck = append(b.recheck, v.before)
		return b.writer.Updated(v.before, a, v.groupName())
	}
	return nil
}
