package ingest

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/api"
	"tocsin/internal/core/event"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/engine/triage"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/moved"
	"tocsin/internal/platform/ratelimit"
	"tocsin/internal/source"
	"tocsin/internal/source/grafana"
	"tocsin/internal/source/pagerduty"
	"tocsin/internal/source/prometheus"
	"tocsin/internal/source/sentry"
	"tocsin/internal/source/standard"
	"tocsin/internal/source/zabbix"
)

// parsers are the parsers of the sources, by the last part of their path.
var parsers = map[string]source.Parser{
	"standard":   standard.Parse,
	"prometheus": prometheus.Parse,
	"grafana":    grafana.Parse,
	"pagerduty":  pagerduty.Parse,
	"zabbix":     zabbix.Parse,
	"sentry":     sentry.Parse,
}

// The limits of an integration, unless the server is configured otherwise (docs/sources.md).
const (
	MaxAlerts    = source.MaxAlerts // in a request
	MaxBytes     = 16 << 20         // of a request's body
	MaxPerSecond = 1000             // requests
	MaxPerMinute = 30_000
)

// Config holds the dependencies.
type Config struct {
	DB        *db.DB
	Log       *slog.Logger
	Rate      ratelimit.Rate   // per integration
	Share     *ratelimit.Share // of the rate, that this process accepts; nil: the whole
	MaxAlerts int              // in a request; 0: the constant MaxAlerts
	MaxBytes  int64            // of a request's body; 0: the constant MaxBytes
	Guesses   *api.KeyGuesses
	Decide    *jobs.Signal // raised when events were committed
	Own       *selfalert.Service
	Metrics   prom.Registerer
	Turns     *fair.Queue // of accounts whose requests are read; nil: none waits
}

// Service accepts events.
type Service struct {
	Config
	rates *ratelimit.Table[int64]
	mu    sync.Mutex
	known map[string]known // integrations by key, for a moment

	looked  time.Time // when the job last looked at heartbeats, and since when it has without a pause; of the job alone
	awake   time.Time
	last    atomic.Int64 // the newest moment of arrival that was given out, Unix nanoseconds
	taken   *prom.CounterVec
	refused *refusals
	unknown *unknownSeverities
	volumes *volumes
}

// known is an integration cached by its key.
type known struct {
	integration integration.Key
	found       bool
	until       time.Time
}

// usable reports whether the key is valid and its integration is enabled.
func (k *known) usable() bool {
	return k.found && !k.integration.Expired && k.integration.Status == "enabled"
}

// maxCacheAge bounds how long an integration that can be used is cached by its key: one that was disabled is rejected
// within that time. One that cannot be used is not cached, so that it is accepted at once when it is enabled.
const maxCacheAge = 500 * time.Millisecond

// New returns a service. Its metrics are tocsin_events_received_total by source and outcome, tocsin_events_refused_total
// by integration and reason, and tocsin_events_unknown_severity_total and tocsin_events_shortened_total by integration.
func New(c Config) *Service {
	c.MaxAlerts, c.MaxBytes = cmp.Or(c.MaxAlerts, MaxAlerts), cmp.Or(c.MaxBytes, MaxBytes)
	r := &Service{
		Config:  c,
		rates:   ratelimit.New[int64](0).Divided(c.Share),
		known:   map[string]known{},
		refused: newRefusals(c.Metrics),
		unknown: newUnknownSeverities(c.Metrics),
		volumes: newVolumes(c.Metrics),
		taken: prom.NewCounterVec(prom.CounterOpts{
			Name: "tocsin_events_received_total",
			Help: "Events by source and whether they were taken.",
		}, []string{"source", "outcome"}),
	}
	if c.Metrics != nil {
		c.Metrics.MustRegister(r.taken)
	}
	return r
}

// keyOf returns the key from the query, or from the Authorization header, in which Alertmanager can send one.
func keyOf(req *http.Request) string {
	if key := req.URL.Query().Get("integration_key"); key != "" {
		return key
	}
	scheme, key, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(key)
	}
	return ""
}

