package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/jobs"
)

var start = time.Unix(1776052800, 0)

// TestSettleRunsJobsThatAreDue moves a clock and counts the runs.
func TestSettleRunsJobsThatAreDue(t *testing.T) {
	c := clock.At(start)
	runner := jobs.New(c, slog.New(slog.DiscardHandler), nil)
	left, due := 3, start.Add(time.Minute)
	runs := 0
	runner.Add(jobs.Job{Name: "batches", Interval: time.Hour, Run: func(_ context.Context, now time.Time) (time.Time, error) {
		runs++
		if now.Before(due) {
			return due, nil
		}
		if left == 0 {
			return time.Time{}, nil
		}
		left--
		return now, nil
	}})
	if err := runner.Settle(t.Context()); err != nil || runs != 1 || left != 3 {
		t.Errorf("before it is due: %v, %d runs, %d left", err, runs, left)
	}
	c.Add(time.Minute)
	if err := runner.Settle(t.Context()); err != nil || left != 0 {
		t.Errorf("%v, %d left", err, left)
	}
}

// TestSettleEndsWithoutProgress: a job whose rows stay due whatever it does is named, instead of running for ever.
func TestSettleEndsWithoutProgress(t *testing.T) {
	runner := jobs.New(clock.At(start), slog.New(slog.DiscardHandler), nil)
	runner.Add(jobs.Job{Name: "stuck", Run: func(_ context.Context, now time.Time) (time.Time, error) { return now, nil }})
	runner.Add(jobs.Job{Name: "idle", Run: func(context.Context, time.Time) (time.Time, error) { return time.Time{}, nil }})
	if err := runner.Settle(t.Context()); err == nil || !strings.Contains(err.Error(), "stuck: rows are still due") {
		t.Error(err)
	}
}

func TestSettleFollowsWakes(t *testing.T) {
	runner := jobs.New(clock.At(start), slog.New(slog.DiscardHandler), nil)
	second := 0
	wake := jobs.NewSignal()
	runner.Add(jobs.Job{Name: "second", Signal: wake, Run: func(context.Context, time.Time) (time.Time, error) { second++; return time.Time{}, nil }})
	first := true
	runner.Add(jobs.Job{Name: "first", Run: func(context.Context, time.Time) (time.Time, error) {
		if first {
			first = false
			wake.Raise()
			wake.Raise() // twice is once
		}
		return time.Time{}, nil
	}})
	if err := runner.Settle(t.Context()); err != nil || second != 2 {
		t.Errorf("%v, %d runs", err, second)
	}
	broken := errors.New("broken")
	runner.Add(jobs.Job{Name: "broken", Run: func(context.Context, time.Time) (time.Time, error) { return time.Time{}, broken }})
	if err := runner.Settle(t.Context()); !errors.Is(err, broken) || !strings.Contains(err.Error(), "broken: ") {
		t.Error(err)
	}
}

// TestStartAndStop starts three jobs: one that always has more to do, one that waits to be woken, and one that panics,
// which must not block the others. Stop returns when none of them runs.
func TestStartAndStop(t *testing.T) {
	metrics := prometheus.NewRegistry()
	runner := jobs.New(clock.System, slog.New(slog.DiscardHandler), metrics)
	var busy, woken, running atomic.Int64
	began := make(chan struct{}) // busy runs
	runner.Add(jobs.Job{Name: "busy", Interval: time.Hour, Run: func(context.Context, time.Time) (time.Time, error) {
		running.Add(1)
		defer running.Add(-1)
		if busy.Add(1) == 1 {
			close(began)
		}
		return clock.System.Now(), nil
	}})
	called := make(chan struct{}, 100)
	wake := jobs.NewSignal()
	runner.Add(jobs.Job{Name: "woken", Interval: time.Hour, Signal: wake, Run: func(context.Context, time.Time) (time.Time, error) {
		woken.Add(1)
		called <- struct{}{}
		return time.Time{}, nil
	}})
	panicked := make(chan struct{}, 100)
	runner.Add(jobs.Job{Name: "panics", Interval: time.Hour, Run: func(context.Context, time.Time) (time.Time, error) { panicked <- struct{}{}; panic("at the disco") }})
	runner.Start()
	<-began
	<-called // at the start
	<-panicked
	wake.Raise()
	<-called
	runner.Stop()
	after := busy.Load()
	if running.Load() != 0 || after == 0 || woken.Load() != 2 {
		t.Errorf("%d running, %d busy runs, %d woken", running.Load(), after, woken.Load())
	}
	if busy.Load() != after {
		t.Error("it runs after Stop")
	}
	families, err := metrics.Gather()
	if err != nil || len(families) != 3 || families[2].GetName() != "tocsin_task_runs_total" || len(families[2].GetMetric()) != 3 {
		t.Fatalf("%v, %v", families, err)
	}
	if old, last := families[0], families[1]; last.GetName() != "tocsin_task_last_run_timestamp_seconds" ||
		old.GetName() != "tocsin_task_last_run_seconds" || fmt.Sprint(last.GetMetric()) != fmt.Sprint(old.GetMetric()) {
		t.Errorf("%v", families)
	}
	jobs.New(clock.System, slog.New(slog.DiscardHandler), nil).Stop() // one that was never started
}

