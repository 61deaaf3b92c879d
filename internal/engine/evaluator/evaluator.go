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
	"tocsin/internal/platform/gate"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/querier"
)

// syncEvery is how often the evaluator reports to its center.
const syncEvery = 5 * time.Second

// Config holds the dependencies.
type Config struct {
	Center  Center
	Open    func(querier.Datasource) (querier.Querier, *evaluate.Failure)
	Clock   clock.Clock
	Log     *slog.Logger
	Metrics prom.Registerer
	Turns   *gate.Turns  // of accounts whose answers are judged; nil: none waits
	Wake    *jobs.Signal // of the job
	Held    func() bool  // nothing is evaluated while it reports true; nil: it never does
}

// Evaluator evaluates the watches of its slots.
type Evaluator struct {
	Config
	running sync.WaitGroup
	metrics metrics

	synced time.Time
	stale  atomic.Bool // the configuration was changed

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
	reload  bool // the configuration of every account is to be read
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
	if passed := now.Sub(e.synced); e.stale.Swap(false) || passed >= syncEvery || passed < 0 {
		if err := e.sync(ctx, now); err != nil && ctx.Err() == nil { // what is known is evaluated on
			e.Log.Error("alert rules: the report failed", "error", err)
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
	if w.unsent != nil { // what was found must be stored first
		w.at = now.Add(syncEvery)
	} else {
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
