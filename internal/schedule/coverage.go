package schedule

import (
	"slices"
	"time"

	"tocsin/internal/core/lint"
	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/db"
)

// Coverage is who is on call in a schedule from a moment on, and when no person is.
type Coverage struct {
	Name     string
	Disabled bool
	Persons  []int64          // with one of the wanted roles within lint.Horizon, each once
	Gaps     []lint.Span      // when no person with one of the roles is on call within lint.ScheduleHorizon, in order
	Timeline *oncall.Schedule // must not be changed
}

// Cover returns the coverage of a schedule from a moment on (Unix seconds) for some roles; no roles: any. found is false
// when the account has no such schedule.
func Cover(tx *db.Tx, account, schedule int64, roles []int64, from int64, zone *time.Location) (c Coverage, found bool, err error) {
	s, err := find(tx, account, schedule)
	if err != nil || s == nil {
		return c, false, err
	}
	e, err := s.engine(zone)
	if err != nil {
		return c, true, err
	}
	c = Coverage{Name: s.Name, Disabled: s.Status != 0, Timeline: e, Gaps: lint.NextHoles(e, roles, from)}
	for _, piece := range e.Window(from, from+lint.Horizon).Final {
		for _, m := range piece.Group.Members {
			if len(roles) == 0 || slices.Contains(roles, m.RoleID) {
				c.Persons = append(c.Persons, m.PersonIDs...)
			}
		}
	}
	c.Persons = distinct(c.Persons)
	return c, true, nil
}
