package escalation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/channel"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
	"tocsin/internal/team"
)

// Someone is a person that a layer means, and why.
type Someone struct {
	PersonID int64  `json:"person_id" doc:"The person."`
	Why      string `json:"why" doc:"How the rule comes to this person, in words."`
}

// Persons finds whom a target means at a moment (Unix seconds): each once, those named first, then teams,
// then who is on call. nobody says which of its parts have nobody; next is when one of its schedules has
// somebody again (Unix seconds), 0: it is not known.
func Persons(tx *db.Tx, account int64, t channel.Target, at int64, zone *time.Location) (persons []Someone, nobody []string, next int64, err error) {
	add := func(id int64, why string) error {
		if slices.ContainsFunc(persons, func(s Someone) bool { return s.PersonID == id }) {
			return nil
		}
		_, found, err := notify.Find(tx, account, id)
		if err == nil && !found {
			nobody = append(nobody, fmt.Sprintf("person %d, %s, has left", id, why))
			return nil
		}
		persons = append(persons, Someone{id, why})
		return err
	}
	for _, id := range t.PersonIDs {
		if err := add(id, "named by the rule"); err != nil {
			return nil, nil, 0, err
		}
	}
	for _, id := range t.TeamIDs {
		record, found, err := team.Find(tx, account, id)
		if err != nil {
			return nil, nil, 0, err
		}
		if !found || len(record.PersonIDs) == 0 {
			nobody = append(nobody, fmt.Sprintf("team %d has nobody", id))
			continue
		}
		for _, person := range record.PersonIDs {
			if err := add(person, "in team "+record.TeamName); err != nil {
				return nil, nil, 0, err
			}
		}
	}
	for _, key := range sortedKeys(t.ScheduleToRoleIDs) {
		id, _ := strconv.ParseInt(key, 10, 64)
		who, found, err := schedule.Who(tx, account, id, t.ScheduleToRoleIDs[key], at, zone)
		switch {
		case err != nil:
			return nil, nil, 0, err
		case !found:
			nobody = append(nobody, "schedule "+key+" is gone")
		case who.Disabled:
			nobody = append(nobody, "schedule "+who.Name+" is disabled")
		case len(who.Persons) == 0:
			nobody = append(nobody, "nobody is on call in "+who.Name)
			if who.Next > 0 && (next == 0 || who.Next < next) {
				next = who.Next
			}
		}
		if found && !who.Disabled {
			for _, person := range who.Persons {
				if err := add(person, fmt.Sprintf("on call in %s, %s", who.Name, who.Group)); err != nil {
					return nil, nil, 0, err
				}
			}
		}
	}
	return persons, nobody, next, nil
}

func sortedKeys(m map[string][]int64) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// longest is how long a layer waits for the next turn at most, in seconds.
const longest = 24 * 3600

// outcome is what has become of a layer's step.
type outcome int

const (
	told    outcome = iota
	waits           // for somebody's turn: the step is not done
	skipped         // there is nobody to tell: the next layer takes over at once
)

// layer tells one layer, or finds that there is nobody to tell.
func (r *Service) layer(tx *db.Tx, e *run, i *incident.Incident, v escalationplan.Result, now time.Time) (what outcome, err error) {
	l := e.rule.Layers[v.Layer]
	zone, err := person.Zone(tx, e.account)
	if err != nil {
		return told, err
	}
	persons, err := r.whom(tx, i, l, now.Unix(), zone)
	if err != nil {
		return told, err
	}
	if persons.nobody {
		then, err := r.nobody(tx, e, i, v, persons, now)
		switch {
		case err != nil:
			return told, err
		case then == channel.Wait:
			return waits, nil
		case then == channel.Fallback:
			persons.all = append(persons.all, Someone{l.OnNobody.PersonID, "the fallback of a layer in which " + strings.Join(persons.lacks, ", ")})
		case len(l.Target.Emails) == 0:
			what = skipped
		}
	}
	if err := r.assign(tx, e, i, v.Layer, persons.all, now); err != nil {
		return told, err
	}
	t := teller{cause: notify.Page, event: activity.IncidentNew, by: l.Target.By, detail: notify.Detail{Run: e.number, Layer: v.Layer, Repeat: v.Repeat, Forced: v.Why == escalationplan.Forced, Rule: e.ruleID, RuleName: e.ruleName, Template: e.rule.TemplateID}}
	prefix := fmt.Sprintf("%s/%d/%d/%d", e.incident, e.number, v.Layer, v.Repeat)
	if l.Target.By != nil {
		for _, p := range persons.all {
			t.key, t.reason = prefix+fmt.Sprintf("/p%d", p.PersonID), p.Why
			if err := r.person(tx, i, t, p.PersonID, now); err != nil {
				return told, err
			}
		}
	}
	for _, address := range l.Target.Emails {
		n := t.notice(i, 0, "email", notify.Address{To: address}, prefix+"/e"+address, "named by the rule")
		if err := r.Notify.Put(tx, n, now); err != nil {
			return told, err
		}
	}
	return what, r.chats(tx, e, i, t, l.Target, prefix, v.Layer, now)
}

