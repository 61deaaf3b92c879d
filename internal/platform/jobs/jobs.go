// Package jobs runs what has no caller: due rows. What shall be done is always a row in the database with
// the moment at which it is due; a task finds the rows whose moment has come, does them and says when to
// come again. Nothing here is remembered: after a restart the rows are found again.
//
// A task must take no more than it can do in a moment, so that stopping does not wait.
package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/platform/clock"
)

// Job is one kind of due work.
type Job struct {
	Name     string
	Interval time.Duration // how long to wait at most until the next run; work that comes in meanwhile wakes it
	// Run does what is due at now. again is when the next row is due as far as it knows, now when there is
	// more already, and zero when it does not know of any.
	Run func(ctx context.Context, now time.Time) (again time.Time, err error)
	// Wait waits until what Run has started on goroutines of its own is done; nil: it starts nothing.
	Wait func()
	// Signal wakes the job before the interval is over; nil: nothing does.
	Signal *Signal
}

// Runner runs tasks, each on a goroutine of its own.
type Runner struct {
	clock clock.Clock
	log   *slog.Logger
	jobs  []Job
	quit  context.CancelFunc
	done  sync.WaitGroup
	runs  *prometheus.CounterVec
	last  *prometheus.GaugeVec
}

// New makes a crew without tasks. Its metrics are tocsin_task_runs_total by task and outcome, and
// tocsin_task_last_run_seconds, the Unix time of the last run that ended well.
func New(c clock.Clock, log *slog.Logger, metrics prometheus.Registerer) *Runner {
	runner := &Runner{
		clock: c, log: log,
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tocsin_task_runs_total", Help: "Runs of background tasks."}, []string{"task", "outcome"}),
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "tocsin_task_last_run_seconds", Help: "When a background task last ended well, in Unix seconds."}, []string{"task"}),
	}
	if metrics != nil {
		metrics.MustRegister(runner.runs, runner.last)
	}
	return runner
}

// Add adds a job before Start.
func (c *Runner) Add(j Job) { c.jobs = append(c.jobs, j) }

// Start lets the tasks run until Stop.
func (c *Runner) Start() {
	ctx, quit := context.WithCancel(context.Background())
	c.quit = quit
	for i := range c.jobs {
		t := &c.jobs[i]
		c.done.Go(func() { c.keep(ctx, t) })
	}
}

// Stop ends the tasks and waits for those that are running.
func (c *Runner) Stop() {
	if c.quit != nil {
		c.quit()
	}
	c.done.Wait()
	for _, t := range c.jobs {
		t.settle()
	}
}

func (t *Job) settle() {
	if t.Wait != nil {
		t.Wait()
	}
}

// failing bounds how long a task that failed waits for its next try: twice as long each time.
var failing = Backoff{Min: time.Second, Max: time.Minute}

func (c *Runner) keep(ctx context.Context, t *Job) {
	failed := time.Duration(0) // how long it waited after its last failure
	for ctx.Err() == nil {
		again, err := c.run(ctx, t)
		wait := t.Interval
		switch now := c.clock.Now(); {
		case err != nil:
			failed = failing.Wait(2*failed, rand.Float64())
			wait = failed
		case !again.IsZero():
			wait = min(wait, max(0, again.Sub(now)))
		}
		if err == nil {
			failed = 0
		}
		if wait == 0 {
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-t.Signal.C():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// run runs a task once. What it panics with is logged and does not end the others.
func (c *Runner) run(ctx context.Context, t *Job) (again time.Time, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		outcome := "done"
		if err != nil && ctx.Err() == nil {
			outcome = "failed"
			c.log.Error("background task", "task", t.Name, "error", err)
		} else {
			c.last.WithLabelValues(t.Name).Set(float64(c.clock.Now().Unix()))
		}
		c.runs.WithLabelValues(t.Name, outcome).Inc()
	}()
	return t.Run(ctx, c.clock.Now())
}

// Settle runs all tasks, one after the other and again and again, until none has anything due at the clock's
// present moment, for tests that move the clock themselves. It is not for a crew that was started.
func (c *Runner) Settle(ctx context.Context) error {
	for busy := true; busy; {
		busy = false
		for _, t := range c.jobs {
			again, err := t.Run(ctx, c.clock.Now())
			if err != nil {
				return fmt.Errorf("%s: %w", t.Name, err)
			}
			t.settle()
			busy = busy || !again.IsZero() && !again.After(c.clock.Now())
		}
		for _, t := range c.jobs { // also those that ran before they were woken
			select {
			case <-t.Signal.C():
				busy = true
			default:
			}
		}
	}
	return nil
}
