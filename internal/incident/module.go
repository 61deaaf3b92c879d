// Package incident stores the incidents that alerts are merged into, and the persons who are or were responsible.
// Writer changes incidents and publishes each change; which moves are allowed is a pure function (Status.After).
//
// It must never show an incident of a private channel to a caller outside the channel's team. A call that names several
// incidents must never change some of them only.
package incident

import (
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
)

// Module returns the package's operations, jobs, subscription to domain events, completion of older databases, retention,
// count of overdue work, gauges and sections of an account file.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:     "incident",
		Ops:      r.Ops(),
		Overdue:  Overdue,
		Handle:   newTimings(r.Metrics).handle,
		Gauges:   gauges(),
		Jobs:     []jobs.Job{r.Job()},
		Prune:    []module.Retention{{Period: module.Incidents, Of: Prune}},
		Complete: func(tx *db.Tx, _ *secret.Keyring) error { return Complete(tx) },
		Sections: []string{"incidents"},
	}
}

// Overdue returns how many incidents are to be resolved or woken.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "incident", time.Second, `SELECT count(*), coalesce(min(at), 0) FROM (
		SELECT resolve_at AS at FROM incident WHERE progress <> 'Closed' AND resolve_at > 0 AND resolve_at <= $1
		UNION ALL
		SELECT snoozed_before FROM incident WHERE progress <> 'Closed' AND snoozed_before > 0 AND snoozed_before <= $1) AS due`, now.Unix())
}

// Snoozed returns the ids of an account's incidents that are snoozed now, in Unix seconds. "+ 0" makes the engine read the
// index of what is snoozed rather than all incidents of the account.
func Snoozed(tx *db.Tx, account, now int64) ([]string, error) {
	return db.All(tx, db.Column[string], `SELECT incident_id FROM incident
		WHERE account_id + 0 = $1 AND progress <> 'Closed' AND snoozed_before > 0 AND snoozed_before > $2`, account, now)
}

// pruneBatch bounds how many incidents and alerts one transaction deletes, so that callers do not wait for it.
const pruneBatch = 500

// prunable finds closed incidents, the oldest first. An incident with an active alert stays: an event that ends the
// alert is still to come. The sources of a merge were closed no later than its target, so they are deleted before it: no row
// names an incident that was deleted.
const prunable = `SELECT incident_id FROM incident WHERE account_id = $3 AND closed_at > 0 AND closed_at < $1 AND progress = 'Closed'
	AND NOT EXISTS (SELECT 1 FROM alert a WHERE a.account_id = incident.account_id AND a.incident_id = incident.incident_id AND a.end_time = 0)
	ORDER BY closed_at LIMIT $2 + 0`

// prunableAlerts finds ended alerts of no incident, or of one that was removed.
const prunableAlerts = `SELECT alert_id FROM alert WHERE account_id = $3 AND end_time > 0 AND end_time < $1
	AND NOT EXISTS (SELECT 1 FROM incident i WHERE i.account_id = alert.account_id AND i.incident_id = alert.incident_id)
	ORDER BY end_time LIMIT $2 + 0`

// Prune deletes incidents of an account that were closed before a time, with their alerts, and ended alerts of no incident; the feeds
// of both are deleted too. It publishes nothing. It deletes one batch; the caller calls it again while more is true.
// An incident with more alerts than a batch is shown with some of them missing until its last batch.
func Prune(tx *db.Tx, account int64, before time.Time) (more bool, err error) {
	left := int64(pruneBatch)
	incidents, err := db.All(tx, db.Column[string], prunable, before.Unix(), left, account)
	if err != nil {
		return false, err
	}
	for _, id := range incidents {
		deleted, err := alert.DeleteOf(tx, account, id, left)
		if left -= deleted; err != nil || left <= 0 {
			return true, err
		}
		if err := remove(tx, account, id); err != nil {
			return false, err
		}
		left--
	}
	alerts, err := db.All(tx, db.Column[string], prunableAlerts, before.Unix(), left, account)
	if err != nil {
		return false, err
	}
	for _, id := range alerts {
		if err := alert.Delete(tx, account, id); err != nil {
			return false, err
		}
	}
	return int64(len(alerts)) == left, nil
}

// remove deletes an incident and its feed; its assignments, escalations and war rooms go with the row.
func remove(tx *db.Tx, account int64, incident string) error {
	if err := tx.Do(`DELETE FROM incident WHERE account_id = $1 AND incident_id = $2`, account, incident); err != nil {
		return err
	}
	return activity.Forget(tx, account, incident)
}
