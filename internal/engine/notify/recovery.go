package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/activity"
	"tocsin/internal/platform/db"
	"tocsin/internal/preference"
)

// Recover tells those that an incident of a severity is over who were told of it and whom the filter lets through:
// after their quiet hours, when those hold. The address is that of the first notice: it was kept for this.
func (r *Service) Recover(tx *db.Tx, account int64, incident, severity string, now time.Time, to func(Notification) bool) error {
	type row struct {
		Notification
		target string
	}
	rows, err := db.All(tx, func(scan db.Scan) (w row, err error) {
		w.Notification, w.target, err = scanSealed(scan)
		return w, err
	}, `SELECT account_id, `+columns+` FROM notice WHERE account_id = $1 AND incident_id = $2 AND status IN ('sent', 'sending') ORDER BY created_at, notice_id`, account, incident)
	if err != nil {
		return err
	}
	for i := range rows {
		n := rows[i].Notification
		if !to(n) || rows[i].target == "" {
			continue
		}
		closed := r.opened(&n, rows[i].target)
		told := n.Reason
		n.Key = fmt.Sprintf("%s/over/%d/%s/%d/%s/%s", incident, now.UnixMilli(), n.Method, n.Person, n.Lane, digest(n.Address))
		n.Event, n.Cause, n.Attempts, n.Reason, n.Settled, n.Outcome = activity.IncidentResolve, Recovery, 0, "told of it before: "+told, 0, ""
		if n.Due, err = due(tx, n, severity, now); err != nil {
			return err
		}
		if closed != nil { // that keeps nothing from ending
			err = r.Refuse(tx, n, Closed(closed), now)
		} else {
			err = r.Put(tx, n, now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// due is when a person may be told: 0, at once, or after quiet hours (Unix milliseconds).
func due(tx *db.Tx, n Notification, severity string, now time.Time) (int64, error) {
	p, found, err := Find(tx, n.Account, n.Person)
	if err != nil || !found {
		return 0, err
	}
	pref, err := preference.Of(tx, n.Account, n.Person)
	if err != nil {
		return 0, err
	}
	after, err := quiet(tx, n.Account, p, pref, severity, now)
	if err != nil || after.IsZero() {
		return 0, err
	}
	return after.UnixMilli(), nil
}

// digest tells two addresses apart without telling them.
func digest(a Address) string {
	text, _ := json.Marshal(a)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
