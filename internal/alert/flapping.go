package alert

import (
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/platform/db"
)

// FlappingIncidents returns the incidents of an account that have an alert which changes too often.
func FlappingIncidents(tx *db.Tx, account int64) (map[string]bool, error) {
	ids, err := db.All(tx, db.Column[string],
		`SELECT DISTINCT incident_id FROM alert WHERE account_id = $1 AND flapping_until > 0 AND incident_id <> ''`, account)
	incidents := make(map[string]bool, len(ids))
	for _, id := range ids {
		incidents[id] = true
	}
	return incidents, err
}

// Flaps reports whether an incident has an alert that changes too often.
func Flaps(tx *db.Tx, account int64, incident string) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64],
		`SELECT 1 FROM alert WHERE account_id = $1 AND incident_id = $2 AND flapping_until > 0 LIMIT 1`, account, incident)
	return found, err
}

// OtherFires reports whether an incident has another active alert that persons were notified of. Alerts that are over for
// now, or muted, do not count.
func OtherFires(tx *db.Tx, account int64, incident, alert string) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64], `SELECT 1 FROM alert WHERE account_id = $1 AND incident_id = $2 AND alert_id <> $3
		AND end_time = 0 AND deleted_at = 0 AND muted = '' AND alert_status <> $4 AND (flapping_until = 0 OR flapping_notified = $5) LIMIT 1`,
		account, incident, alert, event.Ok, decide.NotifiedNow)
	return found, err
}
