package rumintake

import (
	"log/slog"
	"sync"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/api"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/ratelimit"
)

// The limits of an application (docs/rum.md).
const (
	MaxBytes     = 1 << 20 // of a request's body
	MaxInflated  = 4 << 20 // of a compressed one
	MaxPerSecond = 200     // requests
	MaxPerMinute = 6000
	maxNewIssues = 100 // in an hour
	maxAlerts    = 20  // that begin in an hour
)

// Config holds the dependencies.
type Config struct {
	DB        *db.DB
	Log       *slog.Logger
	Rate      ratelimit.Rate   // per application
	Share     *ratelimit.Share // of all rates, that this process accepts; nil: the whole
	Guesses   *api.KeyGuesses
	Decide    *jobs.Signal // raised when events were committed
	Own       *selfalert.Service
	PublicURL string // of the console, for links in alerts; may be empty
	Metrics   prom.Registerer

	ErrorsPerSecond int // of one address, within which errors of new kinds are issues; 0: no limit
	KindsPerHour    int // of one address that are issues; 0: no limit
}

// Service takes errors.
type Service struct {
	Config
	rates *ratelimit.Table[string] // of requests, by application
	parts *ratelimit.Table[part]   // of requests, by address
	pace  *ratelimit.Table[sender] // of errors
	// By the clock of hourly: new kinds, and incidents that begin.
	kinds, opened *ratelimit.Table[sender]

	mu       sync.Mutex
	accounts map[int64]*queue

	errors *prom.CounterVec
}

// New returns a service. Its metric is tocsin_browser_errors_total by outcome.
func New(c Config) *Service {
	r := &Service{
		Config: c, accounts: map[int64]*queue{},
		rates: ratelimit.New[string](0).Divided(c.Share), parts: ratelimit.New[part](0).Divided(c.Share),
		pace: ratelimit.New[sender](maxSenders).Divided(c.Share),
		// An application has few new issues and incidents within an hour, so it adds few senders.
		kinds: ratelimit.New[sender](0).Divided(c.Share), opened: ratelimit.New[sender](0).Divided(c.Share),
		errors: prom.NewCounterVec(prom.CounterOpts{
			Name: "tocsin_browser_errors_total",
			Help: "Errors that browsers reported, by outcome.",
		}, []string{"outcome"}),
	}
	if c.Metrics != nil {
		c.Metrics.MustRegister(r.errors)
	}
	return r
}

// hour is the time in which new issues and alerts of an application are counted.
const hour = time.Hour
