// Package evaluator evaluates alert rules: it asks datasources on the schedules of the rules, keeps the states of watches, and
// hands transitions to its center.
//
// It must never know a database or a person, evaluate a watch twice at a time, or count an evaluation whose transitions are not
// stored.
package evaluator

import (
	"container/heap"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/querier"
)

// How often the evaluator reports to its center, and while slots are handed over to it: no evaluator has these from the last report
// of their previous owner to the next report of the new one.
const (
	syncEvery = 5 * time.Second
	moreEvery = time.Second
)

// Config holds the dependencies.
type Config struct {
	Center  Center
	Open    func(querier.Datasource) (querier.Querier, *evaluate.Failure)
	Clock   clock.Clock
	Log     *slog.Logger
	Metrics prom.Registerer
	Turns   *fair.Queue  // of accounts whose answers are judged; nil: none waits
	Wake    *jobs.Signal // of the job
	Held    func() bool  // nothing is evaluated while it reports true; nil: it never does
	Journal Journal      // for a center that may be out of reach; nil: what was found must be stored before a watch is evaluated again
}

// Evaluator evaluates the watches of its slots.
type Evaluator struct {
	Config
	running sync.WaitGroup
	metrics metrics

	synced  time.Time
	stale   atomic.Bool // the configuration was changed
	syncing atomic.Bool // beside the evaluations, with a journal
	cut     atomic.Bool // the last report failed, with a journal
	more    atomic.Bool // slots are handed over to this evaluator
	unsure  bool        // the clock has not been compared with the center's since the start: the journal is held

	releasing sync.RWMutex // read while a watch is put into the journal

	mu      sync.Mutex
	slots   map[int64]int64 // with their epochs
	have    map[int64]int64 // revisions of configurations, by account
	watches map[Key]*watch
	sources map[sourceKey]*source
	due     byMoment
	queue   queue
	next    time.Time
	flights map[flightKey]*flight
	changed map[Key]WatchState
	reload  bool            // the configuration of every account is to be read
	unread  map[int64]int64 // those that could not be read, with their revisions
	blind   time.Time       // since when there are slots whose rules could not be read, with a journal; zero: none

	late     []time.Duration // of the evaluations since the last report, with a journal
	reported time.Time       // when the center was last reached
	looped   time.Time       // when evaluations were begun last
	thawed   time.Time       // when the process last went on after it had stood still
	history  int             // how much of it may be sent before the next report
	differs  map[int64]bool  // slots of which the center had others open
}

// New returns an evaluator without watches.
func New(c Config) *Evaluator {
	return &Evaluator{
		Config: c, metrics: newMetrics(c.Metrics), have: map[int64]int64{}, watches: map[Key]*watch{}, sources: map[sourceKey]*source{},
		queue: queue{running: map[int64]int{}}, flights: map[flightKey]*flight{}, changed: map[Key]WatchState{},
	}
}

// Evaluating returns the background job that evaluates.
func (e *Evaluator) Evaluating() jobs.Job {
	return jobs.Job{Name: "alert rules", Interval: time.Second, Run: e.run, Wait: e.running.Wait, Signal: e.Wake}
}

// run begins the evaluations that are due.
func (e *Evaluator) run(ctx context.Context, now time.Time) (again time.Time, err error) {
	if e.Held != nil && e.Held() {
		return time.Time{}, nil
	}
	e.noteLoop(now)
	passed, every := now.Sub(e.synced), syncEvery
	if e.more.Load() {
		every = moreEvery
	}
	if due := e.stale.Load() || passed >= every || passed < 0; due && e.syncing.CompareAndSwap(false, true) {
		e.stale.Store(false)
		e.synced = now
		if e.Journal == nil {
			e.report(ctx, now)
		} else { // evaluations do not wait for the network
			e.running.Go(func() {
				e.report(ctx, now)
				e.Wake.Raise()
			})
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.due) > 0 && !e.due[0].at.After(now) {
		w := heap.Pop(&e.due).(*watch)
		e.await(w)
		e.queue.add(w)
	}
	e.dispatch(ctx)
	if len(e.due) > 0 {
		again = e.due[0].at
	}
	e.next = again
	return again, nil
}

// report reports to the center. What is known is evaluated on if that fails.
func (e *Evaluator) report(ctx context.Context, now time.Time) {
	defer e.syncing.Store(false)
	was := e.cut.Load()
	if err := e.sync(ctx, now); err != nil && ctx.Err() == nil && !(was && e.cut.Load()) { // a cut is logged once
		e.Log.Error("alert rules: the report failed", "error", err)
	}
}

// dispatch begins evaluations that wait, as far as places are free. The caller holds the lock.
func (e *Evaluator) dispatch(ctx context.Context) {
	for w := e.queue.take(); w != nil; w = e.queue.take() {
		e.running.Go(func() {
			e.evaluate(ctx, w)
			e.mu.Lock()
			defer e.mu.Unlock()
			e.queue.leave(w)
			e.finish(w)
			e.dispatch(ctx)
		})
	}
}

// finish plans the next evaluation of a watch. The caller holds the lock.
func (e *Evaluator) finish(w *watch) {
	e.release(w)
	w.waits = false
	if w.dropped {
		e.leave(w.source)
		return
	}
	e.plan(w, e.Clock.Now())
	if e.next.IsZero() || w.at.Before(e.next) {
		e.next = w.at
		e.Wake.Raise()
	}
}

// Changed makes the evaluator read the configuration soon, after a rule or a datasource was changed.
func (e *Evaluator) Changed() {
	e.stale.Store(true)
	e.Wake.Raise()
}

// plan sets the moment of the next evaluation. The caller holds the lock.
func (e *Evaluator) plan(w *watch, now time.Time) {
	if w.unsent != nil && e.Journal == nil { // what was found must be stored first
		w.at = now.Add(syncEvery)
	} else {
		if w.moment.After(now) { // the clock was set back
			w.moment = now
		}
		w.moment, w.at = w.nextMoment(w.moment)
	}
	heap.Push(&e.due, w)
}

// byMoment is the watches by the moment at which they are due.
type byMoment []*watch

func (h byMoment) Len() int           { return len(h) }
func (h byMoment) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h byMoment) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push adds a watch, for container/heap.
func (h *byMoment) Push(x any) {
	w := x.(*watch)
	w.place = len(*h)
	*h = append(*h, w)
}

// Pop removes the last watch, for container/heap.
func (h *byMoment) Pop() any {
	last := len(*h) - 1
	w := (*h)[last]
	w.place = -1
	*h = (*h)[:last]
	return w
}
