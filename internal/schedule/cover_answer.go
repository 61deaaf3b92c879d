package schedule

import (
	"cmp"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
)

type coverAnswerRequest struct {
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
func (r *Service) coverAccept(c *api.Call, in coverAnswerRequest) (reply CoverTaken, err error) {
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
	if reply.OverrideReply, err = r.add(c, s, &o, false); err != nil {
		return reply, err
	}
	q.Status, q.TakenBy, q.OverrideID = CoverAccepted, c.Who.PersonID, o.OverrideID
	reply.OverrideID, reply.Start, reply.End = o.OverrideID, o.Start, o.End
	return reply, r.settle(c, &q, q.waiting(c.Who.PersonID)) // the person who asked is notified of the override
}

// coverDecline records that the caller does not accept. When all have declined, the person who asked is notified.
func (r *Service) coverDecline(c *api.Call, in coverAnswerRequest) (reply api.Empty, err error) {
	q, err := askedOf(c, in.RequestID)
	if err != nil {
		return reply, err
	}
	if !slices.Contains(q.Declined, c.Who.PersonID) {
		q.Declined = append(q.Declined, c.Who.PersonID)
	}
	var to []int64
	if len(q.waiting(0)) == 0 {
		q.Status, to = CoverDeclined, []int64{q.PersonID}
	}
	return reply, r.settle(c, &q, to)
}

// askedOf returns an open request that the caller was asked by.
func askedOf(c *api.Call, request int64) (q CoverRequest, err error) {
	if q, err = getCover(c, request); err != nil {
		return q, err
	}
	if !slices.Contains(q.AskedIDs, c.Who.PersonID) {
		return q, fault.Denied("person %d was not asked by request %d for cover", c.Who.PersonID, request)
	}
	return q, q.checkOpen(c.Unix())
}

// coverCancel closes an open request of the caller. Who manages schedules may cancel those of others.
func (r *Service) coverCancel(c *api.Call, in coverAnswerRequest) (reply api.Empty, err error) {
	q, err := getCover(c, in.RequestID)
	if err != nil {
		return reply, err
	}
	to := q.waiting(c.Who.PersonID)
	if q.PersonID != c.Who.PersonID {
		if !manages(c) {
			return reply, fault.Denied("request %d for cover is another person's", in.RequestID)
		}
		to = append(to, q.PersonID)
	}
	if err := q.checkOpen(c.Unix()); err != nil {
		return reply, err
	}
	q.Status = CoverCancelled
	return reply, r.settle(c, &q, to)
}
