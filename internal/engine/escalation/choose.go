package escalation

import (
	"fmt"
	"time"

	"tocsin/internal/calendar"
	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// Look is how an incident fared with one rule.
type Look struct {
	RuleID   string `json:"rule_id" doc:"The rule."`
	RuleName string `json:"rule_name" doc:"Its name."`
	Matched  bool   `json:"matched" doc:"It escalates the incident."`
	Why      string `json:"why" doc:"The condition that was met or not, in words."`
	over     bool   // it would have cost too much and counts as not matching
}

// choices is what choosing a rule depends on besides the incident.
type choices struct {
	rules []channel.EscalateRule
	days  map[string]*calendar.Days
	zone  *time.Location
}

func readChoices(tx *db.Tx, i *incident.Incident) (c choices, err error) {
	if c.rules, err = channel.Escalates.Of(tx, i.AccountID, fmt.Sprint(i.ChannelID)); err != nil {
		return c, err
	}
	var ids []string
	for _, rule := range c.rules {
		for _, w := range rule.TimeFilters {
			if w.CalID != nil {
				ids = append(ids, *w.CalID)
			}
		}
	}
	if c.days, err = calendar.Load(tx, i.AccountID, ids); err != nil {
		return c, err
	}
	c.zone, err = person.Zone(tx, i.AccountID)
	return c, err
}

// choose finds the rule that escalates an incident: the first of its channel's, by priority, that is enabled, holds at
// the moment and matches. found is false when none does. A rule over the meter's budget does not match.
func (c *choices) choose(meter *filter.Meter, i *incident.Incident, now time.Time) (rule channel.EscalateRule, looks []Look, found bool) {
	for _, rule := range c.rules {
		look := Look{RuleID: rule.RuleID, RuleName: rule.RuleName, Why: "it is disabled"}
		if rule.Status == "enabled" {
			m, _ := filter.Compile(rule.Filters)
			look.Matched, look.Why = meter.Ask(m, i)
			look.over = meter.Over()
		}
		if look.Matched && len(rule.TimeFilters) > 0 && !channel.InWindow(rule.TimeFilters, now, c.zone, c.days) {
			look.Matched, look.Why = false, "it does not hold at this time: "+look.Why
		}
		if looks = append(looks, look); look.Matched {
			return rule, looks, true
		}
	}
	return rule, looks, false
}

// Choose reads and chooses, for those who only want to know. It matches filters, so it must not be called in a write
// transaction.
func Choose(tx *db.Tx, i *incident.Incident, now time.Time) (rule channel.EscalateRule, looks []Look, found bool, err error) {
	c, err := readChoices(tx, i)
	if err == nil {
		rule, looks, found = c.choose(filter.NewMeter(filter.RuleSteps, filter.EventSteps), i, now)
	}
	return rule, looks, found, err
}
