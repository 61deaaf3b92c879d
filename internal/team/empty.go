package team

import (
	"fmt"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

// pagingEmpty returns the escalation rules that page a team in which no person is left.
func pagingEmpty(c *api.Call, team int64) ([]fault.Ref, error) {
	members, err := Members(c.Tx, c.Who.AccountID, team)
	if err != nil {
		return nil, err
	}
	for _, id := range members {
		if known, err := auth.KnownPerson(c.Tx, c.Who.AccountID, id); err != nil || known {
			return nil, err
		}
	}
	return c.Users(configstore.Team, team, configstore.Escalate)
}

// LeaveAll removes a person from all teams. It returns a warning for each team that is empty then although escalation rules
// page it.
func LeaveAll(c *api.Call, person int64) (warnings []string, err error) {
	teams, err := Of(c.Tx, c.Who.AccountID, person)
	if err != nil {
		return nil, err
	}
	if err := c.Tx.Do(`DELETE FROM team_person WHERE account_id = $1 AND person_id = $2`, c.Who.AccountID, person); err != nil {
		return nil, err
	}
	for _, id := range teams {
		rules, err := pagingEmpty(c, id)
		if err != nil {
			return nil, err
		}
		if len(rules) == 0 {
			continue
		}
		r, err := get(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, fmt.Sprintf("team %s (%d) is empty, and escalation rules page it: %s", r.TeamName, id, api.Named(rules)))
	}
	return warnings, nil
}
