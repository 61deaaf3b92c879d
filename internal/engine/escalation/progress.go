package escalation

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/channel"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
	"tocsin/internal/team"
)

// Progress is where the latest escalation of an incident stands.
type Progress struct {
	RuleID, RuleName string         // empty: no rule is chosen yet
	Next             *Upcoming      // the next notification of a step; nil: none is planned
	Silenced         bool           // silences hold the incident, so that the clock stands still
	Ended            string         // why it has ended, such as acknowledged or exhausted; empty: it goes on
	Left             []UpcomingStep // the steps that were not reached, of an escalation that has ended
}

// Upcoming is the next notification of a step.
type Upcoming struct {
	UpcomingStep
	Repeat int   // how often the step was notified before
	At     int64 // when, Unix seconds, if nothing happens before
}

// UpcomingStep is a step of a rule.
type UpcomingStep struct {
	Number int              // from 1
	Who    []sentence.Value // its targets by name, such as Anna, team Payments, on call in Night
}

// ProgressOf returns where the latest escalation of an incident stands at now (Unix seconds); nil if there was none.
func ProgressOf(tx *db.Tx, i *incident.Incident, now int64) (*Progress, error) {
	s, found, err := db.One(tx, scanStored,
		`SELECT `+columns+` FROM escalation WHERE account_id = $1 AND incident_id = $2 ORDER BY run DESC LIMIT 1`, i.AccountID, i.IncidentID)
	if err != nil || !found {
		return nil, err
	}
	e, err := s.read()
	if err != nil { // a corrupt rule must not keep the rest from being explained
		return &Progress{RuleID: s.ruleID, RuleName: s.ruleName, Ended: Failing}, nil
	}
	p := &Progress{RuleID: e.ruleID, RuleName: e.ruleName, Silenced: e.timing.Held > 0, Ended: e.ended}
	if e.next == 0 {
		p.Left, err = e.left(tx)
		return p, err
	}
	if e.ended != Failing { // it goes on, or waits for the result of its last notifications
		p.Ended = ""
	}
	if e.ruleID == "" {
		return p, nil
	}
	p.Next, err = e.upcoming(tx, i, now)
	return p, err
}

// left returns the steps that an escalation did not reach.
func (e *run) left(tx *db.Tx) (left []UpcomingStep, err error) {
	plan := escalationplan.Plan(e.timing.Rule, e.started)
	for _, step := range plan[min(e.done, len(plan)):] {
		if step.Repeat > 0 || step.Layer >= len(e.rule.Layers) {
			continue
		}
		who, err := targets(tx, e.account, e.rule.Layers[step.Layer].Target)
		if err != nil {
			return nil, err
		}
		left = append(left, UpcomingStep{step.Layer + 1, who})
	}
	return left, nil
}

// upcoming returns the first step that will notify its targets, if the incident stays as it is.
func (e *run) upcoming(tx *db.Tx, i *incident.Incident, now int64) (*Upcoming, error) {
	state, done := e.state(i), e.done
	for at := max(e.next, now); at != 0; {
		a := escalationplan.Next(e.timing.Rule, e.started, done, state, at)
		for _, v := range a.Due {
			if !v.Tell || v.Layer >= len(e.rule.Layers) {
				continue
			}
			who, err := targets(tx, e.account, e.rule.Layers[v.Layer].Target)
			return &Upcoming{UpcomingStep{v.Layer + 1, who}, e.repeats(v.Layer, v.Repeat), at}, err
		}
		done, at = done+len(a.Due), a.Next
	}
	return nil, nil
}

// Message is the next message about an incident that is no step of its escalation.
type Message struct {
	Kind     escalationplan.Message // None: no message is planned
	At       int64                  // when, Unix seconds, if nothing happens before
	LastStep bool                   // it is for everyone of the last step, if no person has acknowledged the incident
}

// NextMessage returns the next message about an incident that is no step of its escalation, as of now (Unix seconds).
func NextMessage(tx *db.Tx, i *incident.Incident, now int64) (next Message, err error) {
	f, found, err := findFollowUp(tx, i.AccountID, i.IncidentID)
	if err != nil || !found || f.next == 0 || i.Progress == incident.Closed {
		return next, err
	}
	ch, _, err := channel.Find(tx, i.AccountID, i.ChannelID)
	if err != nil {
		return next, err
	}
	await, err := f.await(tx, i, ch, time.Unix(now, 0))
	if err != nil {
		return next, err
	}
	plan := f.plan(i, ch, await)
	next.LastStep = !assignedByHand(i)
	for at := max(f.next, now); at != 0 && next.Kind == escalationplan.None; {
		next.At = at
		next.Kind, at = plan.Next(i.SnoozedBefore, at)
	}
	return next, nil
}

// targets returns the targets of a step by name.
func targets(tx *db.Tx, account int64, t channel.Target) (who []sentence.Value, err error) {
	for _, id := range t.PersonIDs {
		p, found, err := notify.Find(tx, account, id)
		if err != nil {
			return nil, err
		}
		if found {
			who = append(who, sentence.Raw(p.Name))
		} else {
			who = append(who, sentence.New("person_left", id))
		}
	}
	for _, id := range t.TeamIDs {
		record, found, err := team.Find(tx, account, id)
		if err != nil {
			return nil, err
		}
		name := sentence.Raw(record.TeamName)
		if !found {
			name = sentence.New("target_gone", strconv.FormatInt(id, 10))
		}
		who = append(who, sentence.New("team_target", name))
	}
	zone, err := person.Zone(tx, account)
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(t.ScheduleToRoleIDs)) {
		id, _ := strconv.ParseInt(key, 10, 64)
		name := sentence.New("target_gone", key)
		s, err := schedule.FindShifts(tx, account, id, zone)
		if err != nil {
			return nil, err
		}
		if s != nil {
			name = sentence.Raw(s.Name)
		}
		who = append(who, sentence.New("on_call_target", name))
	}
	if n := len(t.Emails); n > 0 {
		who = append(who, sentence.New("emails_target", n))
	}
	for _, hook := range t.Webhooks {
		who = append(who, sentence.New("chat_target", hook.Type))
	}
	return who, nil
}
