package incident

import (
	"context"
	"errors"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Job returns the background job that resolves incidents after their channel's timeout, and ends snoozes that are over.
// It reads first, and takes the write transaction only when rows are due.
func (r *Service) Job() jobs.Job {
	return jobs.Job{Name: "incidents", Interval: time.Second, Run: func(ctx context.Context, now time.Time) (again time.Time, err error) {
		due := false
		if err := r.DB.Read(ctx, func(tx *db.Tx) error {
			next, _, err := db.One(tx, db.Column[int64], nextDue)
			if next > 0 {
				again, due = time.Unix(next, 0), next <= now.Unix()
			}
			return err
		}); err != nil || !due {
			return again, err
		}
		return now, r.due(ctx, now)
	}}
}

const nextDue = `SELECT coalesce(min(at), 0) FROM (
	SELECT min(resolve_at) AS at FROM incident WHERE progress <> 'Closed' AND resolve_at > 0
	UNION ALL SELECT min(snoozed_before) FROM incident WHERE progress <> 'Closed' AND snoozed_before > 0) AS due WHERE at IS NOT NULL`

type key struct {
	account int64
	id      string
}

// errand is what is done with incidents when their time has come.
type errand struct {
	due   string // finds incidents of all accounts
	time  func(*Incident) int64
	do    func(Writer, *Incident) error
	later string // postpones an incident that failed
	first bool   // alerts are closed before: of many, piece by piece
}

var errands = []errand{
	{`SELECT account_id, incident_id FROM incident WHERE progress <> 'Closed' AND resolve_at > 0 AND resolve_at <= $1 ORDER BY resolve_at
		LIMIT 100`, func(i *Incident) int64 { return i.ResolveAt }, Writer.timeout,
		`UPDATE incident SET resolve_at = $3 WHERE account_id = $1 AND incident_id = $2`, true},
	{`SELECT account_id, incident_id FROM incident WHERE progress <> 'Closed' AND snoozed_before > 0 AND snoozed_before <= $1
		ORDER BY snoozed_before LIMIT 100`, func(i *Incident) int64 { return i.SnoozedBefore }, Writer.Wake,
		`UPDATE incident SET snoozed_before = $3 WHERE account_id = $1 AND incident_id = $2`, false},
}

// due resolves and wakes the incidents that are due, at most 100 of each, in a transaction for each account.
func (r *Service) due(ctx context.Context, now time.Time) (err error) {
	scan := func(scan db.Scan) (k key, err error) { return k, scan(&k.account, &k.id) }
	for _, e := range errands {
		var keys []key
		if err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
			keys, err = db.All(tx, scan, e.due, now.Unix())
			return err
		}); err != nil {
			return err
		}
		of := map[int64][]string{}
		for _, k := range keys {
			if err := r.closePieces(ctx, e, k, now); err != nil { // run meets it again, and postpones the incident
				r.Log.Error("the alerts of an incident could not be closed in time", "incident_id", k.id, "account_id", k.account, "error", err)
			}
			of[k.account] = append(of[k.account], k.id)
		}
		for account, ids := range of { // one that fails must not keep the others from theirs
			err = errors.Join(err, r.DB.WriteOf(ctx, account, func(tx *db.Tx) error { return r.run(tx, e, account, ids, now) }))
		}
	}
	return err
}

// closePieces closes the alerts of an incident that has many, before the incident is closed.
func (r *Service) closePieces(ctx context.Context, e errand, k key, now time.Time) error {
	if !e.first {
		return nil
	}
	many := false
	if err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		many, err = HaveMany(tx, k.account, k.id)
		return err
	}); err != nil || !many {
		return err
	}
	write := func(fn func(*db.Tx) error) error { return r.DB.WriteOf(ctx, k.account, fn) }
	return CloseFirst(write, Writer{Bus: r.Bus, Account: k.account, Now: now}, k.id, func(i *Incident) bool { return e.isDue(i, now) })
}

// isDue reports whether the time of an errand has come for an incident.
func (e errand) isDue(i *Incident, now time.Time) bool {
	return i.Progress != Closed && e.time(i) > 0 && e.time(i) <= now.Unix()
}

// run does an errand for incidents of an account, unless another process has. An incident that fails is tried again in 60
// seconds, so that it cannot block the others.
func (r *Service) run(tx *db.Tx, e errand, account int64, ids []string, now time.Time) error {
	for _, id := range ids {
		failed, err := tx.Try(func() error {
			i, found, err := Find(tx, account, id)
			if err != nil || !found || !e.isDue(&i, now) {
				return err
			}
			return e.do(Writer{Tx: tx, Bus: r.Bus, Account: account, Now: now}, &i)
		})
		if err == nil && failed != nil {
			r.Log.Error("an incident could not be resolved or woken in time", "incident_id", id, "account_id", account, "error", failed)
			err = tx.Do(e.later, account, id, now.Unix()+60)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// timeout resolves an incident that its channel's timeout has reached.
func (d Writer) timeout(r *Incident) error {
	if err := d.CloseAlerts(r.IncidentID); err != nil {
		return err
	}
	return d.resolve(r, "timeout")
}
