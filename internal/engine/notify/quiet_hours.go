package notify

import (
	"slices"
	"time"

	"tocsin/internal/platform/db"
)

// held reports whether the person has a notification of the same cause, and of the same escalation, about the incident
// over the same method that waits for the end of quiet hours. A repeat then adds none: hours of repeats would arrive all
// at once.
func held(tx *db.Tx, n *Notification, now time.Time) (bool, error) {
	if n.Rose > 0 {
		return informed(tx, n)
	}
	repeats := n.Cause == Page || n.Cause == Reminder || n.Cause == Joined
	if !repeats || n.Due <= now.UnixMilli() || n.Detail.Forced {
		return false, nil
	}
	all, err := OfIncident(tx, n.Account, n.Incident)
	return slices.ContainsFunc(all, func(w Notification) bool {
		return w.Person == n.Person && w.Method == n.Method && w.Cause == n.Cause && w.Status == Waiting && w.Due > now.UnixMilli() &&
			w.Detail.Run == n.Detail.Run
	}), err
}

// Hasten decides again when the waiting notifications about an incident are due, now that its severity rose: quiet hours
// may not hold for the new one. None is delayed. Those that were tried before stay with their pause: a severity that rises
// often must not use up their attempts. Pages take their place among those of the new severity.
func (r *Service) Hasten(tx *db.Tx, account int64, incident, severity string, now time.Time) error {
	all, err := OfIncident(tx, account, incident)
	if err != nil {
		return err
	}
	batchOf(tx).forget(account, incident)
	pages := urgencyOf(&Notification{Incident: incident, Severity: severity})
	if err := tx.Do(`UPDATE notice SET urgency = $3
		WHERE account_id = $1 AND incident_id = $2 AND settled_at = 0 AND urgency > $3 AND urgency <= $4`,
		account, incident, pages, lastPage); err != nil {
		return err
	}
	for _, n := range all {
		if n.Status != Waiting || n.Attempts > 0 || n.Due <= now.UnixMilli() {
			continue
		}
		due, err := dueTime(tx, n, severity, now)
		if err != nil {
			return err
		}
		due = max(due, now.UnixMilli())
		if due >= n.Due {
			continue
		}
		if err := tx.Do(`UPDATE notice SET due_at = $3 WHERE account_id = $1 AND notice_id = $2 AND status = 'waiting'`,
			account, n.ID, due); err != nil {
			return err
		}
	}
	tx.OnCommit(r.runner.Wake)
	return nil
}
