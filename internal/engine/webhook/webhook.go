package webhook

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/activity"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/delivery"
	"tocsin/internal/platform/egress"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
)

// Config holds the dependencies. The history needs no more than CursorKey.
type Config struct {
	CursorKey []byte // authenticates cursors, which are good for as long as it stays the same: it should outlive the process
	DB        *db.DB
	Keyring   *secret.Keyring
	Clock     clock.Clock
	Log       *slog.Logger
	Out       Caller
	Metrics   prometheus.Registerer
	PublicURL string        // of the server, without a final slash; empty: not known
	Closed    bool          // no webhook is called
	Held      func() string // why nothing is sent now; empty, or nil: messages are sent
	Bus       *activity.Bus // publishes that a webhook was disabled; nil: it is not published
	// Report reports trouble with an endpoint to people, and its end; nil: it is not reported.
	Report func(tx *db.Tx, t Trouble, now time.Time) error
}

// Caller makes the requests of attempts, as an egress.Client does.
type Caller interface {
	Do(ctx context.Context, r egress.Request) (egress.Attempt, error)
}

// Service delivers webhooks and shows their history. Make one with New.
type Service struct {
	Config
	runner   *delivery.Runner[endpointKey, *attempt, outcome]
	match    *jobs.Signal        // wakes the matching of events
	matching *jobs.RoundRobin    // accounts whose events are matched
	between  func(account int64) // called between reading events and storing their messages; set by tests
	replays  *jobs.Signal        // wakes the replays
	spread   func() float64      // from 0 to 1, see jobs.Backoff
	attempts *prometheus.CounterVec
	settled  *prometheus.CounterVec

	mu       sync.Mutex
	accounts map[int64]subscribed
	waiting  map[string]chan struct{} // by the id of an attempt: closed when it is recorded
}

// endpointKey names an endpoint: each webhook has one.
type endpointKey struct{ account, integration int64 }

// New returns a service. Its metrics are tocsin_webhook_attempts_total by type and status, and
// tocsin_webhook_messages_total by type and what became of them.
func New(c Config) *Service {
	r := &Service{
		Config:   c,
		replays:  jobs.NewSignal(),
		spread:   rand.Float64,
		accounts: map[int64]subscribed{},
		waiting:  map[string]chan struct{}{},
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tocsin_webhook_attempts_total",
			Help: "Attempts to deliver webhooks.",
		}, []string{"type", "status"}),
		settled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tocsin_webhook_messages_total",
			Help: "Messages to webhooks by what became of them.",
		}, []string{"type", "outcome"}),
	}
	r.match = jobs.NewSignal()
	r.matching = jobs.NewRoundRobin(r.match, r.DB.Meter(), r.DB.Crowded)
	if c.Metrics != nil {
		c.Metrics.MustRegister(r.attempts, r.settled)
	}
	now := func() time.Time { return r.Clock.Now() }
	r.runner = delivery.New(delivery.Config{
		Name:  "webhooks",
		DB:    c.DB,
		Now:   now,
		Log:   c.Log,
		Slots: maxRunning,
		First: maxFirst,
		Beats: true,
		Lease: lease,
		Grace: grace,
		Held:  c.Held,

		Metrics: c.Metrics,
	}, store{r})
	return r
}

// Jobs returns the background work: matching what happened with the subscriptions, sending,
// reports of endpoints that fail, and replays.
func (r *Service) Jobs() []jobs.Job {
	match := r.matching.Rounds(r.DB, unmatched, r.matchRound)
	return []jobs.Job{
		{Name: "webhook subscriptions", Interval: time.Second, Run: match, Wait: r.matching.Wait, Signal: r.match},
		r.runner.Job(),
		{Name: "webhook endpoints", Interval: time.Minute, Run: r.watch},
		{Name: "webhook replays", Interval: time.Second, Run: r.replayAll, Signal: r.replays},
	}
}
