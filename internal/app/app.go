// Package app puts the program together: configuration, database, rooms, HTTP and background work. It is
// the only package that sees every room, and it must hold no rule of any of them.
package app

import (
	"context"
	"log/slog"
	"net/netip"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/api"
	"tocsin/internal/audit"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/engine/ingest"
	"tocsin/internal/engine/notify"
	"tocsin/internal/module"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/ratelimit"
	"tocsin/internal/platform/secret"
)

// Config is everything that can differ between two deployments.
type Config struct {
	DB             string // DSN, see db.Open
	SealKeyFile    string // keys that seal stored secrets; empty: see SealFile
	SealKey        string // the same given as text, instead of a file
	NewSealKey     bool   // start although stored secrets need keys that are gone, which gives these secrets up
	Listen         string // host:port; port 0 picks one
	TLSCert        string // PEM files; both or neither
	TLSKey         string
	LimitPerSecond int // per account and operation; 0: no limit
	LimitPerMinute int
	TrustedProxies []netip.Prefix // whose X-Forwarded-For is believed
	AuditDays      int            // how long audit entries are kept; 0: for ever
	DeliveryDays   int            // how long webhook deliveries are kept; 0: for ever
	EventDays      int            // how long events, their verdicts and notices are kept; 0: for ever
	IncidentDays   int            // how long closed incidents and ended alerts are kept, with their feeds; 0: for ever
	DroppedDays    int            // how long verdicts on events that became no part of an alert are kept; 0: as the others
	PublicURL      string         // where people reach the server, without a slash at its end; empty: messages have no links
	Senders        Senders        // what the server sends with
	Version        string
	Log            *slog.Logger
	Clock          clock.Clock
}

// App is the assembled program, not yet listening.
type App struct {
	Config
	DB      *db.DB
	Keyring *secret.Keyring
	Keys    *auth.Keys
	Frame   *api.Frame
	Runner  *jobs.Runner // what happens by itself; not started
	Modules []module.Module
	ingest  *ingest.Service
	notify  *notify.Service
	metrics *prometheus.Registry
}

// New opens the database, migrates it and assembles the rooms. The caller closes the App.
func New(ctx context.Context, c Config) (*App, error) {
	d, err := db.Open(ctx, c.DB)
	if err != nil {
		return nil, err
	}
	a := &App{Config: c, DB: d, Keys: auth.NewKeys(d, c.Clock), metrics: prometheus.NewRegistry()}
	if a.Keyring, err = OpenBox(ctx, d, c); err != nil {
		d.Close()
		return nil, err
	}
	cursorKey, err := a.Keyring.DeriveKey("cursor")
	if err != nil {
		d.Close()
		return nil, err
	}
	linkKey, err := a.Keyring.DeriveKey("links")
	if err != nil {
		d.Close()
		return nil, err
	}
	guesses := api.NewKeyGuesses()
	a.assemble(guesses, linkKey, cursorKey)
	a.Frame = api.New(api.Config{
		DB: d, Keys: a.Keys, Clock: c.Clock, Log: c.Log, Metrics: a.metrics, Audit: audit.Record, Conceal: channel.Conceal,
		Rate:    ratelimit.Rate{PerSecond: c.LimitPerSecond, PerMinute: c.LimitPerMinute},
		Proxies: c.TrustedProxies, Build: c.Version, Guesses: guesses,
	}, operations(a.Modules)...)
	a.Runner = a.runner()
	a.complete(ctx)
	return a, nil
}

// Close closes the database, when nothing uses it any more.
func (a *App) Close() error { return a.DB.Close() }
