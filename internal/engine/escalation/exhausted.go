package escalation

import (
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/untold"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// How long to wait for unfinished notifications before checking again, in seconds: as long as they are late, within these
// bounds. On a server that is held they may wait for days.
const (
	settleDelay    = 5
	maxSettleDelay = 60
)

// exhausted handles an escalation whose layers were all notified. When no person was reached, the incident is the
// fallback's. Then the layers start again, or the escalation ends and reminders follow.
func (r *Service) exhausted(tx *db.Tx, e *run, i *incident.Incident, now time.Time) error {
	e.next, e.ended = 0, string(escalationplan.Exhausted)
	if i.Progress != incident.Triggered {
		return e.save(tx)
	}
	reached, open, err := personReached(tx, e)
	if err != nil {
		return err
	}
	if reached {
		if err := untold.Forget(tx, e.account, e.incident); err != nil {
			return err
		}
		e.timing.Untold = false
	}
	if reached || e.timing.Untold {
		return r.endRound(tx, e, i, now)
	}
	if open > 0 {
		late := now.Unix() - open
		e.next = max(open, now.Unix()+min(max(late, settleDelay), maxSettleDelay))
		return e.save(tx)
	}
	if until := max(e.silenced, i.SnoozedBefore); until > now.Unix() { // the fallback is not paged in a silence or a snooze either
		e.next = until
		return e.save(tx)
	}
	e.timing.Untold = true
	if err := r.Untold.Add(tx, i, sentence.New("ended_unreached"), now); err != nil {
		return err
	}
	return r.endRound(tx, e, i, now)
}

// endRound starts the layers again when the rule repeats them. Else the escalation ends, the incident's feed records
// that no person has acknowledged the incident, and reminders follow. When the last layer has had its time too, the incident
// is the fallback's as well.
func (r *Service) endRound(tx *db.Tx, e *run, i *incident.Incident, now time.Time) error {
	if at := e.timing.Again(now.Unix()); at > 0 {
		round := e.timing.Round + 1
		e.timing.Rule = e.rule.Timing()
		e.timing.Still = nil
		e.timing.Held = 0
		e.timing.Round, e.timing.Wait = round, 0
		e.started = at
		e.done = 0
		e.next = at
		e.ended = ""
		return e.save(tx)
	}
	e.next, e.ended = 0, Unacknowledged
	if err := e.save(tx); err != nil {
		return err
	}
	fallback := int64(0)
	if !e.timing.Untold {
		fallback = now.Unix() + e.timing.Layers[len(e.timing.Layers)-1].Window
	}
	if err := r.follow(tx, i, i.Severity, fallback, now); err != nil {
		return err
	}
	if e.timing.Untold && e.timing.Round == 0 { // it is in the feed already
		return nil
	}
	why := sentence.New("all_steps_done", e.ruleName)
	return r.publish(tx, i, now, activity.Exhausted{Reason: why, Unanswered: true})
}

// personReached reports whether a service accepted a notification to a person in this escalation. open is when the next
// unfinished one is due, Unix seconds; 0 when none is left. If the rule names only chats, chats count: its authors
// wanted no person paged.
func personReached(tx *db.Tx, e *run) (reached bool, open int64, err error) {
	persons := false
	for _, l := range e.rule.Layers {
		t := l.Target
		persons = persons || len(t.Emails) > 0 || t.By != nil && len(t.PersonIDs)+len(t.TeamIDs)+len(t.ScheduleToRoleIDs) > 0
	}
	notifications, err := notify.OfIncident(tx, e.account, e.incident)
	for _, n := range notifications {
		if n.Cause != notify.Page || n.Detail.Run != e.number || persons && n.Person == 0 && n.Method != "email" {
			continue
		}
		reached = reached || n.Status == notify.Sent
		if due := max(n.Due/1000, 1); n.Settled == 0 && (open == 0 || due < open) {
			open = due
		}
	}
	return reached, open, err
}
