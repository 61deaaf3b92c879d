package alert

import (
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/platform/db"
)

// Delete deletes an alert with its feed. Verdicts about its events stay for their own time.
func Delete(tx *db.Tx, account int64, alert string) error {
	if _, err := tx.Exec(`DELETE FROM alert WHERE account_id = $1 AND alert_id = $2`, account, alert); err != nil {
		return err
	}
	return activity.Forget(tx, account, alert)
}

// DeleteOf deletes up to limit alerts of an incident with their feeds, and returns how many it deleted.
func DeleteOf(tx *db.Tx, account int64, incident string, limit int64) (int64, error) {
	ids, err := db.All(tx, db.Column[string], `SELECT alert_id FROM alert WHERE account_id = $1 AND incident_id = $2 AND incident_id <> '' ORDER BY start_time, alert_id LIMIT $3 + 0`, account, incident, limit)
	for i := 0; i < len(ids) && err == nil; i++ {
		err = Delete(tx, account, ids[i])
	}
	return int64(len(ids)), err
}

// Move makes the alerts of one incident part of another, or of none (""), and returns how many there were.
func Move(tx *db.Tx, account int64, from, to string, now time.Time) (int64, error) {
	return tx.Exec(`UPDATE alert SET incident_id = $3, updated_at = $4 WHERE account_id = $1 AND incident_id = $2 AND incident_id <> ''`, account, from, to, now.Unix())
}
