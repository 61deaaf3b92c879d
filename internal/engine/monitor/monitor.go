package monitor

import (
	"log/slog"
	"sync"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/api"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/node"
	"tocsin/internal/platform/secret"
	"tocsin/internal/querier"
)

// Config holds the dependencies.
type Config struct {
	DB        *db.DB
	Keyring   *secret.Keyring
	Clock     clock.Clock
	Log       *slog.Logger
	Nodes     *node.Registry
	Own       *selfalert.Service
	Decide    *jobs.Signal // raised when events were committed
	Open      func(querier.Datasource) (querier.Querier, *evaluate.Failure)
	Held      func() string // why the server sends nothing; empty: it sends. Nothing is evaluated then
	PublicURL string        // of the console, for links in alerts; may be empty
	Metrics   prom.Registerer
	Turns     *fair.Queue // of accounts whose answers are judged
	Guesses   *api.KeyGuesses

	// Escalation is asked whom an alert of a rule would notify.
	Escalation *escalation.Service
}

// Service is the center of the server's own evaluators. Each process of the server has one evaluator.
type Service struct {
	Config
	evaluator *evaluator.Evaluator
	closes    *jobs.RoundRobin
	wake      *jobs.Signal // of the job that closes
	arrivals  arrivals
	absences  absences
	stopping  chan struct{}
	stop      func()

	mu    sync.Mutex
	rules map[int64]*ruleCache // by account
}

// New returns a service with its evaluator.
func New(c Config) *Service {
	r := &Service{Config: c, wake: jobs.NewSignal(), rules: map[int64]*ruleCache{}, stopping: make(chan struct{})}
	r.stop = sync.OnceFunc(func() { close(r.stopping) })
	r.arrivals.waiting, r.absences.raised = map[int64]chan struct{}{}, map[group]time.Time{}
	r.closes = jobs.NewRoundRobin(r.wake, c.DB.Meter(), nil)
	r.evaluator = evaluator.New(evaluator.Config{
		Center: r, Open: c.Open, Clock: c.Clock, Log: c.Log, Metrics: c.Metrics, Turns: c.Turns, Wake: jobs.NewSignal(),
		Held: func() bool { return c.Held != nil && c.Held() != "" },
	})
	return r
}
