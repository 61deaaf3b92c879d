package schedule

import (
	"context"
	"errors"
	"math"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/core/lint"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/jobs"
)

// Gaps is how many schedules have no one on call: now, and within a day. It is stored: to compute it is too expensive for each
// collection of metrics, and for each start of a process.
type Gaps struct {
	Now, Day int64
	until    int64 // when that may have changed, Unix seconds
}

func scanGaps(scan db.Scan) (g Gaps, err error) { return g, scan(&g.Now, &g.Day, &g.until) }

// The seconds in which a schedule is searched for its first gap: those that count, and as many again, so that what was
// found holds for a day.
const (
	gapWindow  = 86400
	gapHorizon = 2 * gapWindow
)

// gapsJob returns the job that counts the gaps of accounts.
func (r *Service) gapsJob() jobs.Job {
	return jobs.Job{Name: "on-call gaps", Interval: time.Minute, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
		return time.Time{}, countGaps(ctx, r.DB, r.Pace, now)
	}}
}

// countGaps counts the gaps of the accounts whose configuration has changed, or for which time has brought a change. One
// that fails does not keep the others.
func countGaps(ctx context.Context, d *db.DB, pace *fair.Queue, now time.Time) error {
	var accounts []int64
	err := d.Read(ctx, func(tx *db.Tx) error {
		due, err := db.All(tx, db.Column[int64], `SELECT account_id FROM schedule_gap WHERE check_at <= $1 ORDER BY check_at`, now.Unix())
		if err != nil {
			return err
		}
		changed, err := configstore.ScheduleGaps.Behind(tx)
		for _, a := range changed {
			accounts = append(accounts, a.ID)
		}
		accounts = append(accounts, due...)
		return err
	})
	counted := map[int64]bool{}
	for _, account := range accounts {
		if !counted[account] {
			err = errors.Join(err, countGapsOf(ctx, d, pace, account, now.Unix()))
		}
		counted[account] = true
	}
	return err
}

// countGapsOf counts the gaps of an account. It computes them before the transaction that stores them, and leaves them to
// the next run when the configuration changes in between.
func countGapsOf(ctx context.Context, d *db.DB, pace *fair.Queue, account, now int64) error {
	of, found, err := gapsOf(ctx, d, pace, account, now)
	if err != nil {
		return err
	}
	return d.WriteOf(ctx, account, func(tx *db.Tx) error {
		if is, err := configstore.Revision(tx, account); err != nil || is != of.Revision {
			return err
		}
		return errors.Join(configstore.ScheduleGaps.Reached(tx, of),
			tx.Do(`INSERT INTO schedule_gap (account_id, gaps_now, gaps_day, check_at) VALUES ($1, $2, $3, $4)
				ON CONFLICT (account_id) DO UPDATE SET gaps_now = excluded.gaps_now, gaps_day = excluded.gaps_day, check_at = excluded.check_at`,
				account, found.Now, found.Day, found.until))
	})
}

// gapsOf computes the gaps of an account, and returns the revision that they are of. Each schedule is read by itself and at
// its turn among the expensive calls: an account may have thousands, for which the others must not wait.
func gapsOf(ctx context.Context, d *db.DB, pace *fair.Queue, account, from int64) (configstore.AccountRevision, Gaps, error) {
	of, g := configstore.AccountRevision{ID: account}, Gaps{until: math.MaxInt64}
	var zone *time.Location
	var ids []int64
	if err := d.Snapshot(ctx, func(tx *db.Tx) (err error) {
		of.Revision, err = configstore.Revision(tx, account)
		if err != nil {
			return err
		}
		zone, err = person.Zone(tx, account)
		if err != nil {
			return err
		}
		ids, err = Enabled(tx, account)
		return err
	}); err != nil {
		return of, g, err
	}
	for _, id := range ids {
		var gap lint.Span
		var found bool
		if err := inTurn(ctx, d, pace, account, func(tx *db.Tx) (err error) {
			gap, found, err = NextGap(tx, account, id, from, from+gapHorizon, zone)
			return err
		}); err != nil { // no one is notified from it either, and the others still count
			gap, found = lint.Span{From: from, Until: from}, true
		}
		g.add(gap, found, from)
	}
	return of, g, ctx.Err()
}

// inTurn reads from a snapshot at the turn of the account among the expensive calls.
func inTurn(ctx context.Context, d *db.DB, pace *fair.Queue, account int64, read func(*db.Tx) error) error {
	leave, err := pace.Enter(ctx, fair.Of(account), 0)
	if err != nil {
		return err
	}
	defer leave()
	return d.Snapshot(ctx, read)
}

// add adds the first gap of a schedule from a moment on.
func (g *Gaps) add(gap lint.Span, found bool, from int64) {
	g.until = min(g.until, from+gapHorizon-gapWindow)
	switch {
	case !found:
	case gap.From == from:
		g.Now = g.Now + 1
		g.Day = g.Day + 1
		g.until = min(g.until, gap.Until)
	case gap.From < from+gapWindow:
		g.Day, g.until = g.Day+1, min(g.until, gap.From)
	default:
		g.until = min(g.until, gap.From-gapWindow+1)
	}
}

// AllGaps returns the gaps of all accounts.
func AllGaps(tx *db.Tx) (Gaps, error) {
	g, _, err := db.One(tx, scanGaps, `SELECT CAST(coalesce(sum(gaps_now), 0) AS BIGINT), CAST(coalesce(sum(gaps_day), 0) AS BIGINT), 0
		FROM schedule_gap WHERE gaps_day > 0`)
	return g, err
}
