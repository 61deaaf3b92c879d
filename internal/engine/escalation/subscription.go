package escalation

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/activity"
	"tocsin/internal/channel"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/untold"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// pages are the causes of notifications that ask a person to act.
var pages = []string{notify.Page, notify.Fallback, notify.Assigned, notify.Storm, notify.Rise, notify.Joined, notify.Reminder}

// shared are the causes of notifications that any one responder can answer. An assignment is not among them: it stays
// with its person when another person acknowledges.
var shared = []string{notify.Page, notify.Fallback, notify.Storm, notify.Reminder}

// reaction handles an event of an incident.
type reaction func(tx *db.Tx, i *incident.Incident, item activity.Item) error

// Handle acts on events of an account's incidents, in the transaction that caused them. Resolved incidents arrive in groups and
// are handled in one batch.
func (r *Service) Handle(tx *db.Tx, items []activity.Item) error {
	var over []activity.Item
	for _, item := range items {
		if _, resolved := item.Event.(activity.Resolved); resolved {
			over = append(over, item)
		} else if err := r.handle(tx, item); err != nil {
			return err
		}
	}
	return r.ended(tx, over)
}

func (r *Service) handle(tx *db.Tx, item activity.Item) error {
	if item.Person != 0 { // acts of persons wake the job immediately
		r.wakeFor(tx, item.Account)
	}
	if moved, ok := item.Event.(activity.AlertMerged); ok {
		return Recheck(tx, item.Account, moved.IncidentID, item.At)
	}
	switch e := item.Event.(type) {
	case activity.Silenced:
		return r.silenced(tx, item, e)
	case activity.SilenceUndone:
		return r.undone(tx, item, e)
	}
	react := r.reaction(item.Event)
	act := item.Person != 0 && item.OfIncident() && isAct(item.Event)
	if react == nil && !act {
		return nil
	}
	i, found, err := incident.Of(tx, item)
	if err != nil || !found {
		return err
	}
	if react != nil {
		if err := react(tx, &i, item); err != nil {
			return err
		}
	}
	if !act {
		return nil
	}
	return r.acted(tx, &i, item)
}

// reaction returns the function that handles an event; nil when the event has no effect here.
func (r *Service) reaction(e activity.Event) reaction {
	switch e := e.(type) {
	case activity.Opened:
		return r.opened
	case activity.Reopened:
		return r.triggered(r.restart)
	case activity.Unacknowledged:
		return r.triggered(func(tx *db.Tx, i *incident.Incident, item activity.Item) error {
			if e.Unanswered != "" {
				return r.unanswered(tx, i, item, e)
			}
			return r.restart(tx, i, item)
		})
	case activity.SeverityChanged:
		return func(tx *db.Tx, i *incident.Incident, item activity.Item) error {
			return r.severityChanged(tx, i, item, e)
		}
	case activity.Assigned:
		return r.assigned
	case activity.RespondersAdded:
		return func(tx *db.Tx, i *incident.Incident, item activity.Item) error {
			return r.notifyPersons(tx, i, item, sentence.New("made_responsible"), e.To)
		}
	case activity.Stormed:
		return r.triggered(func(tx *db.Tx, i *incident.Incident, item activity.Item) error {
			return r.stormed(tx, i, item, e.Threshold)
		})
	case activity.Acknowledged:
		return r.acknowledged
	case activity.Joined:
		return func(tx *db.Tx, i *incident.Incident, item activity.Item) error { return r.joined(tx, i, item, e) }
	case activity.Snoozed:
		return r.paused(sentence.New("is_snoozed"))
	case activity.Woken:
		return func(tx *db.Tx, i *incident.Incident, item activity.Item) error { return r.woken(tx, i, item, e) }
	case activity.Merged:
		return func(tx *db.Tx, i *incident.Incident, item activity.Item) error { return r.merged(tx, i, item, e) }
	case activity.FiresAgain:
		return func(tx *db.Tx, i *incident.Incident, item activity.Item) error { return r.firesAgain(tx, i, item, e) }
	}
	return nil
}

