package escalation

import (
	"fmt"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/channel"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// severityChanged acts on a severity that rose; a fall notifies no one and cancels nothing. Waiting notifications are
// decided again at once. The background job does the rest: choosing a rule takes too long for the caller's transaction.
// It compares the incident's severity with the one that was notified, so a process that ends meanwhile loses nothing.
func (r *Service) severityChanged(tx *db.Tx, i *incident.Incident, item activity.Item, e activity.SeverityChanged) error {
	if event.Rank(e.To) <= event.Rank(e.From) || i.Progress == incident.Closed {
		return nil
	}
	r.wakeFor(tx, item.Account)
	if err := r.Notify.Hasten(tx, item.Account, item.ID, e.To, item.At); err != nil {
		return err
	}
	if i.Progress == incident.Processing || assignedByHand(i) {
		return r.followRise(tx, i, e.From, item.At)
	}
	before, err := latest(tx, item.Account, item.ID)
	if err != nil {
		return err
	}
	if before == nil {
		return r.start(tx, i, item)
	}
	return tx.Do(`UPDATE escalation SET next_at = $4 WHERE account_id = $1 AND incident_id = $2 AND run = $3`,
		item.Account, item.ID, before.number, item.At.Unix())
}

// assignedByHand reports whether a person made others responsible for an incident: no rule escalates it then.
func assignedByHand(i *incident.Incident) bool {
	to := i.AssignedTo
	return to != nil && to.Type != "escalate" && to.EscalateRuleID == ""
}

// rise acts on a severity above the severity for which an escalation was chosen. Everyone of the notified layers is notified
// of the rise. The rule that matches now replaces another rule, and starts from its first layer. During a silence or a
// snooze the rise waits for the end.
func (r *Service) rise(tx *db.Tx, e *run, p *prepared, now time.Time) error {
	i, found, err := find(tx, e.account, e.incident)
	if err != nil {
		return err
	}
	held := max(p.silenced, i.SnoozedBefore)
	switch {
	case !found || i.Progress != incident.Triggered: // of an acknowledged one the follow-up notifies the responders
		e.severity = p.subject.Severity
		return r.step(tx, e, now)
	case held > now.Unix():
		if err := r.step(tx, e, now); err != nil || e.next > 0 && e.next < held {
			return err
		}
		e.next = held
		return e.save(tx)
	}
	if err := r.warnSlow(tx, p, now); err != nil {
		return err
	}
	t := draft{cause: notify.Page, key: fmt.Sprintf("%s/%s/%d/%s", e.incident, activity.IncidentSeverity, e.number, i.Severity)}
	if p.chosen && p.rule.RuleID != e.ruleID {
		r.wakeFor(tx, i.AccountID)
		first, err := r.firstOf(tx, &i, p.rule, now)
		if err != nil {
			return err
		}
		if _, err := r.notifyRise(tx, &i, t, first, now); err != nil {
			return err
		}
		return r.begin(tx, e, &i, p.rule, 0, now)
	}
	e.severity = i.Severity
	if err := r.step(tx, e, now); err != nil {
		return err
	}
	i, _, err = find(tx, e.account, e.incident) // the step may have made persons responsible
	if err != nil {
		return err
	}
	unreached, err := r.notifyRise(tx, &i, t, firstTargets{}, now)
	if err != nil {
		return err
	}
	if e.timing.Untold || unreached {
		if err := r.Untold.Add(tx, &i, sentence.New("rose_unreached"), now); err != nil {
			return err
		}
	}
	return r.remindAfterRise(tx, e, &i, now)
}

// remindAfterRise starts the interval of the reminders that follow an escalation again. The interval depends on the
// severity, and everyone was notified just now. A fallback that was notified before is notified again if no person
// acknowledges.
func (r *Service) remindAfterRise(tx *db.Tx, e *run, i *incident.Incident, now time.Time) error {
	f, found, err := findFollowUp(tx, e.account, e.incident)
	if err != nil || !found {
		return err
	}
	ch, _, err := channel.Find(tx, e.account, i.ChannelID)
	if err != nil {
		return err
	}
	f.severity, f.reminded = i.Severity, now.Unix()
	if f.fallback == 0 && !e.timing.Untold {
		f.fallback = now.Unix() + e.timing.Layers[len(e.timing.Layers)-1].Window
	}
	plan := f.plan(i, ch, escalationplan.Await{})
	f.next = plan.Due(now.Unix())
	return f.save(tx)
}

// followedRise notifies of the rise of an incident that a person has acknowledged or was assigned to. If no such person can
// be reached, the account's fallback is notified instead.
func (r *Service) followedRise(tx *db.Tx, f *followUp, i *incident.Incident, now time.Time) error {
	t := draft{cause: notify.Rise, key: fmt.Sprintf("%s/%s/%s/%d", f.incident, activity.IncidentSeverity, i.Severity, f.since)}
	unreached, err := r.notifyRise(tx, i, t, firstTargets{}, now)
	if err != nil || !unreached {
		return err
	}
	t.event = activity.IncidentSeverity
	return r.notifyFallback(tx, i, t, sentence.New("no_responder"), now)
}
