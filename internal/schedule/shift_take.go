package schedule

import (
	"cmp"

	"tocsin/internal/api"
	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/fault"
)

// ShiftTakeRequest asks to put the caller on call in place of another, or what that would change.
type ShiftTakeRequest struct {
	ScheduleID int64 `json:"schedule_id" doc:"The schedule."`
	PersonID   int64 `json:"person_id,omitzero" minimum:"1" doc:"Whose shift; absent: that of everyone who holds role_id."`
	ShiftPart
	IfRevision
	api.DryRun
}

// ShiftTaken is the reply of /schedule/shift/take.
type ShiftTaken struct {
	OverrideID int64 `json:"override_id,omitzero" doc:"The override by which the caller is on call; absent with dry_run."`
	Start      int64 `json:"start" doc:"Its first second, Unix seconds: the window without its ends in which there is no shift."`
	End        int64 `json:"end" doc:"First second after it, Unix seconds."`
	OverrideReply
}

// shiftTake puts the caller on call in place of another person of the schedule, or of everyone with a role.
func (r *Service) shiftTake(c *api.Call, in ShiftTakeRequest) (reply ShiftTaken, err error) {
	w, err := in.ShiftPart.parse(c)
	if err != nil {
		return reply, err
	}
	o := Override{PersonID: in.PersonID, RoleID: in.RoleID, By: c.Who.PersonID, Reason: in.Reason}
	if o.RoleID == nil {
		role := oncall.AnyRole
		o.RoleID = &role
	}
	s, err := get(c.Tx, c.Who.AccountID, in.ScheduleID)
	if err != nil {
		return reply, err
	}
	if err := cmp.Or(in.IfRevision.check(s), s.openFor(c), s.needPart(c), s.checkOwn(c)); err != nil {
		return reply, err
	}
	part, found, err := s.served(c, w, func(role, person int64) bool {
		return person != o.By && (o.PersonID == 0 || person == o.PersonID) && (o.role() == oncall.AnyRole || role == o.role())
	})
	if err == nil && !found {
		err = fault.New(fault.Conflict, "no other person of schedule %d is on call as requested from %d to %d", s.ScheduleID, w.from, w.to)
	}
	if err != nil {
		return reply, err
	}
	o.Start, o.End = part.from, part.to
	reply.OverrideReply, err = r.add(c, s, &o, in.DryRun.Only)
	if err == nil && !in.DryRun.Only {
		reply.OverrideID = o.OverrideID
	}
	reply.Start, reply.End = part.from, part.to
	return reply, err
}
