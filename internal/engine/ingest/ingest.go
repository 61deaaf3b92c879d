// Package ingest accepts events from monitoring systems, at /event/push. It finds the integration by its key, parses the
// body with the source's parser, and replies when the events are on disk. Package engine/triage decides about them
// afterwards.
//
// It must never reply with success before the events are committed, and never reject one alert of a batch because of
// another.
package ingest

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	prom "github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/api"
	"tocsin/internal/core/event"
	"tocsin/internal/engine/triage"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/jobs"
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

// Config holds the dependencies.
type Config struct {
	DB      *db.DB
	Rate    ratelimit.Rate // per integration
	Guesses *api.KeyGuesses
	Decide  *jobs.Signal // raised when events were committed
	Metrics prom.Registerer
}

// Service accepts events.
type Service struct {
	Config
	rates       *ratelimit.Table[int64]
	mu          sync.Mutex
	known       map[string]known // integrations by key, for a moment
	up, overdue atomic.Int64     // heartbeats as the task found them last

	watched map[int64]watched // heartbeats by account; of the task alone
	looked  time.Time         // when it last looked at heartbeats, and since when it has without a pause; of the task alone
	awake   time.Time
	last    atomic.Int64 // the newest moment of arrival that was given out, Unix nanoseconds
	taken   *prom.CounterVec
}

// known is an integration cached by its key.
type known struct {
	integration integration.Integration
	found       bool
	until       time.Time
}

// maxCacheAge bounds how long an integration is cached by its key: one that was disabled is rejected within that time.
const maxCacheAge = 500 * time.Millisecond

