package escalation

import (
	"fmt"
	"slices"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/channel"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// reachedLayer is a notified layer of one of an incident's escalations.
type reachedLayer struct {
	run   *run
	layer int
}

// target returns the target of the layer.
func (l reachedLayer) target() channel.Target { return l.run.rule.Layers[l.layer].Target }

// reachedLayers returns the layers that were notified since the incident began or was opened again, each once. Each layer is
// as in the latest escalation by its rule. An unreadable rule has no layers, so that it cannot keep the others from being
// notified.
func reachedLayers(tx *db.Tx, i *incident.Incident, notifications []notify.Notification) (layers []reachedLayer, err error) {
	all, err := db.All(tx, scanStored, `SELECT `+columns+` FROM escalation WHERE account_id = $1 AND incident_id = $2 ORDER BY run`,
		i.AccountID, i.IncidentID)
	if err != nil {
		return nil, err
	}
	runs := map[string]*run{} // by rule
	for n := range all {
		if e, failed := all[n].read(); failed == nil && e.ruleID != "" {
			runs[e.ruleID] = &e
		}
	}
	for _, n := range notifications {
		e := runs[n.Detail.Rule]
		if !stepped(n) || e == nil || n.Detail.Layer >= len(e.rule.Layers) || n.Created < i.ReopenedAt*1000 {
			continue
		}
		if l := (reachedLayer{e, n.Detail.Layer}); !slices.Contains(layers, l) {
			layers = append(layers, l)
		}
	}
	return layers, nil
}

// stepped reports whether a notification is of a step of an escalation.
func stepped(n notify.Notification) bool {
	return n.Cause == notify.Page && n.Detail.Rule != "" && n.Event != activity.IncidentSeverity
}

// riseTarget is a person who is notified of a rise, with the layer that names the person.
type riseTarget struct {
	notify.Recipient
	by     *channel.By
	detail notify.Detail
}

// notifyRise notifies each target once that the severity rose. Targets are the persons of all notified layers; of a
// schedule, the persons on call now. Responders who acknowledged the incident, or became responsible otherwise, are targets,
// too. So are the addresses and chats of the layers. If persons were assigned by hand, only the assigned persons are
// targets. except are targets that get a page of the new severity now. unreached reports that no target can be reached,
// although layers were notified.
func (r *Service) notifyRise(tx *db.Tx, i *incident.Incident, t draft, except firstTargets, now time.Time) (unreached bool, err error) {
	t.event, t.rose = activity.IncidentSeverity, max(i.RoseAt*1000, 1)
	notifications, err := notify.OfIncident(tx, i.AccountID, i.IncidentID)
	if err != nil {
		return false, err
	}
	layers, err := reachedLayers(tx, i, notifications)
	if err != nil {
		return false, err
	}
	targets, err := r.riseTargets(tx, i, layers, now)
	if err != nil {
		return false, err
	}
	targets = append(targets, r.otherResponders(i, layers, notifications, targets)...)
	reached, prefix := slices.ContainsFunc(targets, func(o riseTarget) bool { return slices.Contains(except.persons, o.PersonID) }), t.key
	for _, o := range targets {
		if slices.Contains(except.persons, o.PersonID) {
			continue
		}
		problem, err := r.problem(tx, i, o.by, o.PersonID, now.Unix())
		if err != nil {
			return false, err
		}
		reached = reached || problem == ""
		t.by, t.detail = o.by, o.detail
		t.key, t.reason = fmt.Sprintf("%s/p%d", prefix, o.PersonID), o.Why
		if err := r.person(tx, i, t, o.PersonID, now); err != nil {
			return false, err
		}
	}
	t.key, t.by = prefix, nil
	t.except = except
	addressed, err := r.riseAddresses(tx, i, t, layers, now)
	return !reached && !addressed && (len(layers) > 0 || t.cause == notify.Rise), err
}

// riseTargets returns the persons whom layers name now, each once, and makes them responsible.
func (r *Service) riseTargets(tx *db.Tx, i *incident.Incident, layers []reachedLayer, now time.Time) (all []riseTarget, err error) {
	if assignedByHand(i) {
		return nil, nil
	}
	zone, err := person.Zone(tx, i.AccountID)
	if err != nil {
		return nil, err
	}
	for _, l := range layers {
		if l.target().By == nil {
			continue
		}
		to, err := r.recipients(tx, i, l.run.rule.Layers[l.layer:], l.run.timing.Absent, now.Unix(), zone)
		if err != nil {
			return nil, err
		}
		if nobody := l.run.rule.Layers[l.layer].OnNobody; to.none && nobody != nil && nobody.Then == channel.Fallback {
			to.persons = append(to.persons, notify.Recipient{PersonID: nobody.PersonID, Why: sentence.New("fallback_of_layer")})
		}
		if err := r.assign(tx, l.run, i, l.layer, to.persons, now); err != nil {
			return nil, err
		}
		for _, p := range to.persons {
			p.Why = sentence.New("step_rose", p.Why, i.Severity)
			if !slices.ContainsFunc(all, func(o riseTarget) bool { return o.PersonID == p.PersonID }) {
				all = append(all, riseTarget{p, l.target().By, l.run.detail(l.layer)})
			}
		}
	}
	return all, nil
}

// otherResponders returns the responders whom layers do not name now. These responders acknowledged the incident, stood in
// for a layer without a person, or became responsible without a layer. A person whose shift has ended is left out.
func (r *Service) otherResponders(
	i *incident.Incident, layers []reachedLayer, notifications []notify.Notification, named []riseTarget,
) (all []riseTarget) {
	for _, a := range i.Assignments {
		is := func(o riseTarget) bool { return o.PersonID == a.PersonID }
		if a.RemovedAt != 0 || slices.ContainsFunc(named, is) || slices.ContainsFunc(all, is) {
			continue
		}
		o := riseTarget{Recipient: notify.Recipient{PersonID: a.PersonID, Why: sentence.New("responsible_rose", i.Severity)}}
		paged, standsIn := false, false
		for _, n := range notifications {
			if n.Person != a.PersonID || !stepped(n) {
				continue
			}
			paged = true
			at := slices.IndexFunc(layers, func(l reachedLayer) bool { return l.run.ruleID == n.Detail.Rule && l.layer == n.Detail.Layer })
			if at < 0 {
				continue
			}
			l := layers[at]
			nobody := l.run.rule.Layers[l.layer].OnNobody
			o.by, o.detail = l.target().By, l.run.detail(l.layer)
			standsIn = standsIn || nobody != nil && nobody.Then == channel.Fallback && nobody.PersonID == a.PersonID
		}
		if !paged || standsIn || a.AcknowledgedAt > 0 || assignedByHand(i) {
			all = append(all, o)
		}
	}
	return all
}

// riseAddresses notifies the addresses and chats of layers, and the addresses that a person assigned. addressed reports
// whether there is an address, or a chat of a rule that names no persons.
func (r *Service) riseAddresses(
	tx *db.Tx, i *incident.Incident, t draft, layers []reachedLayer, now time.Time,
) (addressed bool, err error) {
	prefix := t.key
	put := func(address string, reason sentence.Value) error {
		addressed = true
		if slices.Contains(t.except.addresses, address) {
			return nil
		}
		return r.addresses(tx, i, t, []string{address}, prefix, reason, now)
	}
	for _, l := range layers {
		t.detail = l.run.detail(l.layer)
		for _, address := range l.target().Emails {
			if err := put(address, sentence.New("named")); err != nil {
				return false, err
			}
		}
		if err := r.chats(tx, l.run, i, t, l.target(), prefix, l.layer, now); err != nil {
			return false, err
		}
		addressed = addressed || l.target().By == nil && len(l.target().Webhooks) > 0
	}
	t.detail = notify.Detail{}
	if to := i.AssignedTo; assignedByHand(i) {
		for _, address := range to.Emails {
			if err := put(address, sentence.New("responsible_rose", i.Severity)); err != nil {
				return false, err
			}
		}
	}
	return addressed, nil
}

// firstTargets are the targets that the first layer of a rule notifies immediately. Targets are persons, e-mail addresses,
// and digests of the addresses of chats.
type firstTargets struct {
	persons          []int64
	addresses, chats []string
}

// firstOf returns the targets of a rule that begins now; no targets if its first layer waits.
func (r *Service) firstOf(tx *db.Tx, i *incident.Incident, rule channel.EscalateRule, now time.Time) (first firstTargets, err error) {
	if rule.Timing().Wait > 0 || len(rule.Layers) == 0 {
		return first, nil
	}
	zone, err := person.Zone(tx, i.AccountID)
	if err != nil {
		return first, err
	}
	target := rule.Layers[0].Target
	to, err := r.recipients(tx, i, rule.Layers, nil, now.Unix(), zone)
	if err != nil {
		return first, err
	}
	for _, p := range to.persons {
		if target.By != nil {
			first.persons = append(first.persons, p.PersonID)
		}
	}
	first.addresses = target.Emails
	if channel.Escalates.Open(r.Keyring, i.AccountID, &rule) != nil { // the rule's chats cannot be notified
		return first, nil
	}
	for _, hook := range rule.Layers[0].Target.Webhooks {
		for _, chat := range notify.Chats(i.AccountID, hook.Type, hook.Settings) {
			first.chats = append(first.chats, chat.Address.Digest())
		}
	}
	return first, nil
}
