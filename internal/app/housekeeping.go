package app

import (
	"context"
	"errors"
	"strings"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// runner has all background work, not started.
func (a *App) runner() *jobs.Runner {
	runner := jobs.New(a.Clock, a.Log, a.metrics)
	runner.Shared = strings.HasPrefix(a.Config.DB, "postgres")
	for _, j := range a.housekeeping() {
		runner.Add(j)
	}
	for _, m := range a.Modules {
		for _, j := range m.Jobs {
			runner.Add(j)
		}
	}
	return runner
}

// complete does for older databases what migrations cannot, because it takes more than SQL. What fails is
// logged and tried again at the next start: nearly everything works without it.
func (a *App) complete(ctx context.Context) {
	err := a.DB.Write(ctx, func(tx *db.Tx) (err error) {
		for _, m := range a.Modules {
			if m.Complete != nil {
				err = errors.Join(err, m.Complete(tx, a.Keyring))
			}
		}
		return err
	})
	if err != nil {
		a.Log.Error("what an older version stored is not yet complete", "error", err)
	}
}

// housekeeping returns the jobs of the program itself: it stores key use every few seconds, drops unused limit counters
// every minute and deletes old records once a day.
func (a *App) housekeeping() []jobs.Job {
	list := []jobs.Job{
		a.Gate.Job(func() { a.Log.Warn("the server was released: it sends from now on") }),
		{Name: "key use", Interval: 5 * time.Second, Run: func(ctx context.Context, _ time.Time) (time.Time, error) {
			return time.Time{}, a.Keys.Flush(ctx)
		}},
		{Name: "rate limits", Interval: time.Minute, Run: func(_ context.Context, now time.Time) (time.Time, error) {
			a.Frame.Sweep()
			a.feeds.Sweep(now)
			return time.Time{}, nil
		}},
		a.daily("retention", a.prune),
	}
	if a.DB.Shared() {
		list = append(list, a.heartbeatJob(), a.clockJob(), a.pages.job(), jobs.Job{
			Name: "statistics", Interval: time.Second,
			Run: func(ctx context.Context, _ time.Time) (time.Time, error) { return time.Time{}, a.DB.Analyse(ctx) },
		}, jobs.Job{Name: "parts of tables", Interval: time.Hour, Run: a.ahead})
	}
	if a.certificate != nil {
		list = append(list, a.certificate.Job())
	}
	if a.Senders.AliveURL != "" {
		list = append(list, a.aliveTask())
	}
	return list
}
