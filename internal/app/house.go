package app

import (
	"context"
	"time"

	"tocsin/internal/work"
)

// houseTasks is what has no request to do it: key use is written down every few seconds, limits forget quiet
// accounts every minute, old records go once a day. The first daily round is a day after the start, so that
// what was just imported can be looked at as it is.
func (a *App) houseTasks() []work.Task {
	firstRound := a.Clock.Now().Add(24 * time.Hour)
	return []work.Task{
		{Name: "key use", Idle: 5 * time.Second, Run: func(ctx context.Context, _ time.Time) (time.Time, error) { return time.Time{}, a.Keys.Flush(ctx) }},
		{Name: "rate limits", Idle: time.Minute, Run: func(context.Context, time.Time) (time.Time, error) { a.Frame.Sweep(); return time.Time{}, nil }},
		{Name: "retention", Idle: 24 * time.Hour, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
			if now.Before(firstRound) {
				return firstRound, nil
			}
			return time.Time{}, a.prune(ctx)
		}},
	}
}
