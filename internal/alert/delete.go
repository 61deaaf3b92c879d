package alert

import (
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/platform/db"
)

// Delete deletes an alert with its feed, for retention. The verdicts about its events have a retention of their own and stay.
func Delete(tx *db.Tx, account int64, alert string) error {
	if err := tx.Do(`DELETE FROM alert WHERE account_id = $1 AND alert_id = $2`, account, alert); err != nil {
		return err
	}
	return activity.Forget(tx, account, alert)
}

// DeleteOf deletes up to limit alerts of an incident with their feeds, and returns the number of deleted alerts.
func DeleteOf(tx *db.Tx, account int64, incident string, limit int64) (int64, error) {
	ids, err := db.All(tx, db.Column[string], `SELECT alert_id FROM alert
		WHERE account_id = $1 AND incident_id = $2 AND incident_id <> '' ORDER BY start_time, alert_id LIMIT $3 + 0`,
		account, incident, limit)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if err := Delete(tx, account, id); err != nil {
			return 0, err
		}
	}
	return int64(len(ids)), nil
}

// Move moves the alerts of one incident to another, or to none (""), and returns their number.
func Move(tx *db.Tx, account int64, from, to string, now time.Time) (int64, error) {
	return tx.Exec(`UPDATE alert SET incident_id = $3, updated_at = $4
		WHERE account_id = $1 AND incident_id = $2 AND incident_id <> ''`, account, from, to, now.Unix())
}
