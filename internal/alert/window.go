package alert

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/platform/db"
)

// Window selects alerts by when they began.
type Window struct {
	From, Until int64    // Unix seconds; Until is exclusive
	Severities  []string // empty: all, as in the lists below
	Channels    []int64
	Hidden      []int64 // channels whose alerts are left out
	Incidents   []string
}

// Summary is what counts of alerts need of one.
type Summary struct {
	ID, Title     string
	Start, Events int64
	Labels        map[string]string // nil when they cannot be read
}

// After returns at most limit alerts of the window after one, in the order of their beginning. Before the first, at is
// From - 1.
func (w Window) After(tx *db.Tx, account, at int64, id string, limit int64) ([]Summary, error) {
	return db.All(tx, func(scan db.Scan) (s Summary, err error) {
		var labels string
		err = scan(&s.ID, &s.Title, &s.Start, &s.Events, &labels)
		if err != nil {
			return s, err
		}
		if json.Unmarshal([]byte(labels), &s.Labels) != nil {
			s.Labels = nil // one corrupt row cannot block the others
		}
		return s, nil
	}, `SELECT alert_id, title, start_time, event_cnt, labels FROM alert WHERE account_id = $1 AND start_time >= $2 AND start_time < $3
		AND deleted_at = 0
		AND ($4 = '' OR $4 LIKE '%,' || alert_severity || ',%')
		AND ($5 = '' OR $5 LIKE '%,' || channel_id || ',%')
		AND NOT ($6 LIKE '%,' || channel_id || ',%')
		AND ($7 = '' OR $7 LIKE '%,' || incident_id || ',%')
		AND (start_time > $8 OR start_time = $8 AND alert_id > $9)
		ORDER BY start_time, alert_id LIMIT $10 + 0`,
		account, max(w.From, at), w.Until, db.List(w.Severities), db.List(w.Channels), db.List(w.Hidden), db.List(w.Incidents), at, id, limit)
}
