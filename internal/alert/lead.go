package alert

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"tocsin/internal/platform/db"
)

// Lead is the alert that an incident is named after: its most severe alert that fires, or of all its alerts if none does.
// Of equally severe alerts it is the alert that opened the incident, else the first: after a merge the alerts of others
// may have begun earlier.
type Lead struct {
	Title       string
	Description string
	Severity    string
	Labels      map[string]string // nil if they cannot be read
}

// LeadsOf returns the leads of some incidents, by incident; those without alerts are left out. opened holds the key of the
// alert that opened each incident.
func LeadsOf(tx *db.Tx, account int64, opened map[string]string) (map[string]*Lead, error) {
	leads := map[string]*Lead{}
	incidents := slices.Sorted(maps.Keys(opened))
	pairs := make([]string, 0, len(opened))
	for _, id := range incidents {
		pairs = append(pairs, id+" "+opened[id])
	}
	_, err := db.All(tx, func(scan db.Scan) (l *Lead, err error) {
		l = &Lead{}
		incident, labels := "", ""
		if err := scan(&incident, &l.Title, &l.Description, &l.Severity, &labels); err != nil {
			return nil, err
		}
		if json.Unmarshal([]byte(labels), &l.Labels) != nil { // an alert that cannot be read must not hide its incident
			l.Labels = nil
		}
		leads[incident] = l
		return l, nil
	}, `SELECT incident_id, title, description, alert_severity, labels FROM alert WHERE account_id = $1 AND alert_id IN (
		SELECT alert_id FROM (SELECT alert_id, row_number() OVER (PARTITION BY incident_id ORDER BY
				CASE WHEN end_time = 0 AND NOT (flapping_until > 0 AND alert_status = 'Ok') THEN 0 ELSE 1 END,
				CASE alert_severity WHEN 'Critical' THEN 0 WHEN 'Warning' THEN 1 WHEN 'Info' THEN 2 ELSE 3 END,
				CASE WHEN incident_id || ' ' || alert_key IN (SELECT value FROM json_each($2)) THEN 0 ELSE 1 END, start_time, alert_id) AS place
			FROM alert WHERE account_id = $1 AND incident_id IN (SELECT value FROM json_each($3)) AND deleted_at = 0) AS ranked
		WHERE place = 1)`, account, db.JSON(pairs), db.JSON(incidents))
	return leads, err
}
