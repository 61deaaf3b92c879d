package explain

import (
	"cmp"

	"tocsin/internal/activity"
	"tocsin/internal/channel"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
)

// describeEntry returns the sentences about an entry of a feed; none when the explanation shows it elsewhere or not at all.
func (x *Explanation) describeEntry(e activity.Entry, id string) ([]sentence.Value, error) {
	var who sentence.Value
	var err error
	if e.Person != 0 {
		who, err = x.personName(e.Person)
		if err != nil {
			return nil, err
		}
	}
	var ids []int64
	switch a := e.Event.(type) {
	case activity.Assigned:
		ids = a.To
	case activity.RespondersAdded:
		ids = a.To
	case activity.Exhausted:
		ids = a.To
	}
	to, err := x.persons(ids)
	if err != nil {
		return nil, err
	}
	if step, ok := e.Event.(activity.Notified); ok {
		if step.By != "nobody" { // the notification itself is described
			return nil, nil
		}
		return x.describeStep(step), nil
	}
	return describe(e.Event, id, who, to), nil
}

// describe describes an event of the incident id; who caused it, to are the persons that it names. Both may be empty.
func describe(e activity.Event, id string, who sentence.Value, to []sentence.Value) []sentence.Value {
	switch e := e.(type) {
	case activity.Unacknowledged:
		return []sentence.Value{unacknowledged(e, who), sentence.New("so_begins_again")}
	case activity.Snoozed:
		return []sentence.Value{
			by(who, sentence.New("f_snoozed", e.Minutes), sentence.New("f_snoozed_by", e.Minutes, who)), sentence.New("so_stands_still"),
		}
	case activity.Woken:
		text := []sentence.Value{by(who, sentence.New("f_woken"), sentence.New("f_woken_by", who))}
		if e.Restarts {
			text = append(text, sentence.New("so_begins_again"))
		}
		return text
	}
	return []sentence.Value{cmp.Or(describeIncident(e, id, who), describeEscalation(e, who, to))}
}

// unacknowledged describes how an acknowledgement ended.
func unacknowledged(e activity.Unacknowledged, who sentence.Value) sentence.Value {
	switch e.Unanswered {
	case "reminder":
		return sentence.New("f_unanswered")
	case "snooze":
		return sentence.New("f_unanswered_snooze")
	}
	return by(who, sentence.New("f_unack"), sentence.New("f_unack_by", who))
}

// merged describes a merge of which the incident id is the target or a source.
func merged(e activity.Merged, id string, who sentence.Value) sentence.Value {
	n, target := len(e.SourceIncidentIDs), incident.Num(e.TargetIncidentID)
	switch {
	case e.TargetIncidentID != id:
		return by(who, sentence.New("f_merged", target), sentence.New("f_merged_by", target, who))
	case n > 1:
		return by(who, sentence.New("f_merged_many", n), sentence.New("f_merged_many_by", n, who))
	}
	return by(who, sentence.New("f_merged_one"), sentence.New("f_merged_one_by", who))
}

// describeIncident describes an event of the incident id; empty: it is of its escalation.
func describeIncident(e activity.Event, id string, who sentence.Value) sentence.Value {
	switch e := e.(type) {
	case activity.Opened:
		title, num := quoted(e.Name()), incident.Num(id)
		return by(who, sentence.New("f_opened", title, num, e.Severity), sentence.New("f_opened_by", title, num, who, e.Severity))
	case activity.Acknowledged:
		return by(who, sentence.New("f_acknowledged"), sentence.New("f_acknowledged_by", who))
	case activity.Answered:
		return answered(e, who)
	case activity.Resolved:
		return by(who, sentence.New("f_resolved", e.From), sentence.New("f_resolved_by", e.From, who))
	case activity.Reopened:
		return by(who, sentence.New("f_reopened"), sentence.New("f_reopened_by", who))
	case activity.Merged:
		return merged(e, id, who)
	case activity.SeverityChanged:
		return by(who, sentence.New("f_severity", e.From, e.To), sentence.New("f_severity_by", e.From, e.To, who))
	case activity.Stormed:
		return sentence.New("f_storm", e.Threshold)
	}
	return ""
}

// answered describes the answer of a person to a question.
func answered(e activity.Answered, who sentence.Value) sentence.Value {
	switch e.Answer {
	case incident.Later:
		return sentence.New("f_later", who)
	case incident.Never:
		return sentence.New("f_never", who)
	}
	return sentence.New("f_still", who)
}

// describeEscalation describes an event of an escalation; empty: it is of none.
func describeEscalation(e activity.Event, who sentence.Value, to []sentence.Value) sentence.Value {
	switch e := e.(type) {
	case activity.Joined:
		return sentence.New("f_joined", e.Title)
	case activity.FiresAgain:
		return sentence.New("f_fires_again", e.Reason)
	case activity.Exhausted:
		switch {
		case e.Unanswered:
			return sentence.New("f_ended", e.Reason)
		case len(e.To) == 0:
			return sentence.New("f_no_person", e.Reason)
		}
		return sentence.New("f_instead", to, e.Reason)
	case activity.Escalated:
		step, rule := e.LayerIdx+1, ruleNamed(e.EscalateRuleName, e.EscalateRuleID)
		return by(who, sentence.New("f_forward", step, rule), sentence.New("f_forward_by", step, rule, who))
	case activity.RespondersAdded:
		if len(e.To) > 1 {
			return by(who, sentence.New("f_made_all", to), sentence.New("f_made_all_by", to, who))
		}
		return by(who, sentence.New("f_made", to), sentence.New("f_made_by", to, who))
	case activity.Assigned:
		if e.How == "escalate" {
			return sentence.New("f_step", e.LayerIdx+1, ruleNamed(e.EscalateRuleName, e.EscalateRuleID), to)
		}
		return by(who, sentence.New("f_assigned", to), sentence.New("f_assigned_by", to, who))
	}
	return ""
}

// describeStep describes a step of an escalation that notified no person.
func (x *Explanation) describeStep(e activity.Notified) []sentence.Value {
	step, rule := e.LayerIdx+1, ruleNamed(e.EscalateRuleName, e.EscalateRuleID)
	switch e.Then {
	case channel.Wait:
		return []sentence.Value{sentence.New("f_step_waits", step, rule, x.clock.Minute(e.Until), e.Reason)}
	case channel.Fallback:
		return []sentence.Value{sentence.New("f_step_empty", step, rule, e.Reason), sentence.New("so_fallback")}
	}
	return []sentence.Value{sentence.New("f_step_empty", step, rule, e.Reason), sentence.New("so_next_step")}
}

// maxNamed is how many persons a sentence names.
const maxNamed = 5

// persons lists persons by name.
func (x *Explanation) persons(ids []int64) (names []sentence.Value, err error) {
	if len(ids) == 0 {
		return []sentence.Value{sentence.New("others")}, nil
	}
	for _, id := range ids[:min(len(ids), maxNamed)] {
		name, err := x.personName(id)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if more := len(ids) - len(names); more > 0 {
		names = append(names, sentence.New("more_persons", more))
	}
	return names, nil
}

// personName returns the name of a person, or the number of one who has left.
func (x *Explanation) personName(id int64) (sentence.Value, error) {
	p, found, err := notify.Find(x.c.Tx, x.c.Who.AccountID, id)
	if err != nil {
		return "", err
	}
	if !found {
		return sentence.New("person_left", id), nil
	}
	return sentence.Raw(p.Name), nil
}
