package alert

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/core/render"
	"tocsin/internal/platform/db"
)

// Muted is an active alert that is muted and in no incident. Its title is its Name.
type Muted struct {
	AlertID, Title, Severity, Muted, MutedBy string
	ChannelID, IntegrationID, Start          int64
}

const silent = ` FROM alert WHERE account_id = $1 AND end_time = 0 AND muted <> '' AND incident_id = '' AND deleted_at = 0
	AND NOT ($2 LIKE '%,' || channel_id || ',%')`

// Silent returns an account's active alerts that are muted and in no incident, the newest first, at most limit from
// offset on, and how many there are. Those of the hidden channels are left out.
func Silent(tx *db.Tx, account int64, hidden []int64, limit, offset int64) (list []Muted, total int64, err error) {
	total, _, err = db.One(tx, db.Column[int64], `SELECT count(*)`+silent, account, db.List(hidden))
	if err != nil || limit <= 0 {
		return nil, total, err
	}
	list, err = db.All(tx, func(scan db.Scan) (a Muted, err error) {
		text := ""
		if err := scan(&a.AlertID, &a.Title, &a.Severity, &a.Muted, &a.MutedBy, &a.ChannelID, &a.IntegrationID, &a.Start, &text); err != nil {
			return a, err
		}
		var labels map[string]string
		if json.Unmarshal([]byte(text), &labels) == nil { // a row that cannot be read keeps its title
			a.Title = render.AlertName(a.Title, labels)
		}
		return a, nil
	}, `SELECT alert_id, title, alert_severity, muted, muted_by, channel_id, integration_id, start_time, labels`+silent+`
		ORDER BY start_time DESC, alert_id DESC LIMIT $3 + 0 OFFSET $4 + 0`, account, db.List(hidden), limit, offset)
	return list, total, err
}
