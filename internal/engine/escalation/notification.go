package escalation

import (
	"cmp"
	"fmt"
	"slices"
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

// overdue is after how many seconds a step counts as late: the program was stopped. What is late shares a message.
const overdue = 120

// maxWait is the longest that a layer waits for the next shift, in seconds. A longer gap skips the layer: the incident
// must not stay without a notification for days.
const maxWait = 24 * 3600

// outcome is the result of a layer's step.
type outcome int

const (
	notified outcome = iota
	waiting          // for a person's shift: the step is not done
	skipped          // there is no person to notify: the next layer takes over at once
)

// notifyLayer notifies the persons, addresses and chats of one layer. If none of its persons can be reached, the layer
// is skipped, waits or falls back.
func (r *Service) notifyLayer(tx *db.Tx, e *run, i *incident.Incident, v escalationplan.Result, now time.Time) (what outcome, err error) {
	l := e.rule.Layers[v.Layer]
	zone, err := person.Zone(tx, e.account)
	if err != nil {
		return notified, err
	}
	to, err := r.recipients(tx, i, e.rule.Layers[v.Layer:], e.timing.Absent, now.Unix(), zone)
	if err != nil {
		return notified, err
	}
	if to.none {
		then, err := r.withoutPerson(tx, e, i, v, to, now)
		switch {
		case err != nil:
			return notified, err
		case then == channel.Wait:
			return waiting, nil
		case then == channel.Fallback:
			why := sentence.New("fallback_of_layer_in", to.problems)
			to.persons = append(to.persons, notify.Recipient{PersonID: l.OnNobody.PersonID, Why: why})
		case len(l.Target.Emails) == 0:
			what = skipped
		}
	}
	if err := r.assign(tx, e, i, v.Layer, to.persons, now); err != nil {
		return notified, err
	}
	t := draft{cause: notify.Page, event: activity.IncidentNew, late: now.Unix()-v.At > overdue, detail: e.detail(v.Layer)}
	t.because = e.timing.Because
	t.key = fmt.Sprintf("%s/%d/%d/%d", e.incident, e.number, v.Layer, v.Repeat)
	t.detail.Repeat, t.detail.Forced = e.repeats(v.Layer, v.Repeat), v.Why == escalationplan.Forced
	if round := e.timing.Round; round > 0 {
		t.key = fmt.Sprintf("%s/%d.%d/%d/%d", e.incident, e.number, round, v.Layer, v.Repeat)
	}
	return what, r.notifyTarget(tx, e, i, t, v.Layer, to.persons, now)
}

// repeats returns how often a layer was notified before, in this round and in those before it.
func (e *run) repeats(layer, inRound int) int {
	return inRound + e.timing.Round*(1+e.timing.Layers[layer].Times)
}

// detail returns what the notifications of one layer have in common.
func (e *run) detail(layer int) notify.Detail {
	return notify.Detail{Run: e.number, Layer: layer, Rule: e.ruleID, RuleName: e.ruleName, Template: e.rule.TemplateID}
}

// notifyTarget notifies the persons, and the addresses and chats that a layer names. The key of t is what their keys
// begin with.
func (r *Service) notifyTarget(
	tx *db.Tx, e *run, i *incident.Incident, t draft, layer int, persons []notify.Recipient, now time.Time,
) error {
	target, prefix := e.rule.Layers[layer].Target, t.key
	t.by = target.By
	if t.by != nil {
		for _, p := range persons {
			t.key, t.reason = prefix+fmt.Sprintf("/p%d", p.PersonID), t.why(p.Why)
			if err := r.person(tx, i, t, p.PersonID, now); err != nil {
				return err
			}
		}
	}
	if err := r.addresses(tx, i, t, target.Emails, prefix, t.why(sentence.New("named")), now); err != nil {
		return err
	}
	return r.chats(tx, e, i, t, target, prefix, layer, now)
}

// addresses stores the notifications to e-mail addresses that a layer or an assignment names besides persons. The persons are
// notified before.
func (r *Service) addresses(
	tx *db.Tx, i *incident.Incident, t draft, list []string, prefix string, reason sentence.Value, now time.Time,
) error {
	for _, address := range list {
		n := t.notification(i, 0, "email", notify.Address{To: address}, prefix+"/e"+address, reason)
		if err := r.Notify.PutAddress(tx, n, now); err != nil {
			return err
		}
	}
	return nil
}

// recipients is what a layer's target resolves to at a moment.
type recipients struct {
	persons  []notify.Recipient
	problems []sentence.Value // the parts of the target without a person, and the persons who cannot be reached
	none     bool             // the target names persons, and none of them can be notified
	next     int64            // when another person's shift begins, Unix seconds; 0: it is not known
}

// recipients resolves the target of the first layer; the other layers may follow it. An unreachable person stays
// responsible, but does not keep the layer from being skipped. An absent person is left out while another person of this
// layer, or of a later one, can be reached.
func (r *Service) recipients(
	tx *db.Tx, i *incident.Incident, layers []channel.Layer, refusing []int64, at int64, zone *time.Location,
) (to recipients, err error) {
	l := layers[0]
	to.persons, to.problems, to.next, err = notify.Persons(tx, i.AccountID, l.Target, at, zone)
	if err != nil || l.Target.By == nil && len(to.persons) > 0 {
		return to, err
	}
	until, err := notify.Away(tx, i.AccountID, to.persons, at)
	if err != nil {
		return to, err
	}
	var away []notify.Recipient
	named := to.persons
	to.persons, to.none = nil, len(to.problems)+len(named) > 0
	for _, p := range named {
		problem, err := r.unreached(tx, i, l.Target.By, refusing, p.PersonID, at)
		if err != nil {
			return to, err
		}
		if problem == "" && until[p.PersonID] > 0 {
			problem, err = absentUntil(tx, i.AccountID, p.PersonID, until[p.PersonID], zone)
			if err != nil {
				return to, err
			}
			away = append(away, notify.Recipient{PersonID: p.PersonID, Why: sentence.New("although_absent", p.Why, problem)})
		} else {
			to.persons, to.none = append(to.persons, p), to.none && problem != ""
		}
		if problem != "" {
			to.problems = append(to.problems, problem)
		}
	}
	if len(away) == 0 || !to.none {
		return to, nil
	}
	others, err := r.reachAny(tx, i, layers[1:], refusing, at, zone)
	if err == nil && !others {
		to.persons, to.none = append(to.persons, away...), false
	}
	return to, err
}

// reachAny reports whether a layer names a person who can be reached and is not absent.
func (r *Service) reachAny(
	tx *db.Tx, i *incident.Incident, layers []channel.Layer, refusing []int64, at int64, zone *time.Location,
) (bool, error) {
	for _, l := range layers {
		persons, _, _, err := notify.Persons(tx, i.AccountID, l.Target, at, zone)
		if err != nil {
			return false, err
		}
		if n := l.OnNobody; n != nil && n.Then == channel.Fallback {
			persons = append(persons, notify.Recipient{PersonID: n.PersonID})
		}
		until, err := notify.Away(tx, i.AccountID, persons, at)
		if err != nil {
			return false, err
		}
		for _, p := range persons {
			if until[p.PersonID] > 0 {
				continue
			}
			problem, err := r.unreached(tx, i, l.Target.By, refusing, p.PersonID, at)
			if err != nil || problem == "" {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// unreached returns why a person cannot be reached; empty when the person can. One reason is that every method of the person
// refused a page of this escalation.
func (r *Service) unreached(
	tx *db.Tx, i *incident.Incident, by *channel.By, refusing []int64, person, at int64,
) (problem sentence.Value, err error) {
	problem, err = r.problem(tx, i, by, person, at)
	if err == nil && problem == "" && slices.Contains(refusing, person) {
		problem, err = refused(tx, i.AccountID, person)
	}
	return problem, err
}

// absentUntil describes a person who is absent until a moment, in Unix seconds.
func absentUntil(tx *db.Tx, account, person, until int64, zone *time.Location) (sentence.Value, error) {
	p, _, err := notify.Find(tx, account, person)
	return sentence.New("is_absent", p.Name, time.Unix(until, 0).In(zone).Format("Mon 2 Jan 15:04 MST")), err
}

// refused describes a person whose every method refused a page.
func refused(tx *db.Tx, account, person int64) (sentence.Value, error) {
	p, _, err := notify.Find(tx, account, person)
	return sentence.New("all_refused", p.Name), err
}

// problem returns why a person cannot be reached; empty when the person can.
func (r *Service) problem(tx *db.Tx, i *incident.Incident, by *channel.By, person, at int64) (sentence.Value, error) {
	p, found, err := notify.Find(tx, i.AccountID, person)
	if err != nil || !found {
		return sentence.New("has_left", person), err
	}
	reaches, missing, err := r.Notify.Reaches(tx, i.AccountID, p, by, i.Severity, time.Unix(at, 0))
	if err != nil || notify.Works(reaches) {
		return "", err
	}
	return sentence.New("not_reached", p.Name, missing), nil
}

// withoutPerson decides what a layer does when no person can be notified: skip, wait for the next shift, or fall back.
// It records the decision in the incident's feed.
func (r *Service) withoutPerson(
	tx *db.Tx, e *run, i *incident.Incident, v escalationplan.Result, to recipients, now time.Time,
) (then string, err error) {
	then = channel.Skip
	if n := e.rule.Layers[v.Layer].OnNobody; n != nil {
		then = n.Then
	}
	if then == channel.Fallback {
		fallback := []notify.Recipient{{PersonID: e.rule.Layers[v.Layer].OnNobody.PersonID}}
		passed, err := r.passesOver(tx, e, i, v.Layer, fallback, now)
		if err != nil {
			return then, err
		}
		if passed {
			then = channel.Skip
		}
	}
	next := to.next
	if then == channel.Wait && (next == 0 || next > now.Unix()+maxWait) {
		then = channel.Skip // there is no shift to wait for
	}
	step := activity.Notified{
		LayerIdx:         int64(v.Layer),
		EscalateRuleID:   e.ruleID,
		EscalateRuleName: e.ruleName,
		By:               "nobody",
		Reason:           sentence.Join(to.problems...),
		Then:             then,
	}
	if then == channel.Wait {
		step.Until = next
		e.timing.Still = append(e.timing.Still, escalationplan.Span{From: v.At, Until: next})
	}
	return then, r.publish(tx, i, now, step)
}

// passesOver reports whether the fallback of a layer is not notified. Every method refused a page of this escalation, or the
// person is absent and a later layer reaches another person.
func (r *Service) passesOver(
	tx *db.Tx, e *run, i *incident.Incident, layer int, fallback []notify.Recipient, now time.Time,
) (bool, error) {
	if slices.Contains(e.timing.Absent, fallback[0].PersonID) {
		return true, nil
	}
	until, err := notify.Away(tx, e.account, fallback, now.Unix())
	if err != nil || len(until) == 0 {
		return false, err
	}
	zone, err := person.Zone(tx, e.account)
	if err != nil {
		return false, err
	}
	return r.reachAny(tx, i, e.rule.Layers[layer+1:], e.timing.Absent, now.Unix(), zone)
}

// assign makes the persons of a layer responsible.
func (r *Service) assign(tx *db.Tx, e *run, i *incident.Incident, layer int, persons []notify.Recipient, now time.Time) error {
	var ids []int64
	current := i.Responders()
	fresh := false
	for _, p := range persons {
		ids = append(ids, p.PersonID)
		fresh = fresh || !slices.Contains(current, p.PersonID)
	}
	if !fresh {
		return nil
	}
	writer := incident.Writer{Tx: tx, Bus: r.Bus, Account: e.account, Now: now, Batch: batchOf(tx).incidents}
	return writer.Assign(i, incident.AssignedTo{
		PersonIDs:        ids,
		EscalateRuleID:   e.ruleID,
		EscalateRuleName: e.ruleName,
		LayerIdx:         int64(layer),
		Type:             "escalate",
	})
}

// draft holds what all notifications of one cause have in common.
type draft struct {
	cause, event, key string
	reason            sentence.Value
	severity          string // whose methods are used; empty: the incident's
	by                *channel.By
	detail            notify.Detail
	due               int64 // Unix milliseconds; 0: at once
	except            firstTargets
	rose              int64          // when the severity rose, Unix milliseconds; 0: the message is about no rise
	late              bool           // the message may wait some seconds to share another: a reminder, or its moment has long passed
	because           sentence.Value // why the escalation began again, behind the reason of each target; empty: first run
}

// why returns the reason of a target.
func (t draft) why(reason sentence.Value) sentence.Value {
	if t.because == "" {
		return reason
	}
	return sentence.New("because", reason, t.because)
}

// notification returns the draft as a notification to one address. Its key makes it unique: the same key is sent once.
func (t draft) notification(
	i *incident.Incident, person int64, method string, to notify.Address, key string, reason sentence.Value,
) notify.Notification {
	return notify.Notification{
		Account:  i.AccountID,
		Key:      key,
		Incident: i.IncidentID,
		Event:    t.event,
		Cause:    t.cause,
		Severity: cmp.Or(t.severity, i.Severity),
		Late:     t.late,
		Due:      t.due,
		Rose:     t.rose,
		Person:   person,
		Method:   method,
		Address:  to,
		Reason:   reason,
		Detail:   t.detail,
	}
}

// person stores the notifications to one person, one for each method that is wanted. A person without a method gets a
// notification that has failed, so that the history shows it.
func (r *Service) person(tx *db.Tx, i *incident.Incident, t draft, id int64, now time.Time) error {
	p, found, err := notify.Find(tx, i.AccountID, id)
	if err != nil || !found {
		return err
	}
	return r.Notify.PutFor(tx, p, t.by, cmp.Or(t.severity, i.Severity), t.notification(i, id, "", notify.Address{}, t.key, t.reason), now)
}

// chats stores the notifications to the chats of a layer. A chat that cannot be used gets one that has failed.
func (r *Service) chats(
	tx *db.Tx, e *run, i *incident.Incident, t draft, target channel.Target, prefix string, layer int, now time.Time,
) error {
	if len(target.Webhooks) == 0 {
		return nil
	}
	rule := e.rule
	closed := channel.Escalates.Open(r.Keyring, e.account, &rule)
	for n, hook := range rule.Layers[layer].Target.Webhooks {
		for _, chat := range notify.Chats(e.account, hook.Type, hook.Settings) {
			key := fmt.Sprintf("%s/w%d%s", prefix, n, chat.Suffix)
			if t.rose > 0 { // a chat that several layers name gets one message
				key = fmt.Sprintf("%s/w%s", prefix, chat.Address.Digest())
			}
			if slices.Contains(t.except.chats, chat.Address.Digest()) {
				continue
			}
			n := t.notification(i, 0, chat.Method, chat.Address, key, t.why(sentence.New("chat_named")))
			var err error
			switch {
			case closed != nil: // a secret that cannot be opened must not keep the layer's persons from being notified
				n.Address = notify.Address{}
				err = r.Notify.Refuse(tx, n, notify.Closed(closed), now)
			case chat.Lacks != "":
				err = r.Notify.Refuse(tx, n, chat.Lacks, now)
			default:
				err = r.Notify.PutNeeded(tx, n, now)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
