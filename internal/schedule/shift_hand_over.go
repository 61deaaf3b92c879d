package schedule

import "tocsin/internal/api"

// ShiftHandOverRequest asks to put another person on call in place of the caller.
type ShiftHandOverRequest struct {
	ScheduleID int64 `json:"schedule_id" doc:"The schedule."`
	To         int64 `json:"to" minimum:"1" doc:"The person of the schedule who is to be on call instead."`
	ShiftPart
}

// HandedOver is the reply of /schedule/shift/hand-over: either the override or the request.
type HandedOver struct {
	OverrideID int64 `json:"override_id,omitzero" doc:"The override by which the other is on call, if the caller manages schedules."`
	RequestID  int64 `json:"request_id,omitzero" doc:"Else the request that the other accepts or declines; until then the caller stays on call."`
	Start      int64 `json:"start" doc:"First second, Unix seconds: the window without its ends in which the caller is not on call."`
	End        int64 `json:"end" doc:"First second after it, Unix seconds."`
}

// shiftHandOver hands the caller's own shift to another person. No one is put on call by it without their consent, unless
// the caller could do so by an override.
func (r *Service) shiftHandOver(c *api.Call, in ShiftHandOverRequest) (reply HandedOver, err error) {
	w, err := in.ShiftPart.parse(c)
	if err != nil {
		return reply, err
	}
	s, err := get(c.Tx, c.Who.AccountID, in.ScheduleID)
	if err != nil {
		return reply, err
	}
	if err := s.checkAsked(c, "to", in.To); err != nil {
		return reply, err
	}
	if !manages(c) {
		q, err := r.ask(c, s, []int64{in.To}, w, in.ShiftPart)
		return HandedOver{RequestID: q.RequestID, Start: q.Start, End: q.End}, err
	}
	if err := s.openFor(c); err != nil {
		return reply, err
	}
	role := roleOrAny(in.RoleID)
	part, err := s.own(c, w, role)
	if err != nil {
		return reply, err
	}
	o := Override{PersonID: c.Who.PersonID, RoleID: &role, By: in.To, Start: part.from, End: part.to, Reason: in.Reason}
	_, err = r.add(c, s, &o, false)
	return HandedOver{OverrideID: o.OverrideID, Start: o.Start, End: o.End}, err
}
