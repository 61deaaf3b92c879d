package escalation

import (
	"slices"
	"time"

	"tocsin/internal/core/escalationplan"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/db"
)

// Absent makes a person count as absent in an escalation, because every method of the person refused the page n. If its
// layer is the last one notified, the layer is decided again: its on_nobody may hold now.
func Absent(tx *db.Tx, n *notify.Notification, now time.Time) error {
	if n.Cause != notify.Page || n.Detail.Run == 0 {
		return nil
	}
	e, err := latest(tx, n.Account, n.Incident)
	if err != nil || e == nil || e.number != n.Detail.Run || e.next == 0 {
		return err
	}
	if !slices.Contains(e.timing.Absent, n.Person) {
		e.timing.Absent = append(e.timing.Absent, n.Person)
	}
	steps := escalationplan.Plan(e.timing.Rule, e.started)
	if last := e.done - 1; last >= 0 && last < len(steps) && steps[last].Layer == n.Detail.Layer {
		e.done = last
		e.next = now.Unix()
		e.ended = ""
	}
	return e.save(tx)
}
