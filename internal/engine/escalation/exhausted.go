package escalation

import (
	"fmt"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/auth"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// settling is how long to wait for notices on their way before looking again, in seconds.
const settling = 5

// exhausted ends an escalation whose layers have all had their turn. When not one person was told, the
// account's owner is, and the incident says so.
func (r *Service) exhausted(tx *db.Tx, e *run, i *incident.Incident, now time.Time) error {
	e.next, e.ended = 0, string(escalationplan.Exhausted)
	if i.Progress != incident.Triggered {
		return e.save(tx)
	}
	told, open, err := reached(tx, e)
	if err != nil {
		return err
	}
	switch {
	case told:
		return e.save(tx)
	case open > 0:
		e.next = max(open, now.Unix()+settling)
		return e.save(tx)
	}
	if until := max(e.silenced, i.SnoozedBefore); until > now.Unix() { // nor is the owner disturbed then
		e.next = until
		return e.save(tx)
	}
	if err := e.save(tx); err != nil {
		return err
	}
	return r.tellOwner(tx, i, e.number, "escalation ended and no person was told", now)
}

// reached tells whether a notice to a person was taken in this escalation, and when one may be that was not yet, Unix
// seconds; 0: none is left. Of a rule that tells chats only, chats count: that nobody is paged is what its makers
// wanted.
func reached(tx *db.Tx, e *run) (told bool, open int64, err error) {
	persons := false
	for _, l := range e.rule.Layers {
		t := l.Target
		persons = persons || len(t.Emails) > 0 || t.By != nil && len(t.PersonIDs)+len(t.TeamIDs)+len(t.ScheduleToRoleIDs) > 0
	}
	notices, err := notify.OfIncident(tx, e.account, e.incident)
	for _, n := range notices {
		if n.Cause != notify.Page || n.Detail.Run != e.number || persons && n.Person == 0 && n.Method != "email" {
			continue
		}
		told = told || n.Status == notify.Sent
		if due := max(n.Due/1000, 1); n.Settled == 0 && (open == 0 || due < open) {
			open = due
		}
	}
	return told, open, err
}

func (r *Service) tellOwner(tx *db.Tx, i *incident.Incident, number int64, why string, now time.Time) error {
	owner, err := auth.OwnerOf(tx, i.AccountID)
	if err != nil {
		return err
	}
	if err := r.Bus.Publish(tx, activity.Item{Account: i.AccountID, ID: i.IncidentID, Channel: i.ChannelID, At: now, Event: activity.Exhausted{Reason: why, To: []int64{owner}}}); err != nil {
		return err
	}
	return r.person(tx, i, teller{cause: notify.Owner, event: activity.IncidentNew, key: fmt.Sprintf("%s/%d/owner", i.IncidentID, number), reason: "the account's owner, and " + why}, owner, now)
}
