package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tocsin/internal/core/event"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/node"
)

// The clock of this machine is compared with the database's so often. Above maxOffset it raises an alert:
// it is corrected, but a clock that is so far off will be further off.
const (
	clockEvery = 10 * time.Second
	maxOffset  = 5 * time.Second
	clockLasts = 30 * time.Minute // an alert ends so long after the node is gone
)

// SetClock corrects the clock of a Config to the database's, which all nodes of it share. It does nothing for the embedded
// engine, and for a test clock.
func SetClock(ctx context.Context, d *db.DB, c clock.Clock) error {
	corrected, ok := c.(*clock.Corrected)
	if !ok || !d.Shared() {
		return nil
	}
	for range 3 { // the quickest answer proves most; the others change nothing then
		asked := corrected.Machine()
		theirs, err := d.Time(ctx)
		if err != nil {
			return err
		}
		corrected.Observe(asked, corrected.Machine(), theirs)
	}
	return nil
}

// offset returns what is added to the clock of this machine.
func (a *App) offset() time.Duration {
	if corrected, ok := a.Clock.(*clock.Corrected); ok {
		return corrected.Offset()
	}
	return 0
}

// heartbeatJob stores the heartbeat of this process, and looks whether it may go on: a newer program may have changed the
// schema.
func (a *App) heartbeatJob() jobs.Job {
	beat := a.Nodes.Job()
	store := beat.Run
	beat.Run = func(ctx context.Context, now time.Time) (time.Time, error) {
		if err := a.current(ctx); err != nil {
			return time.Time{}, err
		}
		return store(ctx, now)
	}
	return beat
}

// current returns the error of a process that is too old for the schema, and keeps it for those who ask how it is. Its
// writes are refused by then: see db.DB.Outdated.
func (a *App) current(ctx context.Context) error {
	why := a.DB.Outdated(ctx)
	switch {
	case why == nil:
		a.outdated.Store(nil)
	case errors.Is(why, db.ErrTooOld):
		text := why.Error()
		a.outdated.Store(&text)
	}
	return why
}

// tooOld returns why this process must not run on the schema; empty: it may, or that is not known.
func (a *App) tooOld(ctx context.Context) string {
	if err := a.current(ctx); errors.Is(err, db.ErrTooOld) {
		return err.Error()
	}
	return ""
}

// clockJob corrects the clock, and raises an alert about one that is far off.
func (a *App) clockJob() jobs.Job {
	var c selfalert.Condition
	return jobs.Job{Name: "clock", Interval: clockEvery, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
		if err := SetClock(ctx, a.DB, a.Clock); err != nil {
			return time.Time{}, err
		}
		alert := selfalert.Alert{
			Key: "clock/" + host(), Severity: event.Warning, Lasts: clockLasts,
			Title: "The clock of " + host() + " is wrong",
			Text:  clockProblem(node.Node{Name: host(), Offset: a.offset()}) + ". Check its time service (NTP).",
		}
		return time.Time{}, a.selfAlerts.Keep(ctx, &c, alert, a.offset().Abs() > maxOffset, true, now)
	}}
}

// clockProblem describes a clock that is far off.
func clockProblem(n node.Node) string {
	how := "behind"
	if n.Offset < 0 {
		how = "ahead of"
	}
	return fmt.Sprintf("the clock of %s is %.0f seconds %s the database's; the server corrects it", n.Name, n.Offset.Abs().Seconds(), how)
}

// wrongClock returns what is wrong with the clocks of the live nodes; empty: nothing.
func (a *App) wrongClock() string {
	for _, n := range a.Nodes.Live() {
		if n.Offset.Abs() > maxOffset {
			return clockProblem(n)
		}
	}
	return ""
}
