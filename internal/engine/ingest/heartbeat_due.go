package ingest

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/core/event"
	"tocsin/internal/integration"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Job returns the background job that raises the alerts of heartbeats that are silent for longer than they
// may be. A new one, and one that was changed or enabled again, has its interval to begin with.
func (r *Service) Job() jobs.Job {
	return jobs.Job{Name: "heartbeats", Interval: time.Second, Run: r.watch}
}

// A server that has just started, or whose job has not run for longer than maxPause, could not receive heartbeats before.
// After its clock was set back, the times of the last heartbeats mean nothing. In these cases it waits for the interval,
// at most maxGrace, before it raises an alert.
const (
	maxPause = time.Minute
	maxGrace = 300 // seconds
)

const (
	batch      = 100 // heartbeats that one run finds missing
	retryDelay = 60  // seconds after a failure until a heartbeat is looked at again
	unknown    = 1   // the due time of a row whose interval is not known: it is looked at as soon as possible
)

// late is a heartbeat that is due.
type late struct{ account, integration int64 }

// watch brings the rows of changed accounts up to date, and raises the alerts of the heartbeats that are due.
func (r *Service) watch(ctx context.Context, now time.Time) (again time.Time, err error) {
	if now.Sub(r.looked) > maxPause || now.Before(r.looked) {
		r.awake = now
	}
	r.looked = now
	var changed []configstore.AccountRevision
	if err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		changed, err = configstore.Heartbeats.Behind(tx)
		return err
	}); err != nil {
		return again, err
	}
	for _, account := range changed { // one that fails must not keep the others from theirs
		err = errors.Join(err, r.DB.WriteOf(ctx, account.ID, func(tx *db.Tx) error { return renew(tx, account, now.Unix()) }))
	}
	var due []late
	if failed := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		due, err = db.All(tx, func(scan db.Scan) (l late, err error) { return l, scan(&l.account, &l.integration) },
			`SELECT account_id, integration_id FROM heartbeat WHERE NOT missed AND missing_at > 0 AND missing_at <= $1 AND interval_s < $2
			ORDER BY missing_at LIMIT $3 + 0`, now.Unix(), r.patience(now), batch)
		return err
	}); failed != nil {
		return again, errors.Join(err, failed)
	}
	for _, l := range due {
		err = errors.Join(err, r.raise(ctx, l, now))
	}
	if len(due) == batch {
		again = now
	}
	return again, err
}

// patience returns the length that the interval of a heartbeat must be below, so that its silence means something.
func (r *Service) patience(now time.Time) int64 {
	if up := now.Unix() - r.awake.Unix(); up <= maxGrace {
		return up
	}
	return math.MaxInt64
}

// A heartbeatRow is what is stored of a heartbeat.
type heartbeatRow struct {
	integration, last int64
	missed            bool
	due, interval     int64
}

const heartbeatColumns = `integration_id, last_at, missed, missing_at, interval_s`

func scanHeartbeat(scan db.Scan) (h heartbeatRow, err error) {
	return h, scan(&h.integration, &h.last, &h.missed, &h.due, &h.interval)
}

// renew brings the rows of an account whose configuration has changed up to date, and creates those of new heartbeats: their
// interval begins now, unless a sign of life has come since.
func renew(tx *db.Tx, of configstore.AccountRevision, now int64) error {
	if awaits, err := configstore.Heartbeats.Awaits(tx, of); err != nil || !awaits {
		return err
	}
	enabled, err := integration.Heartbeats(tx, of.ID)
	if err != nil {
		return err
	}
	stored, err := db.All(tx, scanHeartbeat, `SELECT `+heartbeatColumns+` FROM heartbeat WHERE account_id = $1`, of.ID)
	if err != nil {
		return err
	}
	rows := make(map[int64]heartbeatRow, len(stored))
	for _, h := range stored {
		rows[h.integration] = h
	}
	for _, i := range enabled {
		h, known := rows[i.IntegrationID]
		delete(rows, i.IntegrationID)
		if !known {
			h.last = now
		}
		if err := h.plan(tx, i, known); err != nil {
			return err
		}
	}
	for _, h := range rows { // disabled or deleted
		if err := h.forget(tx, of.ID); err != nil {
			return err
		}
	}
	return configstore.Heartbeats.Reached(tx, of)
}

