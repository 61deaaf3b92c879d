package notify

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/activity"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/delivery"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
	"tocsin/internal/sender"
)

// Deliver sends a message over a method to an address.
type Deliver func(ctx context.Context, method string, to Address, m sender.Message) (sender.Receipt, error)

// Config holds the dependencies.
type Config struct {
	DB      *db.DB
	Bus     *activity.Bus
	Keyring *secret.Keyring
	Clock   clock.Clock
	Log     *slog.Logger
	Metrics prometheus.Registerer
	Deliver Deliver
	Can     func(method string) bool // whether the deployment can send over a method, such as sms
	Links   *Links
	Budget  Budget // zero: DefaultBudget
	// Absent is called when every method of the person refused a page. nil: nothing is done.
	Absent func(tx *db.Tx, n *Notification, now time.Time) error
	// Failing is called when a target has failed for an hour, at each further failure, and when it takes messages again. It
	// may be nil.
	Failing func(tx *db.Tx, t FailingTarget, now time.Time) error
	// Next returns who is notified of an incident next, by name, and when (Unix seconds), if no one acknowledges it; no one
	// when none is planned. It is not called in a transaction. It may be nil.
	Next func(ctx context.Context, account int64, incident string, now time.Time) (who []string, at int64, err error)
	// Partial reports whether an incident has more alerts than are counted, because events are still to be decided. nil:
	// none has.
	Partial func(tx *db.Tx, account int64, incident string, now int64) (bool, error)
	Held    func() string // why nothing is sent now; empty, or nil: notifications are sent
	// Stale returns why a notification that is about no incident need not be sent any more; empty: it is sent. It is called
	// outside of any transaction. nil: none is stale.
	Stale func(n *Notification, now time.Time) sentence.Value
}

// Service sends notifications.
type Service struct {
	Config
	runner  *delivery.Runner[queueKey, *attempt, outcome]
	settled *prometheus.CounterVec
	waited  prometheus.Histogram
	views   overviews

	rendering *fair.Queue  // of the accounts' templates
	alone     sync.RWMutex // locked while a text is rendered that may have ended the process before
}

// New returns a service. Its metrics are tocsin_notices_total by method and outcome, and tocsin_notice_seconds, from
// the moment a notification was due to the moment it was taken.
func New(c Config) *Service {
	if c.Stale == nil {
		c.Stale = func(*Notification, time.Time) sentence.Value { return "" }
	}
	c.Budget.Urgent, c.Budget.Other = cmp.Or(c.Budget.Urgent, DefaultBudget.Urgent), cmp.Or(c.Budget.Other, DefaultBudget.Other)
	r := &Service{
		Config: c, rendering: fair.NewQueue(fair.Long, nil),
		settled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tocsin_notices_total",
			Help: "Notifications by method and outcome.",
		}, []string{"way", "outcome"}),
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tocsin_notice_seconds", Help: "From the making of a notice to its being taken.",
			Buckets: prometheus.ExponentialBuckets(0.01, 4, 9),
		}),
	}
	if c.Metrics != nil {
		c.Metrics.MustRegister(r.settled, r.waited)
	}
	now := func() time.Time { return r.Clock.Now() }
	r.runner = delivery.New(delivery.Config{
		Name:  "notify",
		DB:    c.DB,
		Now:   now,
		Log:   c.Log,
		Slots: maxFlying,
		First: maxFirst,
		Lease: lease,
		Grace: timeout,
		Held:  c.Held,

		Metrics: c.Metrics,
	}, store{r})
	return r
}

// Job returns the background job.
func (r *Service) Job() jobs.Job { return r.runner.Job() }
