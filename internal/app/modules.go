package app

import (
	"cmp"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/audit"
	"tocsin/internal/calendar"
	"tocsin/internal/changeevent"
	"tocsin/internal/channel"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/explain"
	"tocsin/internal/engine/ingest"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/shiftnotice"
	"tocsin/internal/engine/silencewarning"
	"tocsin/internal/engine/triage"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/enrichment"
	"tocsin/internal/field"
	"tocsin/internal/incident"
	"tocsin/internal/integration"
	"tocsin/internal/module"
	"tocsin/internal/person"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/ratelimit"
	"tocsin/internal/preference"
	"tocsin/internal/role"
	"tocsin/internal/route"
	"tocsin/internal/rum"
	"tocsin/internal/schedule"
	"tocsin/internal/team"
	"tocsin/internal/template"
	"tocsin/internal/warroom"
)

// pushRate is how much one integration may send (docs/sources.md).
var pushRate = ratelimit.Rate{PerSecond: 100, PerMinute: 1000}

// assemble constructs all services, each with everything it needs, and lists their modules in the order of the
// reference. Signals and the bus are made first, since those that cause work and those that do it know each other
// through them alone. Constructors start nothing and read nothing.
func (a *App) assemble(guesses *api.KeyGuesses, linkKey, cursorKey []byte) {
	bus, decide, escalate, configs := &activity.Bus{}, jobs.NewSignal(), jobs.NewSignal(), triage.NewConfigs(a.DB)
	notifier := notify.New(notify.Config{DB: a.DB, Bus: bus, Keyring: a.Keyring, Clock: a.Clock, Log: a.Log, Metrics: a.metrics, Deliver: a.deliverer(), Can: a.can,
		Links: &notify.Links{Base: a.PublicURL, Key: linkKey},
		Stale: func(n *notify.Notification, now time.Time) string { // each knows its own
			return cmp.Or(shiftnotice.Stale(a.DB, n, now), silencewarning.Stale(a.DB, configs, n, now))
		}})
	rate := pushRate
	if a.LimitPerSecond == 0 && a.LimitPerMinute == 0 {
		rate = ratelimit.Rate{} // a deployment without limits has none here either
	}
	intake := ingest.New(ingest.Config{DB: a.DB, Rate: rate, Guesses: guesses, Decide: decide, Metrics: a.metrics})
	list := []module.Module{
		(&schedule.Service{Keyring: a.Keyring}).Module(),
		(&alert.Service{CursorKey: cursorKey}).Module(),
		channel.Module(a.Keyring),
		(&incident.Service{DB: a.DB, Bus: bus, CursorKey: cursorKey, Log: a.Log}).Module(),
		(&datasource.Service{Keyring: a.Keyring}).Module(),
		rum.New(a.Keyring).Module(),
		person.Module(),
		team.Module(),
		role.Module(),
		calendar.Module(),
		template.Module(),
		field.Module(),
		(&integration.Service{Keyring: a.Keyring}).Module(),
		route.Module(),
		enrichment.Module(),
		(&preference.Service{Keyring: a.Keyring}).Module(),
		escalation.New(escalation.Service{DB: a.DB, Bus: bus, Keyring: a.Keyring, Log: a.Log, Notify: notifier, Wake: escalate, Silenced: configs.Silenced}).Module(),
		(&warroom.Service{Keyring: a.Keyring, Bus: bus, Out: a.outside()}).Module(),
		(&explain.Service{}).Module(),
		changeevent.Module(),
		webhook.New(webhook.Config{CursorKey: cursorKey, DB: a.DB, Keyring: a.Keyring, Clock: a.Clock, Log: a.Log, Metrics: a.metrics, Out: a.outside(), Closed: a.Senders.Closed}).Module(),
		notifier.Module(),
		(&shiftnotice.Service{DB: a.DB, Keyring: a.Keyring, Log: a.Log, Notify: notifier}).Module(),
		(&silencewarning.Service{DB: a.DB, Log: a.Log, Notify: notifier, Configs: configs}).Module(),
		triage.New(triage.Config{DB: a.DB, Bus: bus, Log: a.Log, Metrics: a.metrics, Configs: configs, Notify: notifier, Decide: decide, Escalate: escalate}).Module(),
		intake.Module(),
	}
	list = append(list, audit.New(cursorKey, recorded(list), channel.Hidden).Module())
	for _, m := range list {
		if m.Handle != nil {
			bus.Subscribe(m.Handle)
		}
	}
	a.Modules, a.ingest, a.notify = list, intake, notifier
}

// operations lists the operations of modules.
func operations(modules []module.Module) (ops [][]api.Op) {
	for _, m := range modules {
		ops = append(ops, m.Ops)
	}
	return ops
}

// recorded lists the operations that the audit log records. Its own are reads.
func recorded(modules []module.Module) (list []audit.Operation) {
	for _, m := range modules {
		for _, op := range m.Ops {
			if op.Audit != "" {
				list = append(list, audit.Named(op.Audit))
			}
		}
	}
	return list
}
