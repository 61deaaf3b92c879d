package app

import (
	"context"
	"errors"
	"math"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

// accountGaps is how many schedules of an account have no one on call, and until when that holds (Unix seconds). It is
// stored: to compute it is too expensive for each collection of metrics, and for each start of a process.
type accountGaps struct{ now, day, until int64 }

func scanGaps(scan db.Scan) (g accountGaps, err error) { return g, scan(&g.now, &g.day, &g.until) }

// The seconds in which a schedule is searched for its first gap: those that count, and as many again, so that what was
// found holds for a day.
const (
	gapWindow  = 86400
	gapHorizon = 2 * gapWindow
)

// countGaps counts the gaps of the accounts whose configuration has changed, or for which time has brought a change. One
// that fails does not keep the others.
func countGaps(ctx context.Context, d *db.DB, now time.Time) error {
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
			err = errors.Join(err, countGapsOf(ctx, d, account, now.Unix()))
		}
		counted[account] = true
	}
	return err
}

// countGapsOf counts the gaps of an account. It computes them before the transaction that stores them, and leaves them to
// the next run when the configuration changes in between.
func countGapsOf(ctx context.Context, d *db.DB, account, now int64) error {
	of := configstore.AccountRevision{ID: account}
	var found accountGaps
	stored := false
	err := d.Snapshot(ctx, func(tx *db.Tx) (err error) {
		if of.Revision, err = configstore.Revision(tx, account); err != nil {
			return err
		}
		if found, err = gapsOf(tx, account, now); err != nil {
			return err
		}
		stored, err = isStored(tx, of, found)
		return err
	})
	if err != nil || stored {
		return err
	}
	return d.WriteOf(ctx, account, func(tx *db.Tx) error {
		if is, err := configstore.Revision(tx, account); err != nil || is != of.Revision {
			return err
		}
		return errors.Join(configstore.ScheduleGaps.Reached(tx, of),
			tx.Do(`INSERT INTO schedule_gap (account_id, gaps_now, gaps_day, check_at) VALUES ($1, $2, $3, $4)
				ON CONFLICT (account_id) DO UPDATE SET gaps_now = excluded.gaps_now, gaps_day = excluded.gaps_day, check_at = excluded.check_at`,
				account, found.now, found.day, found.until))
	})
}

// isStored reports whether the gaps are those that are stored, for this revision: each minute they are, of an account in
// which no one is on call now.
func isStored(tx *db.Tx, of configstore.AccountRevision, g accountGaps) (bool, error) {
	if awaits, err := configstore.ScheduleGaps.Awaits(tx, of); err != nil || awaits {
		return false, err
	}
	before, found, err := db.One(tx, scanGaps, `SELECT gaps_now, gaps_day, check_at FROM schedule_gap WHERE account_id = $1`, of.ID)
	return found && before == g, err
}

// gapsOf computes the gaps of an account.
func gapsOf(tx *db.Tx, account, from int64) (accountGaps, error) {
	zone, err := person.Zone(tx, account)
	if err != nil {
		return accountGaps{}, err
	}
	ids, err := schedule.Enabled(tx, account)
	if err != nil || len(ids) == 0 {
		return accountGaps{until: math.MaxInt64}, err
	}
	g := accountGaps{until: from + gapHorizon - gapWindow}
	for _, id := range ids {
		at, found, err := schedule.Gap(tx, account, id, from, from+gapHorizon, zone)
		if err != nil { // no one is notified from it either, and the others still count
			at, found = from, true
		}
		g.add(at, found, from)
	}
	return g, nil
}

// add adds the first gap of a schedule from a moment on.
func (g *accountGaps) add(at int64, found bool, from int64) {
	switch {
	case !found:
	case at == from: // its end is not known
		g.now, g.day, g.until = g.now+1, g.day+1, 0
	case at < from+gapWindow:
		g.day, g.until = g.day+1, min(g.until, at)
	default:
		g.until = min(g.until, at-gapWindow+1)
	}
}

// allGaps returns the gaps of all accounts.
func allGaps(tx *db.Tx) (accountGaps, error) {
	g, _, err := db.One(tx, scanGaps, `SELECT CAST(coalesce(sum(gaps_now), 0) AS BIGINT), CAST(coalesce(sum(gaps_day), 0) AS BIGINT), 0
		FROM schedule_gap WHERE gaps_day > 0`)
	return g, err
}