// found is whom a layer means at a moment.
type found struct {
	all    []Someone
	lacks  []string // what of it has nobody, or nobody who can be reached
	nobody bool     // not one of them can be told
	next   int64    // when somebody else has a turn, Unix seconds; 0: it is not known
}

// whom is Persons of a layer. Who cannot be reached is nobody to wait for, but responsible all the same.
func (r *Service) whom(tx *db.Tx, i *incident.Incident, l channel.Layer, at int64, zone *time.Location) (f found, err error) {
	f.all, f.lacks, f.next, err = Persons(tx, i.AccountID, l.Target, at, zone)
	if err != nil || l.Target.By == nil && len(f.all) > 0 {
		return f, err
	}
	f.nobody = len(f.lacks) > 0 || len(f.all) > 0
	for _, someone := range f.all {
		problem, err := r.problem(tx, i, l.Target.By, someone.PersonID, at)
		if err != nil {
			return f, err
		}
		if f.nobody = f.nobody && problem != ""; problem != "" {
			f.lacks = append(f.lacks, problem)
		}
	}
	return f, nil
}

// problem says why a person cannot be reached; empty: the person can.
func (r *Service) problem(tx *db.Tx, i *incident.Incident, by *channel.By, person, at int64) (string, error) {
	p, found, err := notify.Find(tx, i.AccountID, person)
	if err != nil || !found {
		return fmt.Sprintf("person %d has left", person), err
	}
	reaches, missing, err := r.Notify.Reaches(tx, i.AccountID, p, by, i.Severity, time.Unix(at, 0))
	if err != nil || notify.Works(reaches) {
		return "", err
	}
	return p.Name + " cannot be reached: " + missing, nil
}

// nobody says what a layer does without anybody to tell: skip, wait for the next turn, or fall back.
func (r *Service) nobody(tx *db.Tx, e *run, i *incident.Incident, v escalationplan.Result, persons found, now time.Time) (then string, err error) {
	then = channel.Skip
	if n := e.rule.Layers[v.Layer].OnNobody; n != nil {
		then = n.Then
	}
	next := persons.next
	if then == channel.Wait && (next == 0 || next > now.Unix()+longest) {
		then = channel.Skip // there is no next turn to wait for
	}
	step := activity.Notified{LayerIdx: int64(v.Layer), EscalateRuleID: e.ruleID, EscalateRuleName: e.ruleName, By: "nobody", Reason: strings.Join(persons.lacks, "; "), Then: then}
	if then == channel.Wait {
		step.Until = next
		e.timing.Still = append(e.timing.Still, escalationplan.Span{From: v.At, Until: next})
	}
	return then, r.Bus.Publish(tx, activity.Item{Account: i.AccountID, ID: i.IncidentID, Channel: i.ChannelID, At: now, Event: step})
}

// assign makes the persons of a layer responsible.
func (r *Service) assign(tx *db.Tx, e *run, i *incident.Incident, layer int, persons []Someone, now time.Time) error {
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
	writer := incident.Writer{Tx: tx, Bus: r.Bus, Account: e.account, Now: now}
	return writer.Assign(i, incident.AssignedTo{PersonIDs: ids, EscalateRuleID: e.ruleID, EscalateRuleName: e.ruleName, LayerIdx: int64(layer), Type: "escalate"})
}

// teller is what all notices of one telling have in common.
type teller struct {
	cause, event, key, reason string
	by                        *channel.By
	detail                    notify.Detail
}

func (t teller) notice(i *incident.Incident, person int64, method string, to notify.Address, key, reason string) notify.Notification {
	return notify.Notification{Account: i.AccountID, Key: key, Incident: i.IncidentID, Event: t.event, Cause: t.cause, Person: person, Method: method, Address: to, Reason: reason, Detail: t.detail}
}

// person makes the notices to one person, over every way that is wanted. That there is none is noted down as
// a notice that failed.
func (r *Service) person(tx *db.Tx, i *incident.Incident, t teller, id int64, now time.Time) error {
	p, found, err := notify.Find(tx, i.AccountID, id)
	if err != nil || !found {
		return err
	}
	return r.Notify.Tell(tx, p, t.by, i.Severity, t.notice(i, id, "", notify.Address{}, t.key, t.reason), now)
}

// chats makes the notices to the chats of a layer.
func (r *Service) chats(tx *db.Tx, e *run, i *incident.Incident, t teller, target channel.Target, prefix string, layer int, now time.Time) error {
	if len(target.Webhooks) == 0 {
		return nil
	}
	rule := e.rule
	closed := channel.Escalates.Open(r.Keyring, e.account, &rule)
	for n, hook := range rule.Layers[layer].Target.Webhooks {
		for _, chat := range notify.Chats(e.account, hook.Type, hook.Settings) {
			notice := t.notice(i, 0, chat.Method, chat.Address, fmt.Sprintf("%s/w%d%s", prefix, n, chat.Suffix), "a chat named by the rule")
			var err error
			switch {
			case closed != nil: // the persons of the layer are told all the same
				notice.Address = notify.Address{}
				err = r.Notify.Refuse(tx, notice, notify.Closed(closed), now)
			case chat.Lacks != "":
				err = r.Notify.Refuse(tx, notice, chat.Lacks, now)
			default:
				err = r.Notify.Put(tx, notice, now)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
