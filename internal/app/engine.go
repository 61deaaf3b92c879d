package app

import (
	"cmp"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/ingest"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/shiftnotice"
	"tocsin/internal/engine/silencewarning"
	"tocsin/internal/engine/triage"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/egress"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/ratelimit"
)

// engine is what happens by itself, from an event to the person who is told of it: each room writes down what
// the next has to do, and wakes it.
type engine struct {
	bus        *activity.Bus
	intake     *ingest.Service
	triage     *triage.Service
	escalation *escalation.Service
	notify     *notify.Service
	webhook    *webhook.Service
}

// pushRate is how much one integration may send (docs/sources.md).
var pushRate = ratelimit.Rate{PerSecond: 100, PerMinute: 1000}

// buildEngine puts the engine together and gives its tasks to the crew.
func (a *App) buildEngine(linkKey, cursorKey []byte) {
	bus := &activity.Bus{}
	e := &engine{bus: bus}
	e.notify = notify.New(notify.Config{DB: a.DB, Bus: bus, Keyring: a.Keyring, Clock: a.Clock, Log: a.Log, Metrics: a.metrics, Deliver: a.deliverer(), Can: a.can,
		Links: &notify.Links{Base: a.PublicURL, Key: linkKey}})
	e.escalation = escalation.New(escalation.Service{DB: a.DB, Bus: bus, Keyring: a.Keyring, Log: a.Log, Notify: e.notify})
	turns := &shiftnotice.Service{DB: a.DB, Keyring: a.Keyring, Log: a.Log, Notify: e.notify}
	e.triage = triage.New(a.DB, bus, a.Log, a.metrics)
	e.triage.Notify = e.notify
	silences := &silencewarning.Service{DB: a.DB, Log: a.Log, Notify: e.notify, Triage: e.triage}
	e.notify.Stale(func(n *notify.Notification, now time.Time) string {
		return cmp.Or(turns.Stale(n, now), silences.Stale(n, now)) // each knows its own
	})
	e.escalation.Silenced = e.triage.Silenced
	e.webhook = webhook.New(webhook.Config{CursorKey: cursorKey, DB: a.DB, Keyring: a.Keyring, Clock: a.Clock, Log: a.Log, Metrics: a.metrics,
		Out: egress.New(egress.Policy{Allow: a.Senders.Allow, RefusePrivate: a.Senders.RefusePrivate})})
	a.engine = e

	bus.Subscribe(e.escalation.Handle)
	if !a.Senders.Closed {
		bus.Subscribe(e.webhook.Handle)
	}

	a.Runner = jobs.New(a.Clock, a.Log, a.metrics)
	for _, t := range a.housekeeping() {
		a.Runner.Add(t)
	}
	if a.Senders.AliveURL != "" {
		a.Runner.Add(a.aliveTask())
	}
	a.Runner.Add((&incident.Service{Bus: bus}).Job(a.DB, a.Log))
	tell := a.Runner.Add(e.notify.Job())
	e.notify.Woken(tell)
	escalate := a.Runner.Add(e.escalation.Job())
	e.escalation.Wake = tell
	e.escalation.Woken(escalate)
	a.Runner.Add(turns.Job())
	turns.Wake = tell
	a.Runner.Add(silences.Job())
	silences.Wake = tell
	e.webhook.Start(a.Runner)
	e.triage.Wake = escalate
	bus.Subscribe(func(tx *db.Tx, item activity.Item) error { // what a person did is acted on at once
		if item.Person != 0 {
			tx.OnCommit(escalate)
		}
		return nil
	})
	decide := func() {}
	for i, t := range e.triage.Jobs() {
		wake := a.Runner.Add(t)
		e.triage.Woken(i, wake)
		if i == 0 {
			decide = wake
		}
	}
	rate := pushRate
	if a.LimitPerSecond == 0 && a.LimitPerMinute == 0 {
		rate = ratelimit.Rate{} // a deployment without limits has none here either
	}
	e.intake = ingest.New(a.DB, rate, func(c *api.Call) error { return a.Frame.Guessed(c) }, a.metrics)
	e.intake.Wake = decide
	a.Runner.Add(e.intake.Job())
}
