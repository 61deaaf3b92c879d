package console

import (
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/engine/monitor"
)

// ruleCard is what the pages of an alert and an incident show of the rule that found it.
type ruleCard struct {
	Rule     uint64
	Name     string
	Source   string
	NotKnown string // of an alert that is open
	Words    []string
	Graph    graphLink
}

// ruleCard returns the card of an alert; nil: no rule found it, or the visitor may not read rules.
func (v *visit) ruleCard(a alertRow) (*ruleCard, error) {
	parts := strings.Split(a.AlertKey, ":") // rule, datasource, query, instance, check
	if a.IntegrationType != "monit.alert" || len(parts) != 5 || !v.who.MayAny(readRules) {
		return nil, nil
	}
	rule, source := unsigned(parts[0]), unsigned(parts[1])
	c := &ruleCard{Rule: rule, Name: a.Labels["rule_name"], Source: a.Labels["ds_name"], Graph: v.graphLink(rule, source)}
	c.Graph.Key = parts[3]
	request := monitor.ExplainRequest{RuleID: rule, DSID: source, Key: parts[3]}
	x, err := call[monitor.Explanation](v, "/monit/rule/explain", request)
	if refused := api.RefusalOf(err); refused != nil && refused.Code == "ResourceNotFound" {
		return nil, nil // the rule was deleted
	}
	for _, s := range x.SentencesData {
		c.Words = append(c.Words, v.SentenceOf(s))
	}
	if err != nil || a.EndTime != 0 {
		return c, err
	}
	state, err := call[monitor.RuleState](v, "/monit/rule/state", monitor.OneRule{ID: rule})
	for _, w := range state.Watches {
		if w.DSID == source {
			c.NotKnown = v.NotKnown(w)
		}
	}
	return c, err
}