// triggered limits a reaction to incidents that no person has acknowledged.
func (r *Service) triggered(react reaction) reaction {
	return func(tx *db.Tx, i *incident.Incident, item activity.Item) error {
		if i.Progress != incident.Triggered {
			return nil
		}
		return react(tx, i, item)
	}
}

// opened starts the escalation of a new incident, unless a person made it by hand for chosen persons.
func (r *Service) opened(tx *db.Tx, i *incident.Incident, item activity.Item) error {
	if item.Person != 0 && i.AssignedTo != nil {
		return nil
	}
	return r.start(tx, i, item)
}

// paused cancels the notifications that call for any responder, and makes the escalation due, which then waits.
func (r *Service) paused(why sentence.Value) reaction {
	return func(tx *db.Tx, _ *incident.Incident, item activity.Item) error {
		if err := r.Notify.Cancel(tx, item.Account, []string{item.ID}, why, item.At, shared...); err != nil {
			return err
		}
		return Recheck(tx, item.Account, item.ID, item.At)
	}
}

// ended cancels all pages of incidents that are closed, and notifies the recovery to the recipients who were notified of
// them, by mail and in chats. Calls and text messages are not used: no person has to act.
func (r *Service) ended(tx *db.Tx, items []activity.Item) error {
	if len(items) == 0 {
		return nil
	}
	account, now := items[0].Account, items[0].At
	severities, ids := map[string]string{}, make([]string, 0, len(items))
	for _, item := range items {
		if item.Person != 0 { // what a person did is acted on at once
			r.wakeFor(tx, item.Account)
		}
		i, found, err := incident.Of(tx, item)
		if err != nil {
			return err
		}
		if found {
			ids, severities[i.IncidentID] = append(ids, i.IncidentID), i.Severity
		}
	}
	if err := r.finish(tx, account, ids, sentence.New("is_over"), now); err != nil {
		return err
	}
	return r.Notify.Recover(tx, account, severities, now, quietly)
}

// finish cancels all pages of closed incidents, and ends their escalations and follow-ups.
func (r *Service) finish(tx *db.Tx, account int64, ids []string, why sentence.Value, now time.Time) error {
	if err := r.Notify.Cancel(tx, account, ids, why, now, pages...); err != nil {
		return err
	}
	if err := RecheckAll(tx, account, ids, now); err != nil {
		return err
	}
	return forget(tx, account, ids...)
}

// Recheck makes the incident's escalation and follow-up due now, because the incident or one of its alerts has changed:
// silences that held it back may not match a new alert.
func Recheck(tx *db.Tx, account int64, incident string, now time.Time) error {
	return RecheckAll(tx, account, []string{incident}, now)
}

// RecheckAll is Recheck for some incidents.
func RecheckAll(tx *db.Tx, account int64, incidents []string, now time.Time) error {
	if len(incidents) == 0 {
		return nil
	}
	list := db.JSON(incidents)
	if err := tx.Do(`UPDATE escalation SET next_at = $3 WHERE account_id = $1
		AND incident_id IN (SELECT value FROM json_each($2)) AND next_at > $3`, account, list, now.Unix()); err != nil {
		return err
	}
	if err := tx.Do(`UPDATE follow_up SET next_at = $3 WHERE account_id = $1
		AND incident_id IN (SELECT value FROM json_each($2)) AND next_at > $3`, account, list, now.Unix()); err != nil {
		return err
	}
	return untold.Recheck(tx, account, list, now)
}