// New returns a service. Its metric is tocsin_events_received_total by source and outcome.
func New(c Config) *Service {
	r := &Service{
		Config:  c,
		rates:   ratelimit.New[int64](0),
		known:   map[string]known{},
		watched: map[int64]watched{},
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

// maxBody is the limit of one request, in bytes: a thousand alerts with their labels.
const maxBody = 4 << 20

// maxPagerDuty is the limit of a body that contains its key, in bytes: the limit of PagerDuty's Events API, which its
// clients observe.
const maxPagerDuty = 512 << 10

// Alerts accepts the events of alerts: POST /event/push/alert/SOURCE?integration_key=KEY.
func (r *Service) Alerts() api.Endpoint {
	return api.Endpoint{Path: "/event/push/alert", Methods: []string{http.MethodPost}, MaxBody: maxBody, Do: r.alerts}
}

// Taken is the reply: the alerts that were accepted, and those that were not.
type Taken struct {
	AlertKey string           `json:"alert_key,omitzero" doc:"The key of the alert, if only one was accepted."`
	Events   []Receipt        `json:"events" doc:"The accepted alerts, in the order in which they were sent."`
	Refused  []source.Refused `json:"refused,omitzero" doc:"The rejected alerts, and why; the others were accepted all the same."`
}

// Receipt is an event that was accepted.
type Receipt struct {
	EventID  string `json:"event_id" doc:"24 hexadecimal digits, for /alert/explain."`
	AlertKey string `json:"alert_key" doc:"The alert it belongs to."`
}

// alerts handles a push of alerts.
func (r *Service) alerts(c *api.Call, req *http.Request, header http.Header, body *api.Body) (any, error) {
	name := req.PathValue("source")
	parse, ok := parsers[name]
	if !ok {
		return nil, fault.New(fault.RouteNotFound, "there is no source %.60q; there are %s", name, strings.Join(names(), ", "))
	}
	var text []byte
	var err error
	key := keyOf(req)
	inBody := key == "" && name == "pagerduty" // PagerDuty's clients send the key in the body
	if inBody {
		if text, err = body.ReadUnknown(maxPagerDuty); err != nil {
			return nil, err
		}
		key = pagerduty.Key(text)
	}
	i, err := r.integration(c, key, header)
	if err != nil {
		return nil, err
	}
	if !i.IsSource() || i.IntegrationType == integration.Change || i.IntegrationType == integration.Heartbeat {
		return nil, fault.Invalid("integration_key", "belongs to an integration of type %s, which takes no alerts", i.IntegrationType)
	}
	if !inBody {
		if text, err = body.Read(i.AccountID, i.IntegrationID); err != nil {
			return nil, err
		}
	}
	batch, err := parse(text, c.Now, req.URL.Query())
	if err != nil {
		r.taken.WithLabelValues(name, "refused").Inc()
		return nil, err
	}
	r.taken.WithLabelValues(name, "refused").Add(float64(len(batch.Refused)))
	if len(batch.Events) == 0 && len(batch.Refused) > 0 {
		first := batch.Refused[0]
		return nil, fault.Invalid(first.Field, "%s; none of the %d alerts could be taken", first.Message, len(batch.Refused))
	}
	if err := r.Put(c.Ctx, i.AccountID, i.IntegrationID, batch.Events, c.Now); err != nil {
		return nil, err
	}
	r.taken.WithLabelValues(name, "taken").Add(float64(len(batch.Events)))
	reply := Taken{Events: make([]Receipt, len(batch.Events)), Refused: batch.Refused}
	for n, e := range batch.Events {
		reply.Events[n] = Receipt{e.ID, e.AlertKey}
	}
	if len(reply.Events) == 1 {
		reply.AlertKey = reply.Events[0].AlertKey
	}
	return reply, nil
}

// integration returns the enabled integration of a key, within its rate limit. The account may not be known before: the
// key is the only credential.
func (r *Service) integration(c *api.Call, key string, header http.Header) (i integration.Integration, err error) {
	if key == "" {
		return i, fault.Invalid("integration_key", "is required, in the address, as in ?integration_key=KEY")
	}
	k, err := r.find(c.Ctx, key, c.Now)
	switch {
	case err != nil:
		return i, err
	case !k.found:
		if err := r.Guesses.Guessed(c); err != nil {
			return i, err
		}
		return i, fault.Invalid("integration_key", "integration_key is not a valid one")
	case k.integration.Status != "enabled":
		return i, fault.Invalid("integration_key", "belongs to an integration that is disabled")
	}
	c.Who.AccountID = k.integration.AccountID // for the log
	if v := r.rates.Allow(k.integration.IntegrationID, r.Rate, c.Now); !v.OK {
		return i, api.Limited(header, v, "this integration")
	}
	return k.integration, nil
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

// find returns the integration of a key, from the cache or from the database. Unknown keys are not cached.
func (r *Service) find(ctx context.Context, key string, now time.Time) (k known, err error) {
	r.mu.Lock()
	k, ok := r.known[key]
	r.mu.Unlock()
	if ok && now.Before(k.until) && k.until.Sub(now) <= maxCacheAge {
		return k, nil
	}
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		k.integration, k.found, err = integration.ByKey(tx, key, now.Unix())
		return err
	})
	if err != nil || !k.found {
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

// Put stores events of an integration, which then wait for their verdicts, and sets the id of each. Events of one call
// share a commit.
func (r *Service) Put(ctx context.Context, account, integration int64, events []event.Event, now time.Time) error {
	bodies, err := r.bodies(integration, events, now)
	if err != nil {
		return err
	}
	if err := r.DB.Write(ctx, func(tx *db.Tx) error { return triage.Accept(tx, account, events, bodies) }); err != nil {
		return err
	}
	r.Decide.Raise()
	return nil
}

// bodies sets the ids of events and returns them as they are stored. It runs outside of the write transaction, because
// encoding takes time and other writers would wait.
func (r *Service) bodies(integration int64, events []event.Event, now time.Time) ([]string, error) {
	bodies := make([]string, len(events))
	for i := range events {
		e := &events[i]
		e.ID, e.Integration, e.Received = id.Object(now), integration, r.arrival(now)
		body, err := json.Marshal(e, json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		bodies[i] = string(body)
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