// dueAt returns from when on a heartbeat is missing whose last sign of life came at a time.
func dueAt(i integration.Integration, last int64) int64 {
	return max(last, i.UpdatedAt) + i.Settings.IntervalSeconds + 1
}

// plan stores when a heartbeat is due, unless that is stored.
func (h heartbeatRow) plan(tx *db.Tx, i integration.Integration, known bool) error {
	due, interval := dueAt(i, h.last), i.Settings.IntervalSeconds
	switch {
	case !known:
		return tx.Do(`INSERT INTO heartbeat (account_id, integration_id, last_at, missed, missing_at, interval_s)
			VALUES ($1, $2, $3, $4, $5, $6)`, i.AccountID, i.IntegrationID, h.last, false, due, interval)
	case h.due == due && h.interval == interval:
		return nil
	}
	return tx.Do(`UPDATE heartbeat SET missing_at = $3, interval_s = $4 WHERE account_id = $1 AND integration_id = $2`,
		i.AccountID, i.IntegrationID, due, interval)
}

// forget stores that no one waits for a heartbeat.
func (h heartbeatRow) forget(tx *db.Tx, account int64) error {
	if h.due == 0 {
		return nil
	}
	return tx.Do(`UPDATE heartbeat SET missing_at = 0 WHERE account_id = $1 AND integration_id = $2`, account, h.integration)
}

// raise raises the alert of a missing heartbeat, unless one has come since it was found to be due, or its integration has
// been changed. One that fails is tried again later, so that it cannot block the others.
func (r *Service) raise(ctx context.Context, l late, now time.Time) error {
	raised := false
	err := r.DB.WriteOf(ctx, l.account, func(tx *db.Tx) error {
		failed, err := tx.Try(func() (err error) {
			raised, err = r.raiseIn(tx, l, now)
			return err
		})
		if err != nil || failed == nil {
			return err
		}
		raised = false
		r.Log.Error("the alert of a missing heartbeat could not be raised", "account_id", l.account,
			"integration_id", l.integration, "error", failed)
		return tx.Do(`UPDATE heartbeat SET missing_at = $3 WHERE account_id = $1 AND integration_id = $2`,
			l.account, l.integration, now.Unix()+retryDelay)
	})
	if err == nil && raised {
		r.Decide.Raise()
	}
	return err
}

func (r *Service) raiseIn(tx *db.Tx, l late, now time.Time) (raised bool, err error) {
	h, known, err := db.One(tx, scanHeartbeat, `SELECT `+heartbeatColumns+` FROM heartbeat WHERE account_id = $1 AND integration_id = $2`,
		l.account, l.integration)
	if err != nil || !known || h.missed {
		return false, err
	}
	i, found, err := integration.Kind.Find(tx, l.account, strconv.FormatInt(l.integration, 10))
	switch {
	case err != nil:
		return false, err
	case !found || i.IntegrationType != integration.Heartbeat || i.Status != "enabled" || i.Settings == nil:
		return false, h.forget(tx, l.account)
	}
	i.AccountID = l.account
	if dueAt(i, h.last) > now.Unix() || i.Settings.IntervalSeconds >= r.patience(now) {
		return false, h.plan(tx, i, true)
	}
	if err := r.putStatus(tx, i, event.Critical, now); err != nil {
		return false, err
	}
	return true, tx.Do(`UPDATE heartbeat SET missed = $3 WHERE account_id = $1 AND integration_id = $2`, l.account, l.integration, true)
}

// beating returns how many heartbeats come and how many are missing.
func beating(tx *db.Tx, _ time.Time) ([]module.Sample, error) {
	up, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM heartbeat WHERE NOT missed AND missing_at > 0`)
	if err != nil {
		return nil, err
	}
	overdue, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM heartbeat WHERE missed AND missing_at > 0`)
	return []module.Sample{{Value: float64(up), Labels: []string{"up"}}, {Value: float64(overdue), Labels: []string{"overdue"}}}, err
}
