package explain

import (
	"fmt"

	"tocsin/internal/activity"
	"tocsin/internal/channel"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
)

// sentence describes an entry of a feed; empty when the explanation shows it elsewhere or not at all.
func (x *Explanation) sentence(e activity.Entry, id string) (string, error) {
	var by string
	var err error
	if e.Person != 0 {
		by, err = x.personName(e.Person)
		if err != nil {
			return "", err
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
		return "", err
	}
	if step, ok := e.Event.(activity.Notified); ok {
		if step.By != "nobody" { // the notification itself is described
			return "", nil
		}
		return x.describeStep(step), nil
	}
	return describe(e.Event, id, by, to), nil
}

// describe describes an event of the incident id; by is the person who caused it, to the persons that it names. Both may
// be empty.
func describe(e activity.Event, id, by, to string) string {
	passive := ""
	if by != "" {
		passive = " by " + by
	}
	switch e := e.(type) {
	case activity.Opened:
		return fmt.Sprintf("The incident %q (%s) was opened%s, with severity %s.", e.Name(), incident.Num(id), passive, e.Severity)
	case activity.Acknowledged:
		if by == "" {
			return sentence.Of("f_acknowledged") + "."
		}
		return fmt.Sprintf("%s acknowledged the incident.", by)
	case activity.Unacknowledged:
		switch e.Unanswered {
		case "reminder":
			return sentence.Of("f_unanswered") + ". " + sentence.Of("so_begins_again") + "."
		case "snooze":
			return sentence.Of("f_unanswered_snooze") + ". " + sentence.Of("so_begins_again") + "."
		}
		return fmt.Sprintf("The acknowledgement of the incident was taken back%s. So its escalation begins again.", passive)
	case activity.Answered:
		return answered(e, by)
	case activity.Snoozed:
		return fmt.Sprintf("The incident was snoozed for %d minutes%s. So its escalation stands still in that time.", e.Minutes, passive)
	case activity.Woken:
		text := fmt.Sprintf("The snooze of the incident was ended%s.", passive)
		if e.Restarts {
			text += " " + sentence.Of("so_begins_again") + "."
		}
		return text
	case activity.Resolved:
		return fmt.Sprintf("The incident was resolved (%s)%s.", e.From, passive)
	case activity.Reopened:
		return fmt.Sprintf("The incident was opened again%s.", passive)
	case activity.Merged:
		if e.TargetIncidentID == id {
			if n := len(e.SourceIncidentIDs); n > 1 {
				return fmt.Sprintf("%d other incidents were merged into the incident%s.", n, passive)
			}
			return fmt.Sprintf("1 other incident was merged into the incident%s.", passive)
		}
		return fmt.Sprintf("The incident was merged into incident %s%s.", incident.Num(e.TargetIncidentID), passive)
	case activity.SeverityChanged:
		return fmt.Sprintf("The severity of the incident was changed from %s to %s%s.", e.From, e.To, passive)
	case activity.Stormed:
		return fmt.Sprintf("The incident has grown to %d alerts: a storm.", e.Threshold)
	}
	return describeEscalation(e, passive, to)
}

// answered describes the answer of a person to a question.
func answered(e activity.Answered, by string) string {
	switch e.Answer {
	case incident.Later:
		return sentence.Of("f_later", by) + "."
	case incident.Never:
		return sentence.Of("f_never", by) + "."
	}
	return sentence.Of("f_still", by) + "."
}

// describeEscalation describes an event of an escalation.
func describeEscalation(e activity.Event, passive, to string) string {
	switch e := e.(type) {
	case activity.Joined:
		return fmt.Sprintf("Alerts join the incident, first %s.", e.Title)
	case activity.FiresAgain:
		return sentence.Of("f_fires_again", e.Reason) + "."
	case activity.Exhausted:
		if e.Unanswered {
			return "The escalation ended: " + ended(e.Reason.English())
		}
		if len(e.To) == 0 {
			return "So no rule notified a person: " + ended(e.Reason.English())
		}
		return sentence.Of("f_instead", to, ended(e.Reason.English()))
	case activity.Escalated:
		return fmt.Sprintf("%s was brought forward%s.", stepOf(e.LayerIdx, e.EscalateRuleName, e.EscalateRuleID), passive)
	case activity.RespondersAdded:
		verb := "was"
		if len(e.To) > 1 {
			verb = "were"
		}
		return fmt.Sprintf("%s %s made responsible%s.", to, verb, passive)
	case activity.Assigned:
		if e.How == "escalate" {
			return fmt.Sprintf("%s began and made %s responsible.", stepOf(e.LayerIdx, e.EscalateRuleName, e.EscalateRuleID), to)
		}
		return fmt.Sprintf("The incident was assigned to %s%s.", to, passive)
	}
	return ""
}

// describeStep describes a step of an escalation that notified no person.
func (x *Explanation) describeStep(e activity.Notified) string {
	step := stepOf(e.LayerIdx, e.EscalateRuleName, e.EscalateRuleID)
	switch e.Then {
	case channel.Wait:
		return fmt.Sprintf("%s waits until %s: %s", step, x.clock.Minute(e.Until), ended(e.Reason.English()))
	case channel.Fallback:
		return fmt.Sprintf("%s had no person to notify: %s So its fallback is notified.", step, ended(e.Reason.English()))
	}
	return fmt.Sprintf("%s had no person to notify: %s So the step after it follows at once.", step, ended(e.Reason.English()))
}

// stepOf names a step of a rule at the start of a sentence.
func stepOf(layer int64, rule, id string) string {
	return fmt.Sprintf("Step %d of rule %s", layer+1, ruleNamed(rule, id))
}

// maxNamed is how many persons a sentence names.
const maxNamed = 5

// persons lists persons by name.
func (x *Explanation) persons(ids []int64) (string, error) {
	if len(ids) == 0 {
		return "others", nil
	}
	var names []string
	for _, id := range ids[:min(len(ids), maxNamed)] {
		name, err := x.personName(id)
		if err != nil {
			return "", err
		}
		names = append(names, name)
	}
	if more := len(ids) - len(names); more > 0 {
		names = append(names, sentence.Of("more_persons", more))
	}
	return and(names), nil
}

// personName returns the name of a person, or the number of one who has left.
func (x *Explanation) personName(id int64) (string, error) {
	p, found, err := notify.Find(x.c.Tx, x.c.Who.AccountID, id)
	if err != nil {
		return "", err
	}
	if !found {
		return sentence.Of("person_left", id), nil
	}
	return p.Name, nil
}