// Reconsider makes all escalations and follow-ups of an account due, because its configuration has changed.
func Reconsider(tx *db.Tx, account int64, now time.Time) error {
	// Arithmetic on account_id keeps the engine from reading the account's past escalations instead of all that go on.
	if err := tx.Do(`UPDATE escalation SET next_at = $2 WHERE account_id + 0 = $1 AND next_at > 0 AND next_at > $2`,
		account, now.Unix()); err != nil {
		return err
	}
	if err := tx.Do(`UPDATE follow_up SET next_at = $2 WHERE account_id = $1 AND next_at > 0 AND next_at > $2`,
		account, now.Unix()); err != nil {
		return err
	}
	return untold.Reconsider(tx, account, now)
}

// restart starts the escalation of an incident again that no person handles any more. If it was assigned to persons, they
// are notified. Otherwise its rule escalates as it is configured now, or the rule that matches now.
func (r *Service) restart(tx *db.Tx, i *incident.Incident, item activity.Item) error {
	others := func(id int64) bool { return id != item.Person }
	to := i.AssignedTo
	if to != nil && to.Type != "escalate" && to.EscalateRuleID == "" && slices.ContainsFunc(to.PersonIDs, others) {
		if err := r.follow(tx, i, i.Severity, 0, item.At); err != nil {
			return err
		}
		return r.notifyPersons(tx, i, item, sentence.New("assigned_alone"), to.PersonIDs)
	}
	return r.restartRule(tx, i, item, "")
}

// restartRule starts the rule that escalated an incident last again at its first layer, or the rule that matches now. again
// is the reason for its notifications; see timing.Because.
func (r *Service) restartRule(tx *db.Tx, i *incident.Incident, item activity.Item, again sentence.Value) error {
	before, err := latest(tx, item.Account, item.ID)
	if err != nil {
		return err
	}
	if before == nil || before.ruleID == "" {
		number, err := r.replace(tx, before, i)
		if err != nil {
			return err
		}
		return insert(tx, i, number, again, item.At)
	}
	rule, found, err := channel.Escalates.Find(tx, item.Account, before.ruleID)
	if err != nil {
		return err
	}
	if !found {
		rule = before.rule
	}
	return r.beginBecause(tx, before, i, rule, 0, again, item.At)
}

// start begins an escalation without a rule. The background job chooses the rule, because matching filters takes too
// long for the caller's transaction. If none matches, the incident's feed records it.
func (r *Service) start(tx *db.Tx, i *incident.Incident, item activity.Item) error {
	if item.First { // there is nothing to replace
		return insert(tx, i, 1, "", item.At)
	}
	before, err := latest(tx, item.Account, item.ID)
	if err != nil {
		return err
	}
	number, err := r.replace(tx, before, i)
	if err != nil {
		return err
	}
	return insert(tx, i, number, "", item.At)
}

// assigned handles an assignment by a person: it notifies the persons, or escalates by the rule that was assigned.
func (r *Service) assigned(tx *db.Tx, i *incident.Incident, item activity.Item) error {
	to := i.AssignedTo
	if to == nil || to.Type == "escalate" {
		return nil
	}
	before, err := latest(tx, item.Account, item.ID)
	if err != nil {
		return err
	}
	if to.EscalateRuleID != "" {
		rule, found, err := channel.Escalates.Find(tx, item.Account, to.EscalateRuleID)
		if err != nil || !found {
			return err
		}
		return r.begin(tx, before, i, rule, int(to.LayerIdx), item.At)
	}
	if before != nil && before.next > 0 { // these persons are responsible now
		before.next, before.ended = 0, "replaced"
		if err := before.save(tx); err != nil {
			return err
		}
	}
	if err := r.Notify.Cancel(tx, item.Account, []string{item.ID}, sentence.New("assigned_others"), item.At, notify.Page); err != nil {
		return err
	}
	if i.Progress == incident.Triggered {
		if err := r.follow(tx, i, i.Severity, 0, item.At); err != nil {
			return err
		}
	}
	if err := r.notifyPersons(tx, i, item, sentence.New("assigned"), to.PersonIDs); err != nil {
		return err
	}
	t := draft{cause: notify.Assigned, event: item.Event.Type()}
	return r.addresses(tx, i, t, to.Emails, fmt.Sprintf("%s/a%s", i.IncidentID, to.ID), sentence.New("assigned"), item.At)
}

