package app

import (
	"context"
	"time"

	"tocsin/internal/platform/jobs"
)

// housekeeping is what has no request to do it: key use is written down every few seconds, limits forget quiet
// accounts every minute, old records go once a day. The first daily round is a day after the start, so that
// what was just imported can be looked at as it is.
func (a *App) housekeeping() []jobs.Job {
	firstRound := a.Clock.Now().Add(24 * time.Hour)
	return []jobs.Job{
		{Name: "key use", Interval: 5 * time.Second, Run: func(ctx context.Context, _ time.Time) (time.Time, error) { return time.Time{}, a.Keys.Flush(ctx) }},
		{Name: "rate limits", Interval: time.Minute, Run: func(context.Context, time.Time) (time.Time, error) { a.Frame.Sweep(); return time.Time{}, nil }},
		{Name: "retention", Interval: 24 * time.Hour, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
			if now.Before(firstRound) {
				return firstRound, nil
			}
			return time.Time{}, a.prune(ctx)
		}},
	}
}
