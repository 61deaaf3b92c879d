package app

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"time"

	"tocsin/internal/absence"
	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/audit"
	"tocsin/internal/calendar"
	"tocsin/internal/changeevent"
	"tocsin/internal/channel"
	"tocsin/internal/console/live"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/credential"
	"tocsin/internal/datasource"
	"tocsin/internal/edge"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/explain"
	"tocsin/internal/engine/ingest"
	"tocsin/internal/engine/lint"
	"tocsin/internal/engine/machine"
	"tocsin/internal/engine/monitor"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/phone"
	"tocsin/internal/engine/rumintake"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/engine/shiftnotice"
	"tocsin/internal/engine/silencewarning"
	"tocsin/internal/engine/triage"
	"tocsin/internal/engine/untold"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/enrichment"
	"tocsin/internal/field"
	"tocsin/internal/incident"
	"tocsin/internal/insight"
	"tocsin/internal/integration"
	"tocsin/internal/module"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/egress"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/ratelimit"
	"tocsin/internal/platform/redact"
	"tocsin/internal/preference"
	"tocsin/internal/push"
	"tocsin/internal/role"
	"tocsin/internal/route"
	"tocsin/internal/rulefolder"
	"tocsin/internal/rum"
	"tocsin/internal/schedule"
	"tocsin/internal/schedulefeed"
	"tocsin/internal/sender"
	"tocsin/internal/session"
	"tocsin/internal/signin"
	"tocsin/internal/sourcemap"
	"tocsin/internal/statuspage"
	"tocsin/internal/team"
	"tocsin/internal/template"
	"tocsin/internal/warroom"
)

// assemble constructs all services, each with everything it needs, and lists their modules in the order of the
// reference. Signals and the bus are made first, since those that cause work and those that do it know each other
// through them alone. Constructors start nothing and read nothing.
func (a *App) assemble(guesses *api.KeyGuesses, linkKey, cursorKey []byte) {
	bus := &activity.Bus{}
	decide := jobs.NewSignal()
	escalate := jobs.NewSignal()
	configs := triage.NewConfigs(a.DB)
	a.signIn = a.signingIn()
	a.notify = a.notifier(bus, configs, linkKey)
	a.selfAlerts = &selfalert.Service{DB: a.DB, Notify: a.notify, Decide: decide}
	a.machine = &machine.Service{
		DB: a.DB, Keyring: a.Keyring, KeyText: a.SealKey != "", Alerts: a.selfAlerts, Log: a.Log, Host: host(), Measured: a.FreeBytes,
		MaxBytes: a.DatabaseBytes,
	}
	a.ingest = ingest.New(ingest.Config{
		DB: a.DB, Log: a.Log, Rate: a.pushRate(), Share: a.share, MaxAlerts: a.PushAlerts, MaxBytes: a.PushBytes,
		Guesses: guesses, Decide: decide, Own: a.selfAlerts, Metrics: a.metrics, Turns: fair.NewQueue(fair.Quick, a.DB.Meter()),
	})
	a.browserErrors = rumintake.New(rumintake.Config{
		DB: a.DB, Log: a.Log, Rate: a.errorRate(), Share: a.share, Guesses: guesses, Decide: decide, Own: a.selfAlerts,
		PublicURL: a.PublicURL, Metrics: a.metrics,
		ErrorsPerSecond: a.BrowserErrorsPerSecond, KindsPerHour: a.BrowserKindsPerHour,
	})
	a.monitors = monitor.New(monitor.Config{
		DB: a.DB, Keyring: a.Keyring, Clock: a.Clock, Log: a.Log, Nodes: a.Nodes, Own: a.selfAlerts, Decide: decide, Open: a.queriers().Open,
		Held: a.Gate.Reason, PublicURL: a.PublicURL, Metrics: a.metrics, Turns: fair.NewQueue(fair.Quick, a.DB.Meter()),
		Guesses: guesses,
	})
	a.shifts = &shiftnotice.Service{DB: a.DB, Keyring: a.Keyring, Log: a.Log, Notify: a.notify}
	a.sourcemaps = sourcemap.New(sourcemap.Config{
		DB: a.DB, Keys: a.Keys, Guesses: guesses, Rate: ratelimit.Rate{PerSecond: a.LimitPerSecond, PerMinute: a.LimitPerMinute},
		Share: a.share, Pace: a.pace,
	})
	a.feeds = schedulefeed.New(schedulefeed.Service{DB: a.DB, Clock: a.Clock, Log: a.Log, Share: a.share, BaseURL: a.PublicURL})
	a.lint = &lint.Service{
		Keyring: a.Keyring, Notify: a.notify, Proxy: func(now time.Time) string { return a.Frame.UntrustedProxy(now) },
		Empty: a.monitors.Empty, SecretEnv: a.SecretEnv,
	}
	untolds := untold.New(untold.Service{DB: a.DB, Bus: bus, Log: a.Log, Notify: a.notify, Wake: jobs.NewSignal(), Silences: configs.Silences})
	escalations := escalation.New(escalation.Service{
		DB: a.DB, Bus: bus, Keyring: a.Keyring, Log: a.Log, Notify: a.notify, Untold: untolds, Wake: escalate,
		Silences: configs.Silences,
	})
	a.monitors.Escalation = escalations
	a.phone = &phone.Service{
		DB: a.DB, Clock: a.Clock, Log: a.Log, Notify: a.notify, Escalation: escalations, Twilio: a.Senders.Twilio,
	}
	webhooks := webhook.New(webhook.Config{
		DB: a.DB, Keyring: a.Keyring, Clock: a.Clock, Log: a.Log, Metrics: a.metrics, Out: a.webhooks(), CursorKey: cursorKey,
		PublicURL: a.PublicURL, Closed: a.Senders.Closed, Held: a.Gate.Reason, Bus: bus, Report: a.endpointTrouble,
	})
	decisions := triage.New(triage.Config{
		DB: a.DB, Bus: bus, Log: a.Log, Metrics: a.metrics, Configs: configs, Notify: a.notify, Untold: untolds,
		Decide: decide, Escalate: escalate, Escalation: escalations, GroupName: a.browserErrors.GroupName,
	})
	a.Modules = append(a.objects(bus),
		untolds.Module(),
		escalations.Module(),
		(&warroom.Service{Keyring: a.Keyring, Bus: bus, Out: a.outside(), PublicURL: a.PublicURL}).Module(),
		(&explain.Service{Held: a.Gate.Reason, Rule: monitor.Explain}).Module(),
		a.lint.Module(),
		insight.New(a.DB).Module(),
		changeevent.Module(),
		webhooks.Module(),
		a.notify.Module(),
		a.phone.Module(),
		a.shifts.Module(),
		(&silencewarning.Service{DB: a.DB, Log: a.Log, Notify: a.notify, Configs: configs}).Module(),
		decisions.Module(),
		a.selfAlerts.Module(),
		a.machine.Module(),
		a.ingest.Module(),
		a.browserErrors.Module(),
		a.monitors.Module(),
	)
	a.Modules = append(a.Modules, a.Module())
	a.Modules = append(a.Modules, audit.New(cursorKey, recorded(a.Modules), channel.Hidden, rum.Private).Module(audit.Masking{
		DB:     a.DB,
		Shapes: func() map[string]*redact.Shape { return a.Frame.Secrets() }, // the frame is made of the modules
	}))
	for _, m := range a.Modules {
		if m.Handle != nil {
			bus.Subscribe(m.Handle)
		}
		if m.Handles != nil {
			bus.SubscribeAll(m.Handles)
		}
	}
	a.live = live.New(a.accountMark, a.accountState)
	bus.Subscribe(a.pagesChange)
}

