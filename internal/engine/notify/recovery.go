package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/activity"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
	"tocsin/internal/preference"
)

// Recover stores notifications that incidents are over, to the targets that were notified of them and that the filter
// accepts. In quiet hours they wait. severities are those of the incidents, by their ids.
func (r *Service) Recover(tx *db.Tx, account int64, severities map[string]string, now time.Time, to func(Notification) bool) error {
	what := news{activity.IncidentResolve, Recovery, "over"}
	return r.inform(tx, account, slices.Sorted(maps.Keys(severities)), now, to, what.about(severities, now))
}

// Acknowledged is Recover for notifications that a person has acknowledged incidents.
func (r *Service) Acknowledged(tx *db.Tx, account int64, severities map[string]string, now time.Time, to func(Notification) bool) error {
	what := news{activity.IncidentAck, Acked, activity.IncidentAck}
	return r.inform(tx, account, slices.Sorted(maps.Keys(severities)), now, to, what.about(severities, now))
}

// news is what targets that were notified of an incident are informed of. No person has to act on it.
type news struct{ event, cause, key string }

// about returns the function that makes a notification of the news from the notification by which its target was notified.
func (w news) about(severities map[string]string, now time.Time) func(*Notification) {
	return func(n *Notification) {
		n.Key = fmt.Sprintf("%s/%s/%d/%s/%d/%s/%s", n.Incident, w.key, now.UnixMilli(), n.Method, n.Person, n.Queue, digest(n.Address))
		n.Event = w.event
		n.Cause = w.cause
		n.Reason = sentence.New("notified_before", n.Reason)
		n.Severity = severities[n.Incident]
		n.Detail.Merged = ""
	}
}

// inform stores a notification to each target that was notified of some incidents and that the filter accepts. about makes
// the notification. The address is that of the target's first notification, which was kept for this.
func (r *Service) inform(
	tx *db.Tx, account int64, incidents []string, now time.Time, to func(Notification) bool, about func(*Notification),
) error {
	type row struct {
		Notification
		target string
	}
	rows, err := db.All(tx, func(scan db.Scan) (w row, err error) {
		w.Notification, w.target, err = scanSealed(scan)
		return w, err
	}, `SELECT account_id, `+columns+` FROM notice
		WHERE account_id = $1 AND incident_id IN (SELECT value FROM json_each($2)) AND status IN ('sent', 'sending')
		ORDER BY created_at, notice_id`, account, db.JSON(incidents))
	if err != nil {
		return err
	}
	for i := range rows {
		n := rows[i].Notification
		if !to(n) || rows[i].target == "" {
			continue
		}
		closed := r.opened(&n, rows[i].target)
		n.Attempts = 0
		n.Settled = 0
		n.Outcome = ""
		about(&n)
		n.Due, err = dueTime(tx, n, n.Severity, now)
		if err != nil {
			return err
		}
		if closed != nil { // an address that cannot be opened must not keep the incident from closing
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

// dueTime returns when a person may be notified, Unix milliseconds: 0 for at once, or the end of quiet hours.
func dueTime(tx *db.Tx, n Notification, severity string, now time.Time) (int64, error) {
	p, found, err := Find(tx, n.Account, n.Person)
	if err != nil || !found {
		return 0, err
	}
	pref, err := preference.Of(tx, n.Account, n.Person)
	if err != nil {
		return 0, err
	}
	after, err := quietUntil(tx, n.Account, p, pref, severity, now)
	if err != nil || after.IsZero() {
		return 0, err
	}
	return after.UnixMilli(), nil
}

// digest identifies an address without revealing it.
func digest(a Address) string {
	text, _ := json.Marshal(a)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
