// Package triage decides what becomes of the events that came in: it makes an account's configuration ready,
// asks the pure decision, and stores what it says, with its reasons: alerts, incidents, verdicts and news, in
// one transaction for each batch.
//
// It must never lose an event: one that cannot be decided is tried again by itself and ends, at last, with a
// verdict that says so.
package triage

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/db"
	"tocsin/internal/news"
	"tocsin/internal/work"
)

// Room decides.
type Room struct {
	DB   *db.DB
	Bus  *news.Bus
	Log  *slog.Logger
	Wake func() // called when something was decided that others may have to act on; may be nil

	mu       sync.Mutex
	accounts map[int64]*ready
	outcomes *prometheus.CounterVec
	waited   prometheus.Histogram
}

// New makes the room. Its metrics are tocsin_events_decided_total by outcome, and
// tocsin_event_decision_seconds, from an event's arrival to its verdict.
func New(d *db.DB, bus *news.Bus, log *slog.Logger, metrics prometheus.Registerer) *Room {
	r := &Room{
		DB: d, Bus: bus, Log: log, accounts: map[int64]*ready{},
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tocsin_events_decided_total", Help: "Verdicts on events."}, []string{"outcome"}),
		waited:   prometheus.NewHistogram(prometheus.HistogramOpts{Name: "tocsin_event_decision_seconds", Help: "From an event's arrival to its verdict.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 9)}),
	}
	if metrics != nil {
		metrics.MustRegister(r.outcomes, r.waited)
	}
	return r
}

// How much is decided in one transaction: long enough to share its commit among many, short enough that
// others who want to write do not notice.
// Events are decided piece by piece, and after each those have their turn who wait with events of their own:
// what comes in must be on disk before its sender hears of it, what becomes of it may take a moment longer.
const (
	batch = 90
	piece = 15
)

// turn is how many events are decided before others have their turn: more for each second that the oldest has
// waited, so that a flood is slowed down rather than decided ever later.
func turn(waited time.Duration) int { return piece * (1 + int(waited/time.Second)) }

// Tasks are the room's background work: deciding events as they come, and deciding anew about alerts whose
// silence ends.
func (r *Room) Tasks() []work.Task {
	return []work.Task{
		{Name: "decide", Idle: time.Second, Run: r.decide},
		{Name: "decide again", Idle: time.Second, Run: r.again},
	}
}

// write runs a change and counts what it decided once that is on disk.
func (r *Room) write(ctx context.Context, fn func(*db.Tx, *tally) error) (*tally, error) {
	counted := &tally{}
	err := r.DB.Write(ctx, func(tx *db.Tx) error {
		*counted = tally{}
		return fn(tx, counted)
	})
	if err != nil { // what was made ready may be of a configuration that never was
		r.mu.Lock()
		clear(r.accounts)
		r.mu.Unlock()
	} else {
		for _, outcome := range counted.outcomes {
			r.outcomes.WithLabelValues(outcome).Inc()
		}
		for _, seconds := range counted.waited {
			r.waited.Observe(seconds)
		}
		if len(counted.outcomes) > 0 && r.Wake != nil {
			r.Wake()
		}
	}
	return counted, err
}

// tally is what a transaction decided.
type tally struct {
	more     bool // events wait that it left
	outcomes []string
	waited   []float64
}
