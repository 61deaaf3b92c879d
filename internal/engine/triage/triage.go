package triage

import (
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/activity"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/untold"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Config holds the dependencies.
type Config struct {
	DB       *db.DB
	Bus      *activity.Bus
	Log      *slog.Logger
	Metrics  prometheus.Registerer
	Configs  *Configs
	Notify   *notify.Service // notifies owners of rules over their budget; may be nil
	Untold   *untold.Service // keeps events that no channel takes; may be nil
	Decide   *jobs.Signal    // wakes the job that decides events; ingest raises it too
	Escalate *jobs.Signal    // raised when a decision may have started an escalation

	Escalation *escalation.Service // for trying the rules of a channel; nil: without who would be notified

	// GroupName returns the present title and description of a group of browser errors. Both are empty for another group. nil: no
	// group has a name.
	GroupName func(tx *db.Tx, account int64, groupKey string, now time.Time) (title, text string, err error)
}

// Service decides events. Make one with New.
type Service struct {
	Config
	events   *jobs.RoundRobin // accounts whose events are decided
	muted    *jobs.RoundRobin // accounts whose muted alerts are decided again
	again    *jobs.Signal     // wakes the second job
	mu       sync.Mutex
	hour     int64               // of warned, in hours since 1970
	warned   map[string]int      // rules whose owners were notified in this hour
	gathered func()              // called between reading events and reading their alerts; set by tests
	between  func(account int64) // called between deciding and storing; set by tests
	outcomes *prometheus.CounterVec
	waited   prometheus.Histogram
}

// New returns a service. Its metrics are tocsin_events_decided_total by outcome, and
// tocsin_event_decision_seconds, from an event's arrival to its verdict.
func New(c Config) *Service {
	again := jobs.NewSignal()
	r := &Service{
		Config: c, warned: map[string]int{}, again: again,
		events: jobs.NewRoundRobin(c.Decide, c.DB.Meter(), c.DB.Crowded), muted: jobs.NewRoundRobin(again, c.DB.Meter(), c.DB.Crowded),
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tocsin_events_decided_total", Help: "Verdicts on events.",
		}, []string{"outcome"}),
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tocsin_event_decision_seconds", Help: "From an event's arrival to its verdict.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 9),
		}),
	}
	if c.Metrics != nil {
		c.Metrics.MustRegister(r.outcomes, r.waited)
	}
	return r
}

// Jobs returns the background jobs: one decides events, the other decides again about alerts whose silence, inhibition
// or flapping may have ended.
func (r *Service) Jobs() []jobs.Job {
	return []jobs.Job{
		{Name: "decide", Interval: time.Second, Run: r.decide, Wait: r.events.Wait, Signal: r.Decide},
		{Name: "decide again", Interval: time.Second, Run: r.reevaluate, Wait: r.muted.Wait, Signal: r.again},
	}
}
