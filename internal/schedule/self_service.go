package schedule

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/fault"
)

// Bounds of what persons do without the permission to manage schedules. They keep one person from using up the overrides
// of a schedule, and from sending the others endless notifications.
const (
	maxOwnOverrides = 50 // of one schedule that one person made, and that are not past or were made within 24 hours
	maxAskedADay    = 20 // requests for cover of one person in 24 hours
	maxAskedPersons = 100
)

// narrowedSelf is what a narrowed key needs for the operations of this file's kind: others call them as themselves.
var narrowedSelf = []auth.Permission{auth.SchedulesManage}

// manages reports whether the caller may change schedules.
func manages(c *api.Call) bool { return c.Who.May(auth.SchedulesManage) }

// openFor returns an error unless the caller, who does not manage schedules, may change shifts of the schedule.
func (s *stored) openFor(c *api.Call) error {
	if s.Status != 0 {
		return fault.New(fault.Conflict, "schedule %d is disabled", s.ScheduleID)
	}
	if s.ManagedOnly && !manages(c) {
		return fault.Denied("the persons of schedule %d do not change its shifts themselves: ask a person who manages schedules", s.ScheduleID)
	}
	return nil
}

// includes reports whether a person is in a layer of the schedule, or covers others now or later.
func (s *stored) includes(c *api.Call, person int64) (bool, error) {
	e, err := s.engine(c.Who.Zone)
	if err != nil {
		return false, err
	}
	return isMember(e, person, c.Unix()), nil
}

// needPart returns fault.Denied for a caller who is not in the schedule.
func (s *stored) needPart(c *api.Call) error {
	in, err := s.includes(c, c.Who.PersonID)
	if err == nil && !in {
		err = fault.Denied("person %d is not in schedule %d", c.Who.PersonID, s.ScheduleID)
	}
	return err
}

// checkOwn returns fault.Conflict for a caller who has made as many overrides of the schedule as one person may. Overrides of
// the last day count even if they have ended. Otherwise a person could create unlimited short ones, each with a notification.
func (s *stored) checkOwn(c *api.Call) error {
	n := 0
	for i := range s.overrides {
		if o := &s.overrides[i]; o.CreateBy == c.Who.PersonID && (live(o, c.Unix()) || o.CreateAt > c.Unix()-86400) {
			n++
		}
	}
	if n >= maxOwnOverrides && !manages(c) {
		return fault.New(fault.Conflict,
			"person %d has made %d overrides of schedule %d that are not past or of today, and at most %d are allowed",
			c.Who.PersonID, n, s.ScheduleID, maxOwnOverrides)
	}
	return nil
}

// served returns the part of a window, not before now, from the first second to the last in which a person that matches is
// on call. found is false when there is none.
func (s *stored) served(c *api.Call, w window, matches func(role, person int64) bool) (part window, found bool, err error) {
	e, err := s.engine(c.Who.Zone)
	if err != nil {
		return part, false, err
	}
	for _, p := range e.Window(max(w.from, c.Unix()), w.to).Final {
		for _, m := range p.Group.Members {
			if !slices.ContainsFunc(m.PersonIDs, func(id int64) bool { return matches(m.RoleID, id) }) {
				continue
			}
			if !found {
				part.from = p.Start
			}
			part.to, found = p.End, true
		}
	}
	return part, found, nil
}

// ShiftPart is embedded in requests about a shift or a part of it.
type ShiftPart struct {
	Start  int64  `json:"start" minimum:"1000000000" maximum:"9999999999" doc:"First second, Unix seconds in ten digits; a time that is past counts as the present moment."`
	End    int64  `json:"end" minimum:"1000000000" maximum:"9999999999" doc:"First second after it: in the future, after start, and at most 45 days after it."`
	RoleID *int64 `json:"role_id,omitzero" minimum:"-1" doc:"Only in this on-call role: 0 primary, 1 backup, or one of the account's own; -1 or absent: each role that the person holds."`
	Reason string `json:"reason,omitzero" maxLength:"499" doc:"Why; at most 499 characters. The persons who are notified read it."`
}

// parse returns the window, which ends in the future.
func (p ShiftPart) parse(c *api.Call) (w window, err error) {
	asked, err := Window{&p.Start, &p.End}.parse(maxWindow)
	switch {
	case err != nil:
		return w, err
	case p.End <= c.Unix():
		return w, fault.Invalid("end", "must be after the present moment %d, got %d", c.Unix(), p.End)
	}
	return *asked, text("reason", p.Reason, maxReason)
}
