package app

import (
	"cmp"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/db"
	"tocsin/internal/escalation"
	"tocsin/internal/handover"
	"tocsin/internal/incident"
	"tocsin/internal/intake"
	"tocsin/internal/limit"
	"tocsin/internal/news"
	"tocsin/internal/notify"
	"tocsin/internal/outbound"
	"tocsin/internal/silence"
	"tocsin/internal/triage"
	"tocsin/internal/webhook"
	"tocsin/internal/work"
)

// engine is what happens by itself, from an event to the person who is told of it: each room writes down what
// the next has to do, and wakes it.
type engine struct {
	bus        *news.Bus
	intake     *intake.Room
	triage     *triage.Room
	escalation *escalation.Room
	notify     *notify.Room
	webhook    *webhook.Room
}

// pushRate is how much one integration may send (docs/sources.md).
var pushRate = limit.Rate{PerSecond: 100, PerMinute: 1000}

// buildEngine puts the engine together and gives its tasks to the crew.
func (a *App) buildEngine(linkKey, cursorKey []byte) {
	bus := &news.Bus{}
	e := &engine{bus: bus}
	e.notify = notify.New(notify.Config{DB: a.DB, Bus: bus, Box: a.Box, Clock: a.Clock, Log: a.Log, Metrics: a.metrics, Deliver: a.deliverer(), Can: a.can,
		Links: &notify.Links{Base: a.PublicURL, Key: linkKey}})
	e.escalation = escalation.New(escalation.Room{DB: a.DB, Bus: bus, Box: a.Box, Log: a.Log, Notify: e.notify})
	turns := &handover.Room{DB: a.DB, Box: a.Box, Log: a.Log, Notify: e.notify}
	e.triage = triage.New(a.DB, bus, a.Log, a.metrics)
	e.triage.Notify = e.notify
	silences := &silence.Room{DB: a.DB, Log: a.Log, Notify: e.notify, Triage: e.triage}
	e.notify.Lapsed(func(n *notify.Notice, now time.Time) string {
		return cmp.Or(turns.Lapsed(n, now), silences.Lapsed(n, now)) // each knows its own
	})
	e.escalation.Silenced = e.triage.Silenced
	e.webhook = webhook.New(webhook.Config{CursorKey: cursorKey, DB: a.DB, Box: a.Box, Clock: a.Clock, Log: a.Log, Metrics: a.metrics,
		Out: outbound.New(outbound.Policy{Allow: a.Senders.Allow, RefusePrivate: a.Senders.RefusePrivate})})
	a.engine = e

	bus.Listen(e.escalation.Hear)
	if !a.Senders.Closed {
		bus.Listen(e.webhook.Hear)
	}

	a.Crew = work.New(a.Clock, a.Log, a.metrics)
	for _, t := range a.houseTasks() {
		a.Crew.Add(t)
	}
	if a.Senders.AliveURL != "" {
		a.Crew.Add(a.aliveTask())
	}
	a.Crew.Add((&incident.Room{Bus: bus}).Task(a.DB, a.Log))
	tell := a.Crew.Add(e.notify.Task())
	e.notify.Woken(tell)
	escalate := a.Crew.Add(e.escalation.Task())
	e.escalation.Wake = tell
	e.escalation.Woken(escalate)
	a.Crew.Add(turns.Task())
	turns.Wake = tell
	a.Crew.Add(silences.Task())
	silences.Wake = tell
	e.webhook.Start(a.Crew)
	e.triage.Wake = escalate
	bus.Listen(func(tx *db.Tx, item news.Item) error { // what a person did is acted on at once
		if item.Person != 0 {
			tx.OnCommit(escalate)
		}
		return nil
	})
	decide := func() {}
	for i, t := range e.triage.Tasks() {
		wake := a.Crew.Add(t)
		e.triage.Woken(i, wake)
		if i == 0 {
			decide = wake
		}
	}
	rate := pushRate
	if a.LimitPerSecond == 0 && a.LimitPerMinute == 0 {
		rate = limit.Rate{} // a deployment without limits has none here either
	}
	e.intake = intake.New(a.DB, rate, func(c *api.Call) error { return a.Frame.Guessed(c) }, a.metrics)
	e.intake.Wake = decide
	a.Crew.Add(e.intake.Task())
}
