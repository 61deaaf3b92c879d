package alert

import (
	"cmp"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/render"
	"tocsin/internal/platform/db"
)

// searchName returns the folded name that a search of incidents looks in. It is never empty, because an empty column means that
// the name is not computed yet.
func searchName(title string, labels map[string]string) string {
	return cmp.Or(db.Fold(render.AlertName(title, labels)), "\n")
}

// OfIncidentNamed is the beginning of a condition on an incident i: one of its alerts has a name that is like a folded pattern.
// The pattern and a bracket follow.
const OfIncidentNamed = `EXISTS (SELECT 1 FROM alert a WHERE a.account_id = i.account_id AND a.incident_id = i.incident_id
	AND a.deleted_at = 0 AND a.name_folded LIKE `

// completeBatch is the number of alerts that Complete reads at once, to bound its memory.
const completeBatch = 1000

// Complete stores the names that an older version did not store, of alerts with an incident. An alert whose labels cannot be read
// is found by its title.
func Complete(tx *db.Tx) error {
	type row struct {
		account    int64
		alert      string
		title      string
		labelsJSON string
	}
	read := func(scan db.Scan) (r row, err error) { return r, scan(&r.account, &r.alert, &r.title, &r.labelsJSON) }
	for {
		rows, err := db.All(tx, read, `SELECT account_id, alert_id, title, labels FROM alert
			WHERE name_folded = '' AND incident_id <> '' LIMIT $1`, completeBatch)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			var labels map[string]string
			_ = json.Unmarshal([]byte(r.labelsJSON), &labels)
			if err := tx.Do(`UPDATE alert SET name_folded = $1 WHERE account_id = $2 AND alert_id = $3`,
				searchName(r.title, labels), r.account, r.alert); err != nil {
				return err
			}
		}
	}
}
