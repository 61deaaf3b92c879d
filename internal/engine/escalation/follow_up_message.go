package escalation

import (
	"cmp"
	"fmt"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/channel"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// quiet is the severity whose methods notify of joined alerts.
const quiet = "Info"

// sendFollowUp stores the notifications of one message of a follow-up.
func (r *Service) sendFollowUp(tx *db.Tx, f *followUp, i *incident.Incident, m escalationplan.Message, now time.Time) error {
	t := draft{cause: notify.Reminder, event: activity.IncidentReminder, reason: sentence.New("still_open")}
	t.late = m != escalationplan.Rise // what no one has to act on at once shares a message
	part := fmt.Sprint(now.UnixMilli())
	switch m {
	case escalationplan.None:
		return nil
	case escalationplan.Unanswered:
		return r.Untold.Add(tx, i, sentence.New("ended_unanswered"), now)
	case escalationplan.Woken:
		return r.ask(tx, f, i, now)
	case escalationplan.Reminder:
		if i.Progress == incident.Processing {
			return r.ask(tx, f, i, now)
		}
	case escalationplan.Unreached:
		t.key = fmt.Sprintf("%s/%s/%s", f.incident, t.event, part)
		return r.notifyFallback(tx, i, t, sentence.New("no_responder"), now)
	case escalationplan.Joined:
		t.cause = notify.Joined
		t.event = activity.IncidentJoined
		t.severity = quiet
		t.reason = sentence.New("joined_since", i.AlertCnt-f.alerts)
	case escalationplan.Rise: // once for each severity and acknowledgement, however often it rises
		return r.followedRise(tx, f, i, now)
	}
	t.key = fmt.Sprintf("%s/%s/%s", f.incident, t.event, part)
	if m == escalationplan.Reminder && i.Progress == incident.Triggered && !assignedByHand(i) {
		e, err := latest(tx, f.account, f.incident)
		if err != nil {
			return err
		}
		if e != nil && len(e.rule.Layers) > 0 {
			return r.remindLastLayer(tx, e, i, t, now)
		}
	}
	return r.notifyResponders(tx, i, t, now)
}

// remindLastLayer notifies everyone whom the last layer of an escalation names now that no person has acknowledged the
// incident.
func (r *Service) remindLastLayer(tx *db.Tx, e *run, i *incident.Incident, t draft, now time.Time) error {
	last := len(e.rule.Layers) - 1
	zone, err := person.Zone(tx, e.account)
	if err != nil {
		return err
	}
	to, err := r.recipients(tx, i, e.rule.Layers[last:], e.timing.Absent, now.Unix(), zone)
	if err != nil {
		return err
	}
	if to.none {
		why := sentence.New("last_step_unreached")
		if err := r.notifyFallback(tx, i, t, why, now); err != nil {
			return err
		}
	}
	if err := r.assign(tx, e, i, last, to.persons, now); err != nil {
		return err
	}
	t.detail = e.detail(last)
	for n := range to.persons {
		to.persons[n].Why = sentence.New("not_acknowledged", to.persons[n].Why)
	}
	return r.notifyTarget(tx, e, i, t, last, to.persons, now)
}

// notifyResponders notifies the responders of an incident, by the methods of the layer that notified them or of their
// preferences, and the addresses that were assigned. If none of the responders can be reached, the account's
// fallback is notified instead.
func (r *Service) notifyResponders(tx *db.Tx, i *incident.Incident, t draft, now time.Time) error {
	methods, err := r.methodsOf(tx, i)
	if err != nil {
		return err
	}
	prefix, reached := t.key, false
	for _, id := range i.Responders() {
		t.by = methods[id]
		if !reached {
			problem, err := r.problem(tx, i, t.by, id, now.Unix())
			if err != nil {
				return err
			}
			reached = problem == ""
		}
		t.key = fmt.Sprintf("%s/p%d", prefix, id)
		if err := r.person(tx, i, t, id, now); err != nil {
			return err
		}
	}
	t.key = prefix
	if to := i.AssignedTo; assignedByHand(i) {
		if err := r.addresses(tx, i, t, to.Emails, prefix, t.reason, now); err != nil {
			return err
		}
		reached = reached || len(to.Emails) > 0
	}
	if reached {
		return nil
	}
	return r.notifyFallback(tx, i, t, sentence.New("no_responder"), now)
}

// methodsOf returns the methods of the layers that notified persons in the incident's last escalation. Persons who are
// not in it are notified by their preferences.
func (r *Service) methodsOf(tx *db.Tx, i *incident.Incident) (map[int64]*channel.By, error) {
	e, err := latest(tx, i.AccountID, i.IncidentID)
	if err != nil || e == nil {
		return nil, err
	}
	notifications, err := notify.OfIncident(tx, i.AccountID, i.IncidentID)
	methods := map[int64]*channel.By{}
	for _, n := range notifications {
		if n.Cause == notify.Page && n.Detail.Run == e.number && n.Detail.Layer < len(e.rule.Layers) {
			methods[n.Person] = e.rule.Layers[n.Detail.Layer].Target.By
		}
	}
	return methods, err
}

// notifyFallback notifies the account's fallback when the persons whom a message is for cannot be reached.
func (r *Service) notifyFallback(tx *db.Tx, i *incident.Incident, t draft, why sentence.Value, now time.Time) error {
	to, err := r.Untold.Recipients(tx, i.AccountID, i.ChannelID, cmp.Or(t.severity, i.Severity), false, now)
	if err != nil {
		return err
	}
	prefix := t.key + "/fallback"
	for _, p := range to.List {
		t.by = p.By
		t.key = fmt.Sprintf("%s/p%d", prefix, p.ID)
		t.reason = sentence.New("because", p.Why, why)
		if err := r.person(tx, i, t, p.ID, now); err != nil {
			return err
		}
	}
	return nil
}
