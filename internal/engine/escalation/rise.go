package escalation

import (
	"fmt"
	"slices"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/core/event"
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
	tx.OnCommit(r.Wake.Raise)
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
	_, err = tx.Exec(`UPDATE escalation SET next_at = $4 WHERE account_id = $1 AND incident_id = $2 AND run = $3`,
		item.Account, item.ID, before.number, item.At.Unix())
	return err
}

// assignedByHand reports whether a person made others responsible for an incident: no rule escalates it then.
func assignedByHand(i *incident.Incident) bool {
	to := i.AssignedTo
	return to != nil && to.Type != "escalate" && to.EscalateRuleID == ""
}

// rise acts on a severity above the one that an escalation was chosen for: the rule that matches now replaces another
// one, and starts from its first layer. Under the same rule, or when none matches, the persons who were notified are
// notified by the methods that the new severity adds. In a silence or a snooze all this waits for its end.
func (r *Service) rise(tx *db.Tx, e *run, p *prepared, now time.Time) error {
	i, found, err := incident.Find(tx, e.account, e.incident)
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
	if p.chosen && p.rule.RuleID != e.ruleID {
		tx.OnCommit(r.Wake.Raise)
		return r.begin(tx, &i, p.rule, 0, now)
	}
	e.severity = i.Severity
	if err := r.step(tx, e, now); err != nil {
		return err
	}
	return r.notifyAdded(tx, e, &i, now)
}

// notifyAdded notifies the persons whom an escalation has notified by the methods that the incident's severity adds to
// those by which they were notified.
func (r *Service) notifyAdded(tx *db.Tx, e *run, i *incident.Incident, now time.Time) error {
	notices, err := notify.OfIncident(tx, e.account, e.incident)
	if err != nil {
		return err
	}
	type step struct {
		person int64
		layer  int
	}
	var steps []step
	had := map[int64][]string{}
	for _, n := range notices {
		if n.Person == 0 || n.Cause != notify.Page || n.Detail.Run != e.number {
			continue
		}
		if s := (step{n.Person, n.Detail.Layer}); !slices.Contains(steps, s) {
			steps = append(steps, s)
		}
		if n.Status != notify.Cancelled {
			had[n.Person] = append(had[n.Person], n.Method)
		}
	}
	for _, s := range steps {
		p, found, err := notify.Find(tx, e.account, s.person)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		reaches, _, err := r.Notify.Reaches(tx, e.account, p, e.rule.Layers[s.layer].Target.By, i.Severity, now)
		if err != nil {
			return err
		}
		reaches = slices.DeleteFunc(reaches, func(reach notify.Reach) bool { return slices.Contains(had[s.person], reach.Method) })
		for _, reach := range reaches {
			had[s.person] = append(had[s.person], reach.Method)
		}
		t := draft{
			cause:  notify.Page,
			event:  activity.IncidentSeverity,
			key:    fmt.Sprintf("%s/%s/%d/%s/p%d", e.incident, activity.IncidentSeverity, e.number, i.Severity, s.person),
			reason: "notified of it before, and its severity rose to " + i.Severity,
			detail: e.detail(s.layer),
		}
		if err := r.Notify.PutOver(tx, p, reaches, t.notification(i, s.person, "", notify.Address{}, t.key, t.reason), now); err != nil {
			return err
		}
	}
	return nil
}
