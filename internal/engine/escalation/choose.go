package escalation

import (
	"fmt"
	"time"

	"tocsin/internal/calendar"
	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// RuleResult is the result of matching an incident against one rule.
type RuleResult struct {
	RuleID   string         `json:"rule_id" doc:"The rule."`
	RuleName string         `json:"rule_name" doc:"Its name."`
	Matched  bool           `json:"matched" doc:"It escalates the incident."`
	Why      sentence.Words `json:"why" doc:"The condition that was met or not, in words."` // set by Choose alone: an escalation shows none
	why      sentence.Value
	over     bool // matching exceeded the meter's budget, which counts as no match
}

// choices holds what the choice of a rule depends on besides the incident.
type choices struct {
	rules []channel.EscalateRule
	days  map[string]*calendar.Days
	zone  *time.Location
}

// readChoices reads the rules of the incident's channel, the calendars they name, and the account's time zone.
func readChoices(tx *db.Tx, i *incident.Incident) (choices, error) {
	rules, err := channel.Escalates.Of(tx, i.AccountID, fmt.Sprint(i.ChannelID))
	if err != nil {
		return choices{}, err
	}
	return choicesOf(tx, i.AccountID, rules)
}

// choicesOf reads what the choice among rules depends on.
func choicesOf(tx *db.Tx, account int64, rules []channel.EscalateRule) (c choices, err error) {
	c.rules = rules
	var ids []string
	for _, rule := range c.rules {
		for _, w := range rule.TimeFilters {
			if w.CalID != nil {
				ids = append(ids, *w.CalID)
			}
		}
	}
	c.days, err = calendar.Load(tx, account, ids)
	if err != nil {
		return c, err
	}
	c.zone, err = person.Zone(tx, account)
	return c, err
}

// choose returns the rule that escalates an incident: the first of its channel, by priority, that is enabled, active at
// the moment and matches. found is false when none does. A rule over the meter's budget does not match. results holds the
// result of every rule that was tried, in order.
func (c *choices) choose(
	meter *filter.Meter, i *incident.Incident, now time.Time,
) (rule channel.EscalateRule, results []RuleResult, found bool) {
	for _, rule := range c.rules {
		result := c.match(meter, rule, i, now)
		results = append(results, result)
		if result.Matched {
			return rule, results, true
		}
	}
	return channel.EscalateRule{}, results, false
}

// match matches an incident against one rule.
func (c *choices) match(meter *filter.Meter, rule channel.EscalateRule, i *incident.Incident, now time.Time) RuleResult {
	result := RuleResult{RuleID: rule.RuleID, RuleName: rule.RuleName}
	if rule.Status != "enabled" {
		result.why = sentence.New("rule_disabled")
		return result
	}
	m, _ := filter.Compile(rule.Filters) // checked when the rule was stored
	matched, why := meter.Ask(m, i)
	result.Matched = matched
	result.over = meter.Over()
	if result.Matched && len(rule.TimeFilters) > 0 && !channel.InWindow(rule.TimeFilters, now, c.zone, c.days) {
		result.Matched, why = false, sentence.New("rule_inactive", why)
	}
	result.why = why
	return result
}

// Choose returns the rule that escalates an incident, and changes nothing. It matches filters, which takes time, so it
// must not be called in a write transaction.
func Choose(tx *db.Tx, i *incident.Incident, now time.Time) (rule channel.EscalateRule, results []RuleResult, found bool, err error) {
	c, err := readChoices(tx, i)
	if err != nil {
		return rule, nil, false, err
	}
	rule, results, found = c.explain(i, now)
	return rule, results, found, nil
}

// explain is choose with the reasons in words.
func (c *choices) explain(i *incident.Incident, now time.Time) (rule channel.EscalateRule, results []RuleResult, found bool) {
	rule, results, found = c.choose(filter.NewMeter(filter.RuleSteps, filter.EventSteps), i, now)
	for n := range results {
		results[n].Why = sentence.Words(results[n].why)
	}
	return rule, results, found
}