// notifyPersons notifies persons of an event, except the person who caused it.
func (r *Service) notifyPersons(tx *db.Tx, i *incident.Incident, item activity.Item, reason sentence.Value, persons []int64) error {
	for _, id := range persons {
		if id == item.Person {
			continue
		}
		key := fmt.Sprintf("%s/%s/%d/p%d", i.IncidentID, item.Event.Type(), item.At.UnixMilli(), id)
		t := draft{cause: notify.Assigned, event: item.Event.Type(), key: key, reason: reason}
		if err := r.person(tx, i, t, id, item.At); err != nil {
			return err
		}
	}
	return nil
}

// stormDelay is how long the notification of a storm waits for the next threshold, so that thresholds which are passed
// together are one message. There are six thresholds at most.
const stormDelay = 5 * time.Second

// stormed notifies the responders of an incident that it has grown to a number of alerts. A notification of a smaller
// number that still waits is cancelled.
func (r *Service) stormed(tx *db.Tx, i *incident.Incident, item activity.Item, threshold int64) error {
	why := sentence.New("grown_further", threshold)
	if err := r.Notify.Cancel(tx, item.Account, []string{item.ID}, why, item.At, notify.Storm); err != nil {
		return err
	}
	for _, id := range i.Responders() {
		t := draft{
			cause: notify.Storm, event: item.Event.Type(), key: fmt.Sprintf("%s/%s/%d/p%d", i.IncidentID, item.Event.Type(), threshold, id),
			reason: sentence.New("responsible_grown", threshold),
			due:    item.At.Add(stormDelay).UnixMilli(),
		}
		if err := r.person(tx, i, t, id, item.At); err != nil {
			return err
		}
	}
	return nil
}

// quietly accepts the notifications that called for a person, except calls and text messages.
func quietly(n notify.Notification) bool {
	return (slices.Contains(pages, n.Cause) || n.Cause == notify.Merged) && n.Method != "sms" && n.Method != "voice"
}

// announce notifies those who were notified of an incident that a person has acknowledged it, except this person. Only the
// first acknowledgement is announced: when ten persons acknowledge, no one gets ten messages.
func (r *Service) announce(tx *db.Tx, i *incident.Incident, item activity.Item) error {
	acked := 0
	for _, a := range i.Assignments {
		if a.RemovedAt == 0 && a.AcknowledgedAt > 0 {
			acked++
		}
	}
	if acked != 1 {
		return nil
	}
	return r.Notify.Acknowledged(tx, i.AccountID, map[string]string{i.IncidentID: i.Severity}, item.At, func(n notify.Notification) bool {
		return n.Person != item.Person && quietly(n)
	})
}

// Reseal passes the secrets in the rules of escalations through renew, and returns how many rules it stored. Ended
// escalations are among them: one starts again with its own rule when its incident is reopened and the rule is deleted.
// It stops at the first error.
func Reseal(tx *db.Tx, renew secret.Renew) (rules int, err error) {
	runs, err := db.All(tx, scanRun, `SELECT `+columns+` FROM escalation WHERE rule <> ''`)
	if err != nil {
		return 0, err
	}
	for n := range runs {
		e := &runs[n]
		if err := channel.Escalates.Renew(renew, e.account, &e.rule); err != nil {
			return rules, err
		}
		text, err := json.Marshal(e.rule, json.Deterministic(true))
		if err != nil {
			return rules, err
		}
		if err := tx.Do(`UPDATE escalation SET rule = $4 WHERE account_id = $1 AND incident_id = $2 AND run = $3`,
			e.account, e.incident, e.number, string(text)); err != nil {
			return rules, err
		}
		rules++
	}
	return rules, nil
}
