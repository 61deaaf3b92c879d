package alert

import "tocsin/internal/platform/db"

// The bounds of SameKey: the first alerts of the incident, and the newest alerts of each of their keys.
const (
	sameKeyAlerts = 20
	sameKeyEach   = 50
)

// SameKey returns incidents that had an alert of the same key as an incident, newest first for each key, and may return one
// twice. It leaves out the alerts of hidden channels.
func SameKey(tx *db.Tx, account int64, incident string, hidden []int64) (incidents []string, err error) {
	type source struct {
		channel int64
		key     string
	}
	of, err := db.All(tx, func(scan db.Scan) (s source, err error) { return s, scan(&s.channel, &s.key) },
		`SELECT channel_id, alert_key FROM alert WHERE account_id = $1 AND incident_id = $2 AND incident_id <> '' AND deleted_at = 0
		AND NOT ($3 LIKE '%,' || channel_id || ',%') ORDER BY start_time, alert_id LIMIT $4`, account, incident, db.List(hidden), sameKeyAlerts)
	if err != nil {
		return nil, err
	}
	for _, s := range of {
		found, err := db.All(tx, db.Column[string], `SELECT incident_id FROM alert WHERE account_id = $1 AND channel_id = $2 AND alert_key = $3
			ORDER BY start_time DESC, alert_id DESC LIMIT $4`, account, s.channel, s.key, sameKeyEach)
		if err != nil {
			return nil, err
		}
		incidents = append(incidents, found...)
	}
	return incidents, nil
}
