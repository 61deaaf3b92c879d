package channel

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/lint"
	"tocsin/internal/person"
	"tocsin/internal/schedule"
	"tocsin/internal/team"
	"tocsin/internal/template"
)

// vet rejects a rule that refers to missing objects. The warnings name what is probably not meant.
func (r *EscalateRule) vet(c *api.Call) (warnings []string, err error) {
	if err := template.Need(c.Tx, c.Who.AccountID, "template_id", r.TemplateID); err != nil {
		return nil, err
	}
	for _, named := range r.named() {
		if err := named.table.Need(c.Tx, c.Who.AccountID, named.path, named.id); err != nil {
			return nil, err
		}
		more, err := unreachable(c, named)
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, more...)
	}
	windows, err := windowWarnings(c, r.TimeFilters)
	if err != nil {
		return nil, err
	}
	hidden, err := r.hidden(c)
	filters := lint.FilterWarnings("filters", r.Filters, lint.OfIncident)
	return slices.Concat(warnings, windows, filters, hidden, r.timingWarnings(), r.methodWarnings()), err
}

// unreachable returns a warning for a person, team or schedule that exists but cannot be notified now.
func unreachable(c *api.Call, n namedAt) ([]string, error) {
	if n.table.Kind == configstore.Schedule {
		return offDuty(c, n)
	}
	members, words := []int64{n.id}, "has not accepted the invitation yet"
	if n.table.Kind == configstore.Team {
		words = "has no member who can be notified"
		var err error
		members, err = team.Members(c.Tx, c.Who.AccountID, n.id)
		if err != nil {
			return nil, err
		}
	}
	for _, member := range members {
		p, _, err := person.Find(c.Tx, c.Who.AccountID, member)
		if err != nil {
			return nil, err
		}
		if p.Status == "enabled" {
			return nil, nil
		}
	}
	return []string{fmt.Sprintf("%s: %s %d %s", n.path, n.table.Kind, n.id, words)}, nil
}

// offDuty returns a warning for a schedule in which no one is ever on call, and one for each wanted role that
// no person has.
func offDuty(c *api.Call, n namedAt) (warnings []string, err error) {
	held, err := schedule.HeldRoles(c.Tx, c.Who.AccountID, n.id)
	if err != nil {
		return nil, err
	}
	if held == nil {
		return []string{fmt.Sprintf("%s: schedule %d is disabled or has no layers, so no one is on call in it", n.path, n.id)}, nil
	}
	for i, role := range n.roles {
		if !held[role] {
			warnings = append(warnings, fmt.Sprintf("%s[%d]: no person has role %d in schedule %d", n.path, i, role, n.id))
		}
	}
	return warnings, nil
}

// hidden returns a warning when this rule is never used: only the first rule that matches an incident is
// used, and an enabled rule before this one matches every incident at any time.
func (r *EscalateRule) hidden(c *api.Call) ([]string, error) {
	all, err := Escalates.Of(c.Tx, c.Who.AccountID, strconv.FormatInt(r.ChannelID, 10))
	for _, o := range all {
		order := cmp.Or(
			cmp.Compare(o.Priority, r.Priority),
			cmp.Compare(o.CreatedAt, r.CreatedAt),
			cmp.Compare(o.RuleID, r.RuleID),
		)
		if order < 0 && o.RuleID != r.RuleID && o.Status == "enabled" && len(o.Filters)+len(o.TimeFilters) == 0 {
			return []string{fmt.Sprintf("priority: escalation rule %s (%s) comes before this one and matches every incident,"+
				" so this one is never used", o.RuleID, o.RuleName)}, err
		}
	}
	return nil, err
}

// timingWarnings returns a warning for each setting of repeats that has no effect.
func (r *EscalateRule) timingWarnings() (warnings []string) {
	for i, l := range r.Layers {
		at := fmt.Sprintf("layers[%d].", i)
		times := value(l.MaxTimes)
		step := value(l.NotifyStep)
		timing := l.timing()
		switch {
		case times > 0 && step == 0:
			warnings = append(warnings, at+"notify_step: is not set, so max_times has no effect")
		case times == 0 && step > 0:
			warnings = append(warnings, at+"max_times: is not set, so notify_step has no effect")
		case times > 0 && i < len(r.Layers)-1 && timing.Every >= timing.Window:
			warnings = append(warnings, fmt.Sprintf("%snotify_step: the next layer takes over after %d minutes,"+
				" before this one is notified again", at, timing.Window/minute))
		}
	}
	return warnings
}

// methodWarnings returns a warning for each layer with persons but no method for critical incidents, and for
// each chat without an address.
func (r *EscalateRule) methodWarnings() (warnings []string) {
	for i, l := range r.Layers {
		t, at := l.Target, fmt.Sprintf("layers[%d].target.", i)
		byList := t.persons() && t.By != nil && t.By.any() && !value(t.By.FollowPreference)
		if byList && len(t.By.Critical) == 0 && len(t.Webhooks) == 0 {
			warnings = append(warnings, at+"by.critical: is empty, so critical incidents notify no person")
		}
		for j, w := range t.Webhooks {
			if len(w.Settings) == 0 {
				warnings = append(warnings, fmt.Sprintf("%swebhooks[%d].settings: is empty, so the chat has no address", at, j))
			}
		}
	}
	return warnings
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
