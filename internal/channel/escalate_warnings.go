package channel

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/person"
	"tocsin/internal/schedule"
	"tocsin/internal/team"
	"tocsin/internal/template"
)

// vet refuses a rule that refers to what does not exist, and names what about it is probably not meant.
func (r *EscalateRule) vet(c *api.Call) (warnings []string, err error) {
	if r.TemplateID != template.Preset {
		if err := configstore.Need(c.Tx, c.Who.AccountID, "template_id", configstore.RefTo(configstore.Template, r.TemplateID)); err != nil {
			return nil, err
		}
	}
	for _, named := range r.named() {
		if err := configstore.Need(c.Tx, c.Who.AccountID, named.path, named.to); err != nil {
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
	return slices.Concat(warnings, windows, filterWarnings("filters", r.Filters), hidden, r.timingWarnings(), r.wayWarnings()), err
}

// unreachable names somebody who exists but cannot be told just now.
func unreachable(c *api.Call, n namedAt) ([]string, error) {
	if n.to.Kind == configstore.Schedule {
		return offDuty(c, n)
	}
	id, err := strconv.ParseInt(n.to.ID, 10, 64)
	if err != nil {
		return nil, err
	}
	members, words := []int64{id}, "has been invited and is not there yet"
	if n.to.Kind == configstore.Team {
		words = "has nobody in it who could be told"
		members, err = team.Members(c.Tx, c.Who.AccountID, id)
	}
	for i := 0; i < len(members) && err == nil; i++ {
		p, _, failed := person.Find(c.Tx, c.Who.AccountID, members[i])
		if err = failed; p.Status == "enabled" {
			return nil, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("%s: %s %s %s", n.path, n.to.Kind, n.to.ID, words)}, nil
}

// offDuty names a schedule in which nobody is ever on call, and those of the wanted roles that nobody has.
func offDuty(c *api.Call, n namedAt) (warnings []string, err error) {
	id, err := strconv.ParseInt(n.to.ID, 10, 64)
	if err != nil {
		return nil, err
	}
	held, err := schedule.HeldRoles(c.Tx, c.Who.AccountID, id)
	if err != nil {
		return nil, err
	}
	if held == nil {
		return []string{fmt.Sprintf("%s: schedule %s is disabled or has no layers, so that nobody is on call in it", n.path, n.to.ID)}, nil
	}
	for i, role := range n.roles {
		if !held[role] {
			warnings = append(warnings, fmt.Sprintf("%s[%d]: nobody has role %d in schedule %s", n.path, i, role, n.to.ID))
		}
	}
	return warnings, nil
}

// hidden names an enabled rule of the channel that comes before this one and holds for every incident at any
// time: of the rules that hold for an incident only the first is used.
func (r *EscalateRule) hidden(c *api.Call) ([]string, error) {
	all, err := Escalates.Of(c.Tx, c.Who.AccountID, strconv.FormatInt(r.ChannelID, 10))
	for _, o := range all {
		before := cmp.Or(cmp.Compare(o.Priority, r.Priority), cmp.Compare(o.CreatedAt, r.CreatedAt), cmp.Compare(o.RuleID, r.RuleID)) < 0
		if before && o.RuleID != r.RuleID && o.Status == "enabled" && len(o.Filters)+len(o.TimeFilters) == 0 {
			return []string{fmt.Sprintf("priority: escalation rule %s (%s) comes before this one and holds for every incident, so that this one is never used", o.RuleID, o.RuleName)}, err
		}
	}
	return nil, err
}

// timingWarnings names what the layers say of repeats without effect.
func (r *EscalateRule) timingWarnings() (warnings []string) {
	for i, l := range r.Layers {
		at, times, step := fmt.Sprintf("layers[%d].", i), value(l.MaxTimes), value(l.NotifyStep)
		timing := l.timing()
		switch {
		case times > 0 && step == 0:
			warnings = append(warnings, at+"notify_step: is not set, so nobody is told again in spite of max_times")
		case times == 0 && step > 0:
			warnings = append(warnings, at+"max_times: is not set, so nobody is told again in spite of notify_step")
		case times > 0 && i < len(r.Layers)-1 && timing.Every >= timing.Window:
			warnings = append(warnings, fmt.Sprintf("%snotify_step: the next layer takes over after %d minutes, before anybody is told again", at, timing.Window/minute))
		}
	}
	return warnings
}

// wayWarnings names layers that have people but no way to them when it matters most, and chats without
// anything that says where they are.
func (r *EscalateRule) wayWarnings() (warnings []string) {
	for i, l := range r.Layers {
		t, at := l.Target, fmt.Sprintf("layers[%d].target.", i)
		if t.persons() && t.By != nil && t.By.any() && !value(t.By.FollowPreference) && len(t.By.Critical) == 0 && len(t.Webhooks) == 0 {
			warnings = append(warnings, at+"by.critical: is empty, so nobody is told of critical incidents")
		}
		for j, w := range t.Webhooks {
			if len(w.Settings) == 0 {
				warnings = append(warnings, fmt.Sprintf("%swebhooks[%d].settings: is empty, so that it says nowhere where to write", at, j))
			}
		}
	}
	return warnings
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
