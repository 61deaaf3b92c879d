package incident

import (
	"context"
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
		return now, r.DB.Write(ctx, func(tx *db.Tx) error { return r.due(tx, now) })
	}}
}

const nextDue = `SELECT coalesce(min(at), 0) FROM (
	SELECT min(resolve_at) AS at FROM incident WHERE progress <> 'Closed' AND resolve_at > 0
	UNION ALL SELECT min(snoozed_before) FROM incident WHERE progress <> 'Closed' AND snoozed_before > 0) AS both WHERE at IS NOT NULL`

type key struct {
	account int64
	id      string
}

// due resolves and wakes the incidents that are due, at most 100 of each. An incident that fails is tried again in 60
// seconds, so that it cannot block the others.
func (r *Service) due(tx *db.Tx, now time.Time) error {
	scan := func(scan db.Scan) (k key, err error) { return k, scan(&k.account, &k.id) }
	for _, kind := range []struct {
		query string
		do    func(Writer, *Incident) error
		later string // postpones an incident that failed
	}{
		{`SELECT account_id, incident_id FROM incident WHERE progress <> 'Closed' AND resolve_at > 0 AND resolve_at <= $1 ORDER BY resolve_at
			LIMIT 100`, Writer.timeout,
			`UPDATE incident SET resolve_at = $3 WHERE account_id = $1 AND incident_id = $2`},
		{`SELECT account_id, incident_id FROM incident WHERE progress <> 'Closed' AND snoozed_before > 0 AND snoozed_before <= $1
			ORDER BY snoozed_before LIMIT 100`, Writer.Wake,
			`UPDATE incident SET snoozed_before = $3 WHERE account_id = $1 AND incident_id = $2`},
	} {
		keys, err := db.All(tx, scan, kind.query, now.Unix())
		if err != nil {
			return err
		}
		for _, k := range keys {
			failed, err := tx.Try(func() error {
				i, found, err := Find(tx, k.account, k.id)
				if err != nil || !found || i.Progress == Closed {
					return err
				}
				return kind.do(Writer{Tx: tx, Bus: r.Bus, Account: k.account, Now: now}, &i)
			})
			if err == nil && failed != nil {
				r.Log.Error("an incident could not be resolved or woken in time", "incident_id", k.id, "account_id", k.account, "error", failed)
				_, err = tx.Exec(kind.later, k.account, k.id, now.Unix()+60)
			}
			if err != nil {
				return err
			}
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
