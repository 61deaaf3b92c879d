package shiftnotice

import (
	"context"
	"time"

	"tocsin/internal/engine/notify"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

// Stale returns why a notification about a shift must not be sent any more; empty when it is sent. If the present state
// cannot be read, the notification is sent: it was true when it was stored.
func Stale(d *db.DB, n *notify.Notification, now time.Time) (why string) {
	if n.Cause != notify.Shift {
		return ""
	}
	err := d.Snapshot(context.Background(), func(tx *db.Tx) error {
		why = staleReason(tx, n, now)
		return nil
	})
	if err != nil {
		return ""
	}
	return why
}

// staleReason compares a notification with the present schedule.
func staleReason(tx *db.Tx, n *notify.Notification, now time.Time) string {
	zone, err := person.Zone(tx, n.Account)
	if err != nil {
		return ""
	}
	shifts, err := schedule.FindShifts(tx, n.Account, n.Schedule, zone)
	switch {
	case err != nil:
		return ""
	case shifts == nil:
		return "the schedule was removed"
	case shifts.Disabled:
		return "the schedule is disabled"
	case now.Unix() > n.Detail.Until:
		return "it could not be sent in time"
	case n.Event == covered || n.Event == uncovered:
		return staleOverride(tx, n)
	case n.Event == coverAsked:
		return staleAsk(tx, n, now)
	case coverEvents[n.Event] || n.Event == recorded || n.Person == 0:
		return ""
	}
	then, _ := shifts.Timeline.At(max(n.Detail.Moment, now.Unix()))
	switch serves := on(then, n.Person); {
	case serves && (n.Event == ends || n.Event == dismissed):
		return "the person stays on call"
	case !serves && n.Event != ends && n.Event != dismissed:
		return "the person is not on call"
	}
	return ""
}
