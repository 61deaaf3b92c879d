package schedule

import (
	"cmp"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
)

// CoverAnswerRequest names a request for cover.
type CoverAnswerRequest struct {
	RequestID int64 `json:"request_id" doc:"The request for cover."`
}

// CoverTaken is the reply of /schedule/cover/accept.
type CoverTaken struct {
	OverrideID int64 `json:"override_id" doc:"The override by which the caller is on call."`
	Start      int64 `json:"start" doc:"Its first second, Unix seconds: what is left of the shift that was asked for."`
	End        int64 `json:"end" doc:"First second after it, Unix seconds."`
	OverrideReply
}

// coverAccept puts the caller on call in place of the person who asked, if no one else did first. What the person who asked
// still serves is computed again: the schedule may have changed since.
func (r *Service) coverAccept(c *api.Call, in CoverAnswerRequest) (reply CoverTaken, err error) {
	q, err := askedOf(c, in.RequestID)
	if err != nil {
		return reply, err
	}
	s, err := get(c.Tx, c.Who.AccountID, q.ScheduleID)
	if err != nil {
		return reply, err
	}
	if err := cmp.Or(s.openFor(c), s.needPart(c), s.checkOwn(c)); err != nil {
		return reply, err
	}
	part, found, err := q.left(c, s)
	if err == nil && !found {
		err = fault.New(fault.Conflict, "person %d is not on call then any more: there is nothing to cover", q.PersonID)
	}
	if err != nil {
		return reply, err
	}
	o := Override{PersonID: q.PersonID, RoleID: &q.RoleID, By: c.Who.PersonID, Start: part.from, End: part.to, Reason: q.Reason}
	reply.OverrideReply, err = r.add(c, s, &o, false)
	if err != nil {
		return reply, err
	}
	q.Status = CoverAccepted
	q.TakenBy = c.Who.PersonID
	q.OverrideID = o.OverrideID
	reply.OverrideID = o.OverrideID
	reply.Start = o.Start
	reply.End = o.End
	return reply, r.settle(c, &q, q.waiting(c.Who.PersonID)) // the person who asked is notified of the override
}

// askedOf returns an open request that the caller was asked by.
func askedOf(c *api.Call, request int64) (q CoverRequest, err error) {
	q, err = getCover(c, request)
	if err != nil {
		return q, err
	}
	if !slices.Contains(q.AskedIDs, c.Who.PersonID) {
		return q, fault.Denied("person %d was not asked by request %d for cover", c.Who.PersonID, request)
	}
	return q, q.checkOpen(c.Unix())
}