// objects lists the modules of what accounts keep.
func (a *App) objects(bus *activity.Bus) []module.Module {
	schedules := &schedule.Service{Keyring: a.Keyring, DB: a.DB, Pace: a.pace, Overridden: a.shifts.Overridden, Covered: a.shifts.Covered}
	return []module.Module{
		schedules.Module(),
		(&absence.Service{Effects: schedule.AbsenceEffects, Moved: a.shifts.Moved}).Module(),
		a.feeds.Module(),
		alert.Module(),
		channel.Module(a.Keyring, a.monitors.ChannelSwitched, route.RemoveChannel),
		(&incident.Service{DB: a.DB, Bus: bus, PublicURL: a.PublicURL, Log: a.Log, Metrics: a.metrics}).Module(),
		(&datasource.Service{Keyring: a.Keyring, Open: a.monitors.Connect, Changed: a.monitors.SourceChanged}).Module(),
		(&edge.Service{Slots: monitor.EdgeSlots, Watches: a.monitors.ClusterWatches}).Module(),
		(&rulefolder.Service{Rules: alertrule.CountByFolder}).Module(),
		alertrule.New(alertrule.Config{
			First: a.monitors.First, Changed: a.monitors.RuleChanged, States: a.monitors.States, Try: a.monitors.Try,
		}).Module(),
		rum.New(a.DB, a.Keyring, a.browserErrors.Changed).Module(),
		a.sourcemaps.Module(),
		person.Module(a.addressChanged, schedules.ReleasePerson, channel.ReleasePerson, untold.ReleasePerson),
		credential.Module(),
		(&push.Service{Keyring: a.Keyring, Test: a.notify.TestPush}).Module(),
		session.Module(),
		a.signIn.Module(),
		(&team.Service{Invite: person.InviteByEmail}).Module(),
		role.Module(),
		calendar.Module(),
		template.Module(),
		field.Module(),
		(&integration.Service{Keyring: a.Keyring}).Module(),
		route.Module(),
		enrichment.Module(),
		(&preference.Service{Keyring: a.Keyring}).Module(),
		statuspage.Module(),
	}
}

