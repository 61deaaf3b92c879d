// Package triage decides what becomes of the events that came in: it makes an account's configuration ready,
// asks the pure decision, and stores what it says, with its reasons: alerts, incidents, verdicts and news.
//
// Deciding reads without the writer. A short write transaction then stores the verdicts if everything that was
// read for them is still the same; else they are decided again. Accounts take turns.
//
// It must never lose an event: one that cannot be decided is tried again by itself and ends, at last, with a
// verdict that says so. It must never match a filter in a write transaction, nor let one account wait for another's
// rules.
package triage

import (
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/db"
	"tocsin/internal/news"
	"tocsin/internal/notify"
	"tocsin/internal/work"
)

// Room decides.
type Room struct {
	DB     *db.DB
	Bus    *news.Bus
	Log    *slog.Logger
	Notify *notify.Room // tells owners of rules that cost too much; may be nil
	Wake   func()       // called when something was decided that others may have to act on; may be nil

	events   *work.Turns // in deciding events
	muted    *work.Turns // in deciding again
	mu       sync.Mutex
	accounts map[int64]*ready
	hour     int64               // since 1970, of warned
	warned   map[string]int      // owners, of rules
	between  func(account int64) // of tests: called between deciding and storing
	outcomes *prometheus.CounterVec
	waited   prometheus.Histogram
}

// New makes the room. Its metrics are tocsin_events_decided_total by outcome, and
// tocsin_event_decision_seconds, from an event's arrival to its verdict.
func New(d *db.DB, bus *news.Bus, log *slog.Logger, metrics prometheus.Registerer) *Room {
	r := &Room{
		DB: d, Bus: bus, Log: log, accounts: map[int64]*ready{}, warned: map[string]int{}, events: work.NewTurns(), muted: work.NewTurns(),
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tocsin_events_decided_total", Help: "Verdicts on events."}, []string{"outcome"}),
		waited:   prometheus.NewHistogram(prometheus.HistogramOpts{Name: "tocsin_event_decision_seconds", Help: "From an event's arrival to its verdict.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 9)}),
	}
	if metrics != nil {
		metrics.MustRegister(r.outcomes, r.waited)
	}
	return r
}

// Tasks are the room's background work: deciding events as they come, and deciding anew about alerts whose
// silence ends.
func (r *Room) Tasks() []work.Task {
	return []work.Task{
		{Name: "decide", Idle: time.Second, Run: r.decide, Wait: r.events.Wait},
		{Name: "decide again", Idle: time.Second, Run: r.again, Wait: r.muted.Wait},
	}
}

// Woken says what wakes a task when a turn has ended and others may begin.
func (r *Room) Woken(task int, wake func()) { []*work.Turns{r.events, r.muted}[task].Woken(wake) }
