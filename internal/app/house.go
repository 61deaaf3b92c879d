package app

import (
	"context"
	"time"
)

// keepHouse does what has no request to do it, until ctx ends: key use is written down every few seconds,
// limits forget quiet accounts every minute, old records go once a day. The first daily round is a day
// after the start, so that what was just imported can be looked at as it is.
func (a *App) keepHouse(ctx context.Context) {
	often, minute, daily := time.NewTicker(5*time.Second), time.NewTicker(time.Minute), time.NewTicker(24*time.Hour)
	defer often.Stop()
	defer minute.Stop()
	defer daily.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-often.C:
			if err := a.Keys.Flush(ctx); err != nil {
				a.Log.Error("last use of keys not written", "error", err)
			}
		case <-minute.C:
			a.Frame.Sweep()
		case <-daily.C:
			if err := a.prune(ctx); err != nil {
				a.Log.Error("retention", "error", err)
			}
		}
	}
}
