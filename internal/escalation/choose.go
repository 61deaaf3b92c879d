package escalation

import (
	"fmt"
	"time"

	"tocsin/internal/calendar"
	"tocsin/internal/channel"
	"tocsin/internal/db"
	"tocsin/internal/filter"
	"tocsin/internal/incident"
	"tocsin/internal/person"
)

// Look is how an incident fared with one rule.
type Look struct {
	RuleID   string `json:"rule_id" doc:"The rule."`
	RuleName string `json:"rule_name" doc:"Its name."`
	Matched  bool   `json:"matched" doc:"It escalates the incident."`
	Why      string `json:"why" doc:"The condition that was met or not, in words."`
}

// Choose finds the rule that escalates an incident: the first of its channel's, by priority, that is enabled,
// holds at the moment and matches. found is false when none does.
func Choose(tx *db.Tx, i *incident.Incident, now time.Time) (rule channel.EscalateRule, looks []Look, found bool, err error) {
	rules, err := channel.Escalates.Of(tx, i.AccountID, fmt.Sprint(i.ChannelID))
	if err != nil {
		return rule, nil, false, err
	}
	for _, rule := range rules {
		look := Look{RuleID: rule.RuleID, RuleName: rule.RuleName}
		m, _ := filter.Compile(rule.Filters)
		var trace filter.Trace
		switch {
		case rule.Status != "enabled":
			look.Why = "it is disabled"
		case !m.Match(i, &trace):
			look.Why = trace.Why()
		default:
			look.Matched, look.Why = true, trace.Why()
			if len(rule.TimeFilters) > 0 {
				var ids []string
				for _, w := range rule.TimeFilters {
					if w.CalID != nil {
						ids = append(ids, *w.CalID)
					}
				}
				days, err := calendar.Load(tx, i.AccountID, ids)
				if err != nil {
					return rule, nil, false, err
				}
				zone, err := person.Zone(tx, i.AccountID)
				if err != nil {
					return rule, nil, false, err
				}
				if !channel.InWindow(rule.TimeFilters, now, zone, days) {
					look.Matched, look.Why = false, "it does not hold at this time: "+look.Why
				}
			}
		}
		looks = append(looks, look)
		if look.Matched {
			return rule, looks, true, nil
		}
	}
	return rule, looks, false, nil
}
