package schedule

import (
	"slices"
	"time"

	"tocsin/internal/core/lint"
	"tocsin/internal/platform/db"
)

// Coverage is who is on call in a schedule in a window, and when no person is.
type Coverage struct {
	Name     string
	Disabled bool
	Persons  []int64     // with one of the wanted roles, each once
	Gaps     []lint.Span // when no person with one of the roles is on call, in order
}

// Cover returns the coverage of a schedule between two moments (Unix seconds) for some roles; no roles: any. found is
// false when the account has no such schedule.
func Cover(tx *db.Tx, account, schedule int64, roles []int64, from, until int64, zone *time.Location) (c Coverage, found bool, err error) {
	s, err := find(tx, account, schedule)
	if err != nil || s == nil {
		return c, false, err
	}
	e, err := s.engine(zone)
	if err != nil {
		return c, true, err
	}
	c = Coverage{Name: s.Name, Disabled: s.Status != 0}
	covered := from
	for _, piece := range e.Window(from, until).Final {
		var persons []int64
		for _, m := range piece.Group.Members {
			if len(roles) == 0 || slices.Contains(roles, m.RoleID) {
				persons = append(persons, m.PersonIDs...)
			}
		}
		if len(persons) == 0 {
			continue
		}
		c.Persons = append(c.Persons, persons...)
		if piece.Start > covered {
			c.Gaps = append(c.Gaps, lint.Span{From: covered, Until: piece.Start})
		}
		covered = piece.End
	}
	if covered < until {
		c.Gaps = append(c.Gaps, lint.Span{From: covered, Until: until})
	}
	c.Persons = distinct(c.Persons)
	return c, true, nil
}