// find returns the integration of a key, from the cache or from the database. Only keys that can be used are cached.
func (r *Service) find(ctx context.Context, key string, now time.Time) (k known, err error) {
	r.mu.Lock()
	k, ok := r.known[key]
	r.mu.Unlock()
	if ok && now.Before(k.until) && k.until.Sub(now) <= maxCacheAge {
		return k, nil
	}
	if ok { // not a guess: it does not wait for those
		ctx = db.For(ctx, k.integration.AccountID)
	}
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		k.integration, k.found, err = integration.ByKey(tx, key, now.Unix())
		if err == nil && !k.found {
			err = moved.ByKey(tx, key)
		}
		return err
	})
	if err != nil || !k.usable() {
		return k, err
	}
	k.until = now.Add(maxCacheAge)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) > 10_000 {
		clear(r.known)
	}
	r.known[key] = k
	return k, nil
}

// putAtOnce is how many events share a transaction, so that other writers do not wait for a large request.
const putAtOnce = 250

// Put stores events of an integration, which then wait for their verdicts, and sets the id of each. When it fails, some
// may be stored: the sender sends all of them again, and those are repeated.
func (r *Service) Put(ctx context.Context, account, integration int64, events []event.Event, now time.Time) error {
	if len(events) == 0 { // such as an acknowledgement of PagerDuty's clients
		return nil
	}
	ctx = db.For(ctx, account)
	of := triage.Request{Last: true}
	if len(events) > 1 {
		of.Number = r.arrival(now)
	}
	if len(events) <= few {
		return r.put(ctx, account, integration, of, events, now)
	}
	for left := events; len(left) > 0; {
		some := left[:min(putAtOnce, len(left))]
		left = left[len(some):]
		of.Last = len(left) == 0
		if err := r.compute(ctx, account, integration, func() error { return r.put(ctx, account, integration, of, some, now) }); err != nil {
			return err
		}
	}
	return nil
}

// few is how many events are stored outside of the account's turn: to store them is to wait for the disk, mostly. More of
// them use the processors of the database.
const few = 20

func (r *Service) put(ctx context.Context, account, integration int64, of triage.Request, events []event.Event, now time.Time) error {
	bodies, err := r.bodies(integration, events, now)
	if err != nil {
		return err
	}
	err = triage.Take(ctx, r.DB, account, of, events, bodies)
	r.Decide.RaiseFor(account)
	return err
}

// compute runs fn when it is the account's turn, in which its integrations take turns: the account's calls do not delay it.
func (r *Service) compute(ctx context.Context, account, integration int64, fn func() error) error {
	leave, err := r.Turns.Enter(ctx, fair.Of(account), integration)
	if err != nil {
		return err
	}
	defer leave()
	return fn()
}

// bodies sets the ids of events and returns them as they are stored. It runs outside of the write transaction, because
// encoding takes time and other writers would wait.
func (r *Service) bodies(integration int64, events []event.Event, now time.Time) ([]string, error) {
	bodies := make([]string, len(events))
	var buf []byte
	for i := range events {
		e := &events[i]
		e.ID = id.Object(now)
		e.Integration = integration
		e.Received = r.arrival(now)
		body, err := e.AppendJSON(buf[:0])
		if err != nil {
			return nil, err
		}
		bodies[i], buf = string(body), body
	}
	return bodies, nil
}

// arrival returns a time of arrival (Unix nanoseconds) that is unique and later than all before, even if the clock stands
// still or goes back: events are decided in this order.
func (r *Service) arrival(now time.Time) int64 {
	for {
		last := r.last.Load()
		next := max(now.UnixNano(), last+1)
		if r.last.CompareAndSwap(last, next) {
			return next
		}
	}
}

// names returns the names of the sources.
func names() []string { return slices.Sorted(maps.Keys(parsers)) }
