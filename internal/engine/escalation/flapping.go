package escalation

import (
	"fmt"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/untold"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// firesAgain notifies again of an incident whose alert changes too often. If no person handles the incident, its escalation
// starts again as a new one; otherwise its responders are notified. An alert that lasts is no news if a person has acted on
// the incident since the alert fires.
func (r *Service) firesAgain(tx *db.Tx, i *incident.Incident, item activity.Item, e activity.FiresAgain) error {
	if e.Why == string(decide.AgainLasts) || e.Why == string(decide.AgainReleased) {
		if acted, err := activity.ActedSince(tx, item.Account, item.ID, e.Since); err != nil || acted {
			return err
		}
	}
	r.wakeFor(tx, item.Account)
	if i.Progress == incident.Processing || assignedByHand(i) {
		return r.notifyAgain(tx, i, e, item.At)
	}
	before, err := latest(tx, item.Account, item.ID)
	if err != nil {
		return err
	}
	if err := untold.Forget(tx, item.Account, item.ID); err != nil { // the fallback is notified again too
		return err
	}
	if before != nil && event.Rank(before.severity) < event.Rank(i.Severity) { // another rule may match now
		return r.start(tx, i, item)
	}
	return r.restart(tx, i, item)
}

// notifyAgain notifies the responders of an incident that its alert fires again. A snoozed incident needs no message, nor do
// responders who are notified of its severity at the same time.
func (r *Service) notifyAgain(tx *db.Tx, i *incident.Incident, e activity.FiresAgain, now time.Time) error {
	f, found, err := findFollowUp(tx, i.AccountID, i.IncidentID)
	if err != nil || i.SnoozedBefore > now.Unix() || found && event.Rank(f.severity) < event.Rank(i.Severity) {
		return err
	}
	t := draft{cause: notify.Rise, event: activity.IncidentFlapping, reason: sentence.New("responsible_again", e.Reason)}
	t.key = fmt.Sprintf("%s/%s/%d", i.IncidentID, t.event, now.UnixMilli())
	return r.notifyResponders(tx, i, t, now)
}

// clockStops reports whether an escalation's clock stops or goes on although no step is due. The clock stands still while
// the alerts of a flapping incident are over for now.
func (e *run) clockStops(i *incident.Incident, a escalationplan.Answer, now int64) bool {
	return a.Next > 0 && (e.timing.Held > 0 || i.Flapping != nil && e.silenced > now)
}
