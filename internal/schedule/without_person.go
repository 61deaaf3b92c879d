package schedule

import (
	"fmt"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/lint"
)

// withoutPerson returns why no person is on call in the schedule any more: it is disabled, empty, or ends. Empty: persons are.
func (s *stored) withoutPerson(account *time.Location, now int64) (string, error) {
	if s.Status != 0 {
		return "status: the schedule is disabled", nil
	}
	e, err := s.engine(account)
	if err != nil {
		return "", err
	}
	from, ends := lint.End(e, now)
	switch {
	case !ends:
		return "", nil
	case from <= now:
		return "layers: no one is on call", nil
	}
	zone := e.Zone
	if zone == nil {
		zone = account
	}
	return "layers: no one is on call from " + time.Unix(from, 0).In(zone).Format("2006-01-02 15:04 MST") + " on", nil
}

// paged returns a warning that names the escalation rules that page the schedule although no person is on call in it.
func (s *stored) paged(c *api.Call, why string) ([]string, error) {
	if why == "" {
		return nil, nil
	}
	rules, err := c.Users(configstore.Schedule, s.ScheduleID, configstore.Escalate)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	return []string{fmt.Sprintf("%s, and escalation rules page this schedule: %s", why, api.Named(rules))}, nil
}