// A signal that is raised while its job runs is kept: the job runs once more. Raising never blocks, with no job and none
// running too.
func TestNoSignalIsLost(t *testing.T) {
	var none *jobs.Signal
	none.Raise()
	wake := jobs.NewSignal()
	rows := make(chan int, 1000)
	seen := make(chan int, 1000)
	runner := jobs.New(clock.System, slog.New(slog.DiscardHandler), nil)
	runner.Add(jobs.Job{Name: "reads", Interval: time.Hour, Signal: wake, Run: func(context.Context, time.Time) (time.Time, error) {
		for {
			select {
			case row := <-rows:
				seen <- row
			default:
				return time.Time{}, nil
			}
		}
	}})
	wake.Raise()
	wake.Raise()
	runner.Start()
	for n := range 1000 { // the job is now asleep, now between its last look and its sleep
		rows <- n
		wake.Raise()
		if got := <-seen; got != n {
			t.Fatalf("row %d, want %d", got, n)
		}
	}
	runner.Stop()
}

// A job that is woken for accounts gets these. It looks for all rows at its start, when the signal was raised for other
// reasons, when its time has come although it is woken all the time, and in a runner that settles.
func TestSignalForAccounts(t *testing.T) {
	type run struct {
		accounts []int64
		all      bool
	}
	const soon = 30 * time.Millisecond
	runner := jobs.New(clock.System, slog.New(slog.DiscardHandler), nil)
	wake := jobs.NewSignal()
	runs := make(chan run)
	var wait atomic.Int64
	wait.Store(int64(time.Hour))
	job := jobs.Job{Name: "woken", Signal: wake, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
		accounts, all := wake.Accounts(ctx)
		slices.Sort(accounts)
		select {
		case runs <- run{accounts, all}:
		case <-ctx.Done():
		}
		return now.Add(time.Duration(wait.Load())), nil
	}, Interval: time.Hour}
	runner.Add(job)
	wake.RaiseFor(1)
	runner.Start()
	if first := <-runs; !first.all {
		t.Errorf("at its start: %v", first)
	}
	wake.RaiseFor(3)
	wake.RaiseFor(2)
	for found := []int64{}; len(found) < 2; { // in one run, or in two
		r := <-runs
		found = append(found, r.accounts...)
		if r.all {
			t.Errorf("raised for two accounts: %v", r)
		}
	}
	wait.Store(int64(soon))
	wake.Raise()
	if r := <-runs; !r.all {
		t.Errorf("raised for other reasons: %v", r)
	}
	for all := false; !all; { // each run wakes it again
		wake.RaiseFor(5)
		all = (<-runs).all
	}
	runner.Stop()
	settling := jobs.New(clock.At(start), slog.New(slog.DiscardHandler), nil)
	all := true
	job.Run = func(ctx context.Context, _ time.Time) (time.Time, error) {
		_, one := wake.Accounts(ctx)
		all = all && one
		return time.Time{}, nil
	}
	settling.Add(job)
	wake.RaiseFor(6)
	if err := settling.Settle(t.Context()); err != nil || !all {
		t.Errorf("%v, all: %t", err, all)
	}
}
