package app

import (
	"context"
	"errors"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// A daily job runs a day after it last began, on whichever node comes first, however often nodes restart; on a new
// database the first time is a day after the first start. It does not run in a process's first hour, so that a person can
// check what was just imported.
const (
	day     = 24 * time.Hour
	settled = time.Hour
)

// daily returns a job that runs once a day over all nodes. When it fails it is due again.
func (a *App) daily(name string, run func(context.Context) error) jobs.Job {
	start := a.Clock.Now()
	first := start.Add(settled)
	return jobs.Job{Name: name, Interval: day, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
		last, claimed, err := a.claim(ctx, name, start, now)
		switch next := last.Add(day); {
		case err != nil:
			return time.Time{}, err
		case !claimed && next.Before(first):
			return first, nil
		case !claimed:
			return next, nil
		}
		if err := run(ctx); err != nil {
			return time.Time{}, errors.Join(err, a.began(ctx, name, now, last))
		}
		return now.Add(day), nil
	}}
}

// claim returns when a daily job last began, and stores that it begins now when it is due. A time in the future came from a
// wrong clock and counts as now.
func (a *App) claim(ctx context.Context, name string, start, now time.Time) (last time.Time, claimed bool, err error) {
	found := false
	look := func(tx *db.Tx) error {
		at, has, err := db.One(tx, db.Column[int64], `SELECT began_at FROM daily_job WHERE name = $1`, name)
		last, found = time.Unix(at, 0), has
		return err
	}
	due := func() bool { return !now.Before(last.Add(day)) && !now.Before(start.Add(settled)) }
	if err := a.DB.Read(ctx, look); err != nil || found && !last.After(now) && !due() {
		return last, false, err
	}
	err = a.DB.WriteOf(ctx, db.NoAccount, func(tx *db.Tx) error {
		if err := look(tx); err != nil {
			return err
		}
		known := found && !last.After(now)
		if !known {
			last = start
		}
		claimed = due()
		if known && !claimed {
			return nil
		}
		began := last
		if claimed {
			began = now
		}
		return tx.Do(`INSERT INTO daily_job (name, began_at) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET began_at = excluded.began_at`, name, began.Unix())
	})
	return last, claimed && err == nil, err
}

// began sets when a daily job last began back, unless another process has begun it since.
func (a *App) began(ctx context.Context, name string, from, to time.Time) error {
	return a.DB.WriteOf(ctx, db.NoAccount, func(tx *db.Tx) error {
		return tx.Do(`UPDATE daily_job SET began_at = $1 WHERE name = $2 AND began_at = $3`, to.Unix(), name, from.Unix())
	})
}
