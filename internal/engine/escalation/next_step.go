package escalation

import (
	"fmt"
	"slices"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// NextStep begins the step after the one in which the person of a page was notified, without waiting for its time. It
// returns the answer to the person: that it did, or why it did not. If the escalation has passed that step it changes
// nothing, so that the same request twice does not skip a step. If the page is about an incident that was merged into i, it begins
// the step after the one that i had at the merge.
func (r *Service) NextStep(tx *db.Tx, i *incident.Incident, n *notify.Notification, now time.Time) (answer string, err error) {
	switch {
	case i.MergedInto != "":
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
	merged := i.IncidentID != n.Incident
	if merged && (e == nil || e.done == 0 && e.next > 0) {
		return "Not escalated: no step of the escalation has begun.", nil
	}
	passed, err := e.passed(tx, n, merged)
	if err != nil {
		return "", err
	}
	if passed {
		return "The escalation has gone on already.", nil
	}
	next := n.Detail.Layer + 1
	if merged {
		next = e.layer() + 1
	}
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

// passed reports whether an escalation has passed the step of a page; nil: there is none. The escalation of the target of a merge
// has passed it if the escalation or its present step began after the merge.
func (e *run) passed(tx *db.Tx, n *notify.Notification, merged bool) (bool, error) {
	switch {
	case e == nil:
		return true, nil
	case !merged:
		return e.number != n.Detail.Run || e.layer() > n.Detail.Layer, nil
	}
	source, _, err := incident.Find(tx, n.Account, n.Incident)
	if err != nil || e.started > source.CloseTime {
		return true, err
	}
	pages, err := notify.OfIncident(tx, e.account, e.incident)
	if err != nil {
		return false, err
	}
	first := slices.IndexFunc(pages, func(p notify.Notification) bool {
		return p.Detail.Run == e.number && p.Detail.Layer == e.layer()
	})
	return first >= 0 && pages[first].Created/1000 > source.CloseTime, nil
}

// layer returns the layer that was notified last; the first one before any was.
func (e *run) layer() int {
	plan := escalationplan.Plan(e.timing.Rule, e.started)
	if e.done == 0 || len(plan) == 0 {
		return 0
	}
	return plan[min(e.done, len(plan))-1].Layer
}
