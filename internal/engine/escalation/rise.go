package escalation

import (
	"fmt"
	"slices"
	"time"

	"tocsin/internal/activity"
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

// rise acts on a severity above the one that an escalation was chosen for: the rule that matches now replaces another
// one, and starts from its first layer. Under the same rule, or when none matches, the persons who were notified are
// notified by the methods that the new severity adds. In a silence or a snooze all this waits for its end.
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
	if p.chosen && p.rule.RuleID != e.ruleID {
		r.wakeFor(tx, i.AccountID)
		return r.begin(tx, e, &i, p.rule, 0, now)
	}
	e.severity = i.Severity
	if err := r.step(tx, e, now); err != nil {
		return err
	}
	if e.timing.Untold {
		if err := r.Untold.Add(tx, &i, sentence.Of("rose_unreached"), now); err != nil {
			return err
		}
	}
	return r.notifyAdded(tx, e, &i, now)
}

// recipient is whom an escalation has notified at one layer.
type recipient struct {
	person int64 // 0: addresses and chats
	layer  int
}

// notifiedBy returns whom an escalation has notified, each once in the order of the first notification, and the methods that
// were used for each person. A notification that was cancelled does not count as a method.
func notifiedBy(e *run, notices []notify.Notification) (list []recipient, methods map[int64][]string) {
	methods = map[int64][]string{}
	for _, n := range notices {
		one := recipient{n.Person, n.Detail.Layer}
		if n.Cause != notify.Page || n.Detail.Run != e.number || n.Detail.Layer >= len(e.rule.Layers) {
			continue
		}
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
		if n.Status != notify.Cancelled {
			methods[n.Person] = append(methods[n.Person], n.Method)
		}
	}
	return list, methods
}

// notifyAdded notifies the persons whom an escalation has notified by the methods that the incident's severity adds to
// those by which they were notified. Addresses and chats have no further methods: those of a layer that notifies no
// person get a message, since no one learns of the rise there otherwise.
func (r *Service) notifyAdded(tx *db.Tx, e *run, i *incident.Incident, now time.Time) error {
	notices, err := notify.OfIncident(tx, e.account, e.incident)
	if err != nil {
		return err
	}
	list, methods := notifiedBy(e, notices)
	for _, one := range list {
		t := draft{
			cause:  notify.Page,
			event:  activity.IncidentSeverity,
			key:    fmt.Sprintf("%s/%s/%d/%s", e.incident, activity.IncidentSeverity, e.number, i.Severity),
			reason: "notified of it before, and its severity rose to " + i.Severity,
		}
		t.by, t.detail = e.rule.Layers[one.layer].Target.By, e.detail(one.layer)
		if one.person == 0 {
			if t.by == nil {
				t.key += fmt.Sprintf("/l%d", one.layer)
				err = r.notifyTarget(tx, e, i, t, one.layer, nil, now)
			}
		} else {
			methods[one.person], err = r.addMethods(tx, i, t, one.person, methods[one.person], now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addMethods notifies a person by the methods for the incident's severity that are not among those used before, and
// returns all of them.
func (r *Service) addMethods(
	tx *db.Tx, i *incident.Incident, t draft, id int64, used []string, now time.Time,
) ([]string, error) {
	p, found, err := notify.Find(tx, i.AccountID, id)
	if err != nil || !found {
		return used, err
	}
	reaches, _, err := r.Notify.Reaches(tx, i.AccountID, p, t.by, i.Severity, now)
	if err != nil {
		return used, err
	}
	reaches = slices.DeleteFunc(reaches, func(reach notify.Reach) bool { return slices.Contains(used, reach.Method) })
	for _, reach := range reaches {
		used = append(used, reach.Method)
	}
	t.key += fmt.Sprintf("/p%d", id)
	return used, r.Notify.PutOver(tx, p, reaches, t.notification(i, id, "", notify.Address{}, t.key, t.reason), now)
}
