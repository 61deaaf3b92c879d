package incident

import (
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/platform/db"
)

// pruneBatch bounds how many incidents and alerts one transaction deletes, so that callers do not wait for it.
const pruneBatch = 500

// prunable finds closed incidents, the oldest first. An incident with an active alert stays: an event that ends the
// alert is still to come. The sources of a merge were closed no later than its target, so they are deleted before it: no row
// names an incident that was deleted.
const prunable = `SELECT account_id, incident_id FROM incident WHERE closed_at > 0 AND closed_at < $1 AND progress = 'Closed'
	AND NOT EXISTS (SELECT 1 FROM alert a WHERE a.account_id = incident.account_id AND a.incident_id = incident.incident_id AND a.end_time = 0)
	ORDER BY closed_at LIMIT $2 + 0`

// prunableAlerts finds ended alerts of no incident, or of one that was removed.
const prunableAlerts = `SELECT account_id, alert_id FROM alert WHERE end_time > 0 AND end_time < $1
	AND NOT EXISTS (SELECT 1 FROM incident i WHERE i.account_id = alert.account_id AND i.incident_id = alert.incident_id)
	ORDER BY end_time LIMIT $2 + 0`

// Prune deletes incidents that were closed before a time, with their alerts, and ended alerts of no incident; the feeds
// of both are deleted too. It publishes nothing. It deletes one batch; the caller calls it again while more is true.
// An incident with more alerts than a batch is shown with some of them missing until its last batch.
func Prune(tx *db.Tx, before time.Time) (more bool, err error) {
	scan := func(scan db.Scan) (k key, err error) { return k, scan(&k.account, &k.id) }
	left := int64(pruneBatch)
	incidents, err := db.All(tx, scan, prunable, before.Unix(), left)
	if err != nil {
		return false, err
	}
	for _, k := range incidents {
		deleted, err := alert.DeleteOf(tx, k.account, k.id, left)
		if left -= deleted; err != nil || left <= 0 {
			return true, err
		}
		if err := remove(tx, k.account, k.id); err != nil {
			return false, err
		}
		left--
	}
	alerts, err := db.All(tx, scan, prunableAlerts, before.Unix(), left)
	if err != nil {
		return false, err
	}
	for _, k := range alerts {
		if err := alert.Delete(tx, k.account, k.id); err != nil {
			return false, err
		}
	}
	return int64(len(alerts)) == left, nil
}

// remove deletes an incident with its feed; its assignments, escalations and war rooms go with the row.
func remove(tx *db.Tx, account int64, incident string) error {
	if _, err := tx.Exec(`DELETE FROM incident WHERE account_id = $1 AND incident_id = $2`, account, incident); err != nil {
		return err
	}
	return activity.Forget(tx, account, incident)
}
