package escalation

import (
	"fmt"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// NextStep begins the step after the one in which the person of a page was notified, without waiting for its time. It
// returns the answer to the person: that it did, or why it did not. If the escalation has passed that step it changes
// nothing, so that the same request twice does not skip a step.
func (r *Service) NextStep(tx *db.Tx, i *incident.Incident, n *notify.Notification, now time.Time) (answer string, err error) {
	switch {
	case i.IncidentID != n.Incident || i.MergedInto != "":
		return "Not escalated: the incident was merged into another.", nil
	case i.Progress == incident.Processing:
		return "Not escalated: the incident is acknowledged already.", nil
	case i.Progress != incident.Triggered:
		return "Not escalated: the incident is over.", nil
	case i.SnoozedBefore > now.Unix():
		return "Not escalated: the incident is snoozed.", nil
	case n.Detail.Run == 0:
		return "Not escalated: this was not a step of an escalation.", nil
	}
	e, err := latest(tx, i.AccountID, i.IncidentID)
	if err != nil {
		return "", err
	}
	if e == nil || e.number != n.Detail.Run || e.layer() > n.Detail.Layer {
		return "The escalation has gone on already.", nil
	}
	next := n.Detail.Layer + 1
	if next >= len(e.rule.Layers) {
		return "Not escalated: this is the last step of the escalation.", nil
	}
	if err := r.begin(tx, e, i, e.rule, next, now); err != nil {
		return "", err
	}
	r.wakeFor(tx, i.AccountID)
	step := activity.Escalated{LayerIdx: int64(next), EscalateRuleID: e.ruleID, EscalateRuleName: e.ruleName}
	item := activity.Item{Account: i.AccountID, ID: i.IncidentID, Channel: i.ChannelID, At: now, Person: n.Person, Event: step}
	return fmt.Sprintf("Escalated: step %d begins.", next+1), r.Bus.Publish(tx, item)
}

// layer returns the layer that was notified last; the first one before any was.
func (e *run) layer() int {
	plan := escalationplan.Plan(e.timing.Rule, e.started)
	if e.done == 0 || len(plan) == 0 {
		return 0
	}
	return plan[min(e.done, len(plan))-1].Layer
}
