// Package jobs runs background work. Work is always a row in the database with the time at which it is due: a job
// finds the rows whose time has come, processes them and returns when to run next. The package stores nothing:
// after a restart the jobs find the rows again.
//
// A run must take only as many rows as it can process quickly, so that Stop does not wait.
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
	"tocsin/internal/platform/fault"
)

// Job is one kind of background work.
type Job struct {
	Name     string
	Interval time.Duration // the longest pause between two runs; a wake ends the pause
	// Run processes the rows that are due at now. again is when the next row is due as far as the job knows: now
	// when more rows are due already, zero when it knows of none.
	Run func(ctx context.Context, now time.Time) (again time.Time, err error)
	// Wait waits for the goroutines that Run has started; nil: it starts none.
	Wait func()
	// Signal wakes the job before the interval is over; nil: nothing does. See Signal.Accounts.
	Signal *Signal
}

// Runner runs jobs, each on its own goroutine.
type Runner struct {
	clock clock.Clock
	log   *slog.Logger
	jobs  []Job
	quit  context.CancelFunc
	done  sync.WaitGroup
	runs  *prometheus.CounterVec
	last  *prometheus.GaugeVec

	lastOld *prometheus.GaugeVec // last under its name of earlier releases

	// Shared spreads the runs, because other processes have the same jobs on the same database: they must not all look
	// for due rows in the same moment. The first one then processes a row, and the others find that nothing is due.
	Shared bool
}

// New returns a runner without jobs. Its metrics are tocsin_task_runs_total by task and outcome, and
// tocsin_task_last_run_timestamp_seconds, the Unix time of the last run without an error. metrics may be nil.
func New(c clock.Clock, log *slog.Logger, metrics prometheus.Registerer) *Runner {
	runner := &Runner{
		clock: c, log: log,
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tocsin_task_runs_total",
			Help: "Runs of background tasks.",
		}, []string{"task", "outcome"}),
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "tocsin_task_last_run_timestamp_seconds",
			Help: "When a background task last ended well, in Unix seconds.",
		}, []string{"task"}),
		lastOld: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "tocsin_task_last_run_seconds",
			Help: "Deprecated: tocsin_task_last_run_timestamp_seconds is the same. It will be removed in the next release.",
		}, []string{"task"}),
	}
	if metrics != nil {
		metrics.MustRegister(runner.runs, runner.last, runner.lastOld)
	}
	return runner
}

// Add adds a job before Start.
func (c *Runner) Add(j Job) { c.jobs = append(c.jobs, j) }

// Start runs the jobs until Stop.
func (c *Runner) Start() {
	ctx, quit := context.WithCancel(context.WithValue(context.Background(), pacedKey{}, true))
	c.quit = quit
	for i := range c.jobs {
		t := &c.jobs[i]
		c.done.Go(func() { c.keep(ctx, t) })
	}
}

// Stop ends the jobs and waits for the runs in progress.
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

// failing bounds how long a job waits after a run that failed: twice as long each time. While the database is away it
// waits less: to ask costs little then, and all work waits for the answer.
var (
	failing     = Backoff{Min: time.Second, Max: time.Minute}
	unavailable = Backoff{Min: time.Second, Max: 4 * time.Second}
)

// afterFailure returns how long a job waits after a failure; last is the pause after the one before.
func afterFailure(err error, last time.Duration) time.Duration {
	if fault.KindOf(err) == fault.Unavailable {
		return unavailable.Wait(2*last, rand.Float64())
	}
	return failing.Wait(2*last, rand.Float64())
}

// keep runs a job until the program stops. A job that is woken all the time still runs as if it were not, so that it finds
// what no signal was raised for.
func (c *Runner) keep(ctx context.Context, t *Job) {
	failed := time.Duration(0) // the pause after the last failure; 0: the last run succeeded
	woken, next := false, time.Time{}
	for ctx.Err() == nil {
		own := ctx
		if woken {
			own = context.WithValue(ctx, wokenKey{}, true)
		}
		again, err := c.run(own, t)
		wait := c.pause(t, again, rand.Float64())
		switch {
		case err != nil:
			failed = afterFailure(err, failed)
			wait = failed
		case woken:
			wait = max(0, min(wait, time.Until(next)))
		}
		if err == nil {
			failed = 0
		}
		woken, next = false, time.Now().Add(wait)
		if wait == 0 {
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-t.Signal.C():
			woken = time.Now().Before(next)
		case <-timer.C:
		}
		timer.Stop()
	}
}

// spreadDue is how long after its moment a row is processed at most, if the jobs are spread.
const spreadDue = 50 * time.Millisecond

// pause returns how long a job waits after a run without an error; again is as in Job.Run. A job with further due rows
// does not wait. spread is from 0 to 1.
func (c *Runner) pause(t *Job, again time.Time, spread float64) time.Duration {
	left := t.Interval
	if !again.IsZero() {
		left = max(0, again.Sub(c.clock.Now()))
	}
	switch {
	case !c.Shared || left == 0:
		return min(left, t.Interval)
	case left < t.Interval:
		return min(left+time.Duration(spread*float64(spreadDue)), t.Interval)
	}
	return time.Duration(float64(t.Interval) * (0.75 + spread/4))
}

// run runs a job once. A panic counts as an error: it is logged and does not end the other jobs.
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
			now := float64(c.clock.Now().Unix())
			c.last.WithLabelValues(t.Name).Set(now)
			c.lastOld.WithLabelValues(t.Name).Set(now)
		}
		c.runs.WithLabelValues(t.Name, outcome).Inc()
	}()
	return t.Run(ctx, c.clock.Now())
}

// settleRounds bounds the rounds of Settle. Thousands of events settle in fewer than twenty.
const settleRounds = 500

// Settle runs all jobs one after the other, until none has a row that is due at the clock's present time. It is for
// tests that move the clock themselves, with a runner that was not started. It fails when a job still has due rows after
// settleRounds rounds: rows that stay due whatever is done would keep it busy for ever.
func (c *Runner) Settle(ctx context.Context) error {
	_, err := c.Rest(ctx)
	return err
}

// Rest is Settle, and returns when the next row is due as far as the jobs know; zero: they know of none.
func (c *Runner) Rest(ctx context.Context) (next time.Time, err error) {
	busy := "" // the last job of the round that is not finished
	for range settleRounds {
		busy, next = "", time.Time{}
		for _, t := range c.jobs {
			again, err := t.Run(ctx, c.clock.Now())
			if err != nil {
				return next, fmt.Errorf("%s: %w", t.Name, err)
			}
			t.settle()
			if next.IsZero() || !again.IsZero() && again.Before(next) {
				next = again
			}
			if !again.IsZero() && !again.After(c.clock.Now()) {
				busy = t.Name
			}
		}
		for _, t := range c.jobs { // a job may have been woken after its run
			select {
			case <-t.Signal.C():
				busy = t.Name
			default:
			}
		}
		if busy == "" {
			return next, nil
		}
	}
	return next, fmt.Errorf("%s: rows are still due after %d rounds", busy, settleRounds)
}
