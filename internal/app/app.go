// Package app assembles the program: configuration, database, services, HTTP and background work. It is
// the only package that imports every service, and it must hold no domain rule.
package app

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/api"
	"tocsin/internal/audit"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/console/live"
	"tocsin/internal/credential"
	"tocsin/internal/engine/ingest"
	"tocsin/internal/engine/lint"
	"tocsin/internal/engine/machine"
	"tocsin/internal/engine/monitor"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/phone"
	"tocsin/internal/engine/rumintake"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/engine/shiftnotice"
	"tocsin/internal/module"
	"tocsin/internal/platform/certificate"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/hold"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/node"
	"tocsin/internal/platform/ratelimit"
	"tocsin/internal/platform/secret"
	"tocsin/internal/querier"
	"tocsin/internal/rum"
	"tocsin/internal/schedule"
	"tocsin/internal/schedulefeed"
	"tocsin/internal/signin"
	"tocsin/internal/sourcemap"
)

// Config is everything that may differ between two deployments.
type Config struct {
	DB                     string // DSN, see db.Open
	SealKeyFile            string // file with the keys that seal stored secrets; empty: see sealkey.Source.Path
	SealKey                string // the keys as text, instead of a file
	NewSealKey             bool   // start although keys of stored secrets are missing; those secrets are lost
	Listen                 string // host:port; port 0 picks one
	TLSCert                string // PEM files; both or neither
	TLSKey                 string
	LimitPerSecond         int // per account and operation; 0: no limit
	LimitPerMinute         int
	LimitWait              time.Duration // how long calls above these limits wait for their turn, if their key has no wait
	PushPerSecond          int           // requests per integration; 0: no limit
	PushPerMinute          int
	PushAlerts             int               // alerts in a request; 0: ingest.MaxAlerts
	PushBytes              int64             // of a request's body; 0: ingest.MaxBytes
	BrowserErrorsPerSecond int               // errors of pages from one address, of which new kinds are issues; 0: no limit
	BrowserKindsPerHour    int               // new kinds of such errors from one address that are issues; 0: no limit
	TrustedProxies         []netip.Prefix    // their X-Forwarded-For is trusted
	AuditDays              int               // days that audit entries are kept; 0: for ever
	DeliveryDays           int               // days that webhook deliveries are kept; 0: for ever
	EventDays              int               // days that events, their verdicts and notifications are kept; 0: for ever
	IncidentDays           int               // days that closed incidents and ended alerts are kept, with their feeds; 0: for ever
	DroppedDays            int               // days that verdicts on events that became no part of an alert are kept; 0: as EventDays
	PublicURL              string            // base URL for links in messages, without a final slash; empty: messages have no links
	Budget                 notify.Budget     // messages to a person in a minute; zero: notify.DefaultBudget
	OpenID                 signin.OpenID     // provider at which persons sign in to the console; zero: none
	Senders                Senders           // mail server, gateway and network policy
	DatasourceAllow        []netip.Prefix    // internal addresses at which datasources may be
	SecretEnv              querier.SecretEnv // variables that datasources may refer to
	Hold                   bool              // the server sends nothing until it is released
	Release                bool              // a held server is released at its start
	FreeBytes              func() int64      // what the disk of the database takes; nil: it is asked
	DatabaseBytes          int64             // how large a database on a server may become; 0: not known
	Version                string
	Log                    *slog.Logger
	Clock                  clock.Clock
}

// App is the assembled program, not yet listening.
type App struct {
	Config
	DB      *db.DB
	Keyring *secret.Keyring
	Keys    *auth.Keys
	Frame   *api.Frame
	Runner  *jobs.Runner // background jobs; not started
	Modules []module.Module
	Gate    *hold.Gate // whether anything is sent
	Nodes   *node.Registry
	share   *ratelimit.Share // of the rates, that this process accepts
	turns   *fair.Queue      // of accounts that compute
	pace    *fair.Queue      // of what computes for long beside the reads
	pages   *pageChanges

	machine  *machine.Service
	outdated atomic.Pointer[string] // why this process must not run on the database any more; nil: it may
	ingest   *ingest.Service
	notify   *notify.Service
	phone    *phone.Service
	shifts   *shiftnotice.Service
	signIn   *signin.Service
	lint     *lint.Service
	live     *live.Live
	feeds    *schedulefeed.Service

	selfAlerts    *selfalert.Service
	browserErrors *rumintake.Service
	monitors      *monitor.Service
	sourcemaps    *sourcemap.Service
	metrics       *prometheus.Registry

	certificate *certificate.Files // nil: plain HTTP
}

// New opens the database, migrates it and assembles the services. The caller closes the App.
func New(ctx context.Context, c Config) (*App, error) {
	d, err := db.Open(ctx, c.DB, func(why error) { c.Log.Warn("a migration waits", "error", why) })
	if err != nil {
		return nil, err
	}
	c.Log = d.QuietLog(c.Log, c.Clock.Now)
	d.Unreadable().Report = func(row db.Row, why error) {
		c.Log.Error("configuration cannot be read and is left out", "account", row.Account, "kind", row.Kind, "id", row.ID, "error", why)
	}
	a := &App{Config: c, DB: d, Keys: auth.NewKeys(d, c.Clock), metrics: prometheus.NewRegistry(),
		share: &ratelimit.Share{}, turns: fair.NewQueue(fair.Quick, d.Meter()), pace: fair.NewQueue(fair.Rare, d.Meter())}
	a.watchCommits()
	if err := SetClock(ctx, d, c.Clock); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	a.Keyring, err = c.SealKeys().Open(ctx, d)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	cursorKey, err := a.Keyring.DeriveKey("cursor")
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	linkKey, err := a.Keyring.DeriveKey("links")
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	a.certificate, err = certificate.Load(c.TLSCert, c.TLSKey, c.Log, a.metrics)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := a.openGate(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	a.Nodes = node.New(node.Config{
		DB: d, Clock: c.Clock, Name: host(), Version: c.Version, SealKeys: a.Keyring.KeyIDs, Offset: a.offset, Share: a.share,
	})
	a.pages = newPageChanges(d)
	guesses := api.NewKeyGuesses(a.share)
	a.assemble(guesses, linkKey, cursorKey)
	a.Frame = api.New(api.Config{
		DB: d, Keys: a.Keys, Clock: c.Clock, Log: c.Log, Metrics: a.metrics, Audit: audit.Record, Conceal: conceal,
		Oncall: schedule.Oncall, Outgrown: credential.Outgrown, CursorKey: cursorKey,
		Rate: ratelimit.Rate{PerSecond: c.LimitPerSecond, PerMinute: c.LimitPerMinute}, Share: a.share, LimitWait: c.LimitWait,
		Proxies: c.TrustedProxies, Build: c.Version, Guesses: guesses, MaxBody: a.ingest.MaxBytes, Turns: a.turns, Pace: a.pace,
	}, operations(a.Modules)...)
	a.Runner = a.runner()
	a.complete(ctx)
	return a, nil
}

// Close closes the database. The App must not be used afterwards.
func (a *App) Close() error {
	a.live.Stop()
	return a.DB.Close()
}

// conceal removes from an error the names of what is private to others.
func conceal(tx *db.Tx, who auth.Principal, err error) error {
	return rum.Conceal(tx, who, channel.Conceal(tx, who, err))
}