// notifier returns the service that sends notifications. Those about shifts and silences are looked at again when they
// are sent, by the packages that know.
func (a *App) notifier(bus *activity.Bus, configs *triage.Configs, linkKey []byte) *notify.Service {
	return notify.New(notify.Config{
		DB: a.DB, Bus: bus, Keyring: a.Keyring, Clock: a.Clock, Log: a.Log, Metrics: a.metrics,
		Deliver: a.deliverer(), Can: a.can, Held: a.Gate.Reason,
		Links: &notify.Links{Base: a.PublicURL, Key: linkKey}, Absent: escalation.Absent, Budget: a.Budget,
		Failing: a.failing, Next: a.next, Partial: escalation.Partial,
		Stale: func(n *notify.Notification, now time.Time) sentence.Value {
			return cmp.Or(sentence.Raw(shiftnotice.Stale(a.DB, n, now)), silencewarning.Stale(a.DB, configs, n, now))
		},
	})
}

// signingIn returns the service that lets persons into the console.
func (a *App) signingIn() *signin.Service {
	c := signin.Config{
		DB: a.DB, Keyring: a.Keyring, Log: a.Log, PublicURL: a.PublicURL, Held: a.Gate.Reason, Recheck: a.Keys.Recheck, OpenID: a.OpenID,
		Pace: a.pace, Share: a.share, MailRate: ratelimit.Rate{PerMinute: cmp.Or(a.Budget.Other, notify.DefaultBudget.Other)},
	}
	// The operator configures the provider, so any address is allowed; a held server lets persons in as well.
	all := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	c.OpenID.Client = egress.New(egress.Policy{Allow: all}).HTTP()
	if a.can("email") {
		deliver := a.deliverer()
		c.Mail = func(ctx context.Context, to string, m sender.Message) error {
			_, err := deliver(ctx, "email", notify.Address{To: to}, m)
			return err
		}
	}
	return signin.New(c)
}

// next returns who is notified of an incident next, and when (Unix seconds), if no one acknowledges it.
func (a *App) next(ctx context.Context, account int64, id string, now time.Time) (who []string, at int64, err error) {
	err = a.DB.Snapshot(ctx, func(tx *db.Tx) error {
		i, found, err := incident.Find(tx, account, id)
		if err != nil || !found {
			return err
		}
		p, err := escalation.ProgressOf(tx, &i, now.Unix())
		if err == nil && p != nil && p.Next != nil && !p.Silenced {
			for _, one := range p.Next.Who {
				who = append(who, one.English())
			}
			at = p.Next.At
		}
		return err
	})
	return who, at, err
}

// failing raises an alert of Tocsin's own about a target that has failed for long, and ends it.
func (a *App) failing(tx *db.Tx, t notify.FailingTarget, now time.Time) error {
	key := "target/" + t.Key
	if t.Error == "" {
		return a.selfAlerts.End(tx, t.Account, key, now)
	}
	return a.selfAlerts.Raise(tx, selfalert.Alert{
		Account: t.Account, Key: key, Severity: event.Warning, Lasts: 6 * time.Hour,
		Title: fmt.Sprintf("Notifications to %s have failed for more than an hour", t.Name),
		Text:  "The last attempt failed: " + t.Error.English(),
	}, now)
}

// endpointTrouble raises an alert of Tocsin's own about the endpoint of a webhook, and ends it.
func (a *App) endpointTrouble(tx *db.Tx, t webhook.Trouble, now time.Time) error {
	own := selfalert.Alert{
		Account: t.Account, Key: fmt.Sprintf("webhook/%d/%s", t.Integration, t.Kind), Severity: event.Warning, Lasts: 6 * time.Hour,
		Title: fmt.Sprintf("The webhook %s has failed for more than an hour", t.Name),
		Text:  "The last attempt failed: " + t.Error.English() + ". Messages are retried for a day; /webhook/history/list shows each attempt.",
	}
	if t.Kind == webhook.Gone {
		own.Lasts = 30 * 24 * time.Hour
		own.Title = fmt.Sprintf("The webhook %s was disabled: its endpoint is gone (410)", t.Name)
		own.Text = "What waited for it is in /webhook/history/list. Correct its endpoint and enable it, or delete it."
	}
	if t.Error == "" {
		return a.selfAlerts.End(tx, t.Account, own.Key, now)
	}
	return a.selfAlerts.Raise(tx, own, now)
}

// pushRate is how much one integration may send (docs/sources.md). A deployment without limits has none here either.
func (a *App) pushRate() ratelimit.Rate {
	if a.LimitPerSecond == 0 && a.LimitPerMinute == 0 {
		return ratelimit.Rate{}
	}
	return ratelimit.Rate{PerSecond: a.PushPerSecond, PerMinute: a.PushPerMinute}
}

// errorRate is how many requests with errors of browsers one application may send (docs/rum.md).
func (a *App) errorRate() ratelimit.Rate {
	if a.LimitPerSecond == 0 && a.LimitPerMinute == 0 {
		return ratelimit.Rate{}
	}
	return ratelimit.Rate{PerSecond: rumintake.MaxPerSecond, PerMinute: rumintake.MaxPerMinute}
}

// operations lists the operations of modules.
func operations(modules []module.Module) (ops [][]api.Op) {
	for _, m := range modules {
		ops = append(ops, withExamples(m.Ops))
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
		for _, name := range m.Records {
			list = append(list, audit.Named(name))
		}
	}
	return list
}
