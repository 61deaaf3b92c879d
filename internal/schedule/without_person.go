package schedule

import (
	"fmt"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/lint"
)

// withoutPerson returns a warning if no person is on call in the schedule any more. The schedule is disabled, empty, or
// ends. The warning names the escalation rules that page the schedule.
func (s *stored) withoutPerson(c *api.Call) ([]string, error) {
	var why string
	if s.Status != 0 {
		why = "status: the schedule is disabled"
	} else {
		e, err := s.engine(c.Who.Zone)
		if err != nil {
			return nil, err
		}
		from, ends := lint.End(e, c.Unix())
		switch {
		case !ends:
			return nil, nil
		case from <= c.Unix():
			why = "layers: no one is on call"
		default:
			zone := e.Zone
			if zone == nil {
				zone = c.Who.Zone
			}
			why = "layers: no one is on call from " + time.Unix(from, 0).In(zone).Format("2006-01-02 15:04 MST") + " on"
		}
	}
	rules, err := c.Users(configstore.Schedule, s.ScheduleID, configstore.Escalate)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	return []string{fmt.Sprintf("%s, and escalation rules page this schedule: %s", why, api.Named(rules))}, nil
}
