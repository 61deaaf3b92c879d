package channel

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
	"tocsin/internal/team"
)

// ReleasePerson implements person.Release: it removes a person from the layers of escalation rules. A layer must not be left
// without a person, be it that the rule names the person or a team that has no one else.
func ReleasePerson(c *api.Call, person int64) error {
	teams, err := team.Of(c.Tx, c.Who.AccountID, person)
	if err != nil {
		return err
	}
	rules, err := configstore.Sources(c.Tx, c.Who.AccountID, configstore.Person, person, configstore.Escalate)
	if err != nil {
		return err
	}
	for _, id := range teams {
		paging, err := configstore.Sources(c.Tx, c.Who.AccountID, configstore.Team, id, configstore.Escalate)
		if err != nil {
			return err
		}
		rules = append(rules, paging...)
	}
	slices.Sort(rules)
	for _, id := range slices.Compact(rules) {
		rule, found, err := Escalates.Find(c.Tx, c.Who.AccountID, id)
		if err == nil && found {
			err = rule.release(c, person)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// release removes a person from the rule and stores it if it named the person.
func (r *EscalateRule) release(c *api.Call, person int64) error {
	readable := PermitAll(c.Tx, c.Who, r.ChannelID)
	changed := false
	r.Layers = slices.Clone(r.Layers)
	for i := range r.Layers {
		l := &r.Layers[i]
		named := slices.Contains(l.Target.PersonIDs, person)
		if named {
			changed = true
			l.Target.PersonIDs = slices.DeleteFunc(slices.Clone(l.Target.PersonIDs), func(p int64) bool { return p == person })
		}
		left, err := l.Target.notifies(c, person, named)
		if err != nil {
			return err
		}
		fallback := l.OnNobody != nil && l.OnNobody.PersonID == person
		switch {
		case left && !fallback:
			continue
		case readable != nil:
			return fault.New(fault.Conflict, "a step of a rule that this key may not read would be left without person %d", person)
		case fallback:
			return r.alone(i, "on_nobody", person)
		}
		return r.alone(i, "target", person)
	}
	switch {
	case !changed:
		return nil
	case readable != nil:
		return readable
	case !c.Who.May(auth.ChannelsManage):
		return fault.Denied("this key lacks the permission %s, which is required to remove a person from escalation rules", auth.ChannelsManage)
	}
	r.UpdatedAt, r.UpdatedBy = c.Unix(), c.Who.PersonID
	c.Changed(Escalates.Name, r.RuleID, r.RuleName)
	return Escalates.Put(c.Tx, c.Who.AccountID, r)
}

// alone returns the refusal to leave a part of a layer without a person.
func (r *EscalateRule) alone(layer int, part string, person int64) error {
	return fault.New(fault.Conflict, "person %d is alone in layers[%d].%s of escalation rule %s (%s): name another person there first",
		person, layer, part, r.RuleID, r.RuleName)
}

// notifies reports whether the target has a person other than the given one, or a schedule. A target that did not notify
// the person stays as it is. named reports that the target named the person itself.
func (t Target) notifies(c *api.Call, person int64, named bool) (bool, error) {
	if len(t.PersonIDs)+len(t.ScheduleToRoleIDs) > 0 {
		return true, nil
	}
	lost := named
	for _, id := range t.TeamIDs {
		members, err := team.Members(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return false, err
		}
		for _, m := range members {
			known, err := auth.KnownPerson(c.Tx, c.Who.AccountID, m)
			if err != nil || known && m != person {
				return err == nil, err
			}
			lost = lost || m == person
		}
	}
	return !lost, nil
}
