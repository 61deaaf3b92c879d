package schedule

import (
	"fmt"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/oncall"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// CoverRequestRequest asks persons of a schedule to be on call in place of the caller.
type CoverRequestRequest struct {
	ScheduleID int64   `json:"schedule_id" doc:"The schedule."`
	PersonIDs  []int64 `json:"person_ids,omitzero" maxItems:"100" doc:"The persons of the schedule who are asked; absent or empty: all others."`
	ShiftPart
}

// CoverRequested is the reply of a request for cover.
type CoverRequested struct {
	RequestID int64   `json:"request_id" doc:"Identifier of the request."`
	Start     int64   `json:"start" doc:"First second, Unix seconds: the window without its ends in which the caller is not on call."`
	End       int64   `json:"end" doc:"First second after it, Unix seconds."`
	AskedIDs  []int64 `json:"asked_ids" doc:"The persons who are asked."`
	ExpireAt  int64   `json:"expire_at" doc:"Until when it can be accepted, Unix seconds."`
}

// coverRequest asks persons of a schedule to be on call in place of the caller.
func (r *Service) coverRequest(c *api.Call, in CoverRequestRequest) (reply CoverRequested, err error) {
	w, err := in.ShiftPart.parse(c)
	if err != nil {
		return reply, err
	}
	s, err := get(c.Tx, c.Who.AccountID, in.ScheduleID)
	if err != nil {
		return reply, err
	}
	ids := distinct(in.PersonIDs)
	for i, id := range ids {
		if err := s.checkAsked(c, fmt.Sprintf("person_ids[%d]", i), id); err != nil {
			return reply, err
		}
	}
	if len(ids) == 0 {
		ids, err = s.others(c)
		if err != nil {
			return reply, err
		}
	}
	q, err := r.ask(c, s, ids, w, in.ShiftPart)
	if err != nil {
		return reply, err
	}
	return CoverRequested{q.RequestID, q.Start, q.End, q.AskedIDs, q.ExpireAt}, nil
}

// others returns the persons in the layers but for the caller and those who have left.
func (s *stored) others(c *api.Call) (ids []int64, err error) {
	for _, id := range s.persons() {
		known, err := person.Table.Known(c.Tx, s.AccountID, id)
		if err != nil {
			return nil, err
		}
		if known && id != c.Who.PersonID {
			ids = append(ids, id)
		}
	}
	switch n := len(ids); {
	case n == 0:
		return nil, fault.New(fault.Conflict, "there is no other person in schedule %d", s.ScheduleID)
	case n > maxAskedPersons:
		return nil, fault.Invalid("person_ids", "is required: schedule %d has %d other persons, and at most %d can be asked", s.ScheduleID, n,
			maxAskedPersons)
	}
	return ids, nil
}

// checkAsked returns fault.Invalid for a person who cannot be asked.
func (s *stored) checkAsked(c *api.Call, field string, id int64) error {
	if id == c.Who.PersonID {
		return fault.Invalid(field, "must be another person than the caller, got %d", id)
	}
	if err := person.Table.Need(c.Tx, s.AccountID, field, id); err != nil {
		return err
	}
	in, err := s.includes(c, id)
	if err == nil && !in {
		err = fault.Invalid(field, "person %d is not in schedule %d", id, s.ScheduleID)
	}
	return err
}

// ownShift returns a function that reports whether a person on call is the given one, in a role; oncall.AnyRole: in any.
func ownShift(person, role int64) func(role, person int64) bool {
	return func(r, p int64) bool { return p == person && (role == oncall.AnyRole || r == role) }
}

// own returns the part of a window in which the caller is on call, or an error if there is none.
func (s *stored) own(c *api.Call, w window, role int64) (window, error) {
	part, found, err := s.served(c, w, ownShift(c.Who.PersonID, role))
	if err == nil && !found {
		err = fault.New(fault.Conflict, "person %d is not on call in schedule %d as requested from %d to %d", c.Who.PersonID, s.ScheduleID,
			w.from, w.to)
	}
	return part, err
}

// roleOrAny returns the role of a request; oncall.AnyRole when it is absent.
func roleOrAny(role *int64) int64 {
	if role == nil {
		return oncall.AnyRole
	}
	return *role
}

// ask stores a request for cover of the caller's own shift, and notifies the persons who are asked.
func (r *Service) ask(c *api.Call, s *stored, ids []int64, w window, in ShiftPart) (q CoverRequest, err error) {
	if err := s.openFor(c); err != nil {
		return q, err
	}
	role := roleOrAny(in.RoleID)
	part, err := s.own(c, w, role)
	if err != nil {
		return q, err
	}
	if err := s.checkAsks(c, part); err != nil {
		return q, err
	}
	q = CoverRequest{
		ScheduleID: s.ScheduleID, PersonID: c.Who.PersonID, RoleID: role, Start: part.from, End: part.to, Reason: in.Reason,
		AskedIDs: ids, Declined: []int64{}, Status: CoverOpen, ExpireAt: part.from, CreateAt: c.Unix(), UpdateAt: c.Unix(), account: s.AccountID,
	}
	if part.from <= c.Unix() {
		q.ExpireAt = part.to
	}
	for done := false; !done; {
		q.RequestID = id.Number()
		done, err = q.insert(c.Tx)
		if err != nil {
			return q, err
		}
	}
	c.Touched(configstore.Cover, q.RequestID, q.called())
	return q, r.publish(c, &q, slices.Clone(ids))
}

// checkAsks returns fault.Conflict for a caller who asks for the same time twice, or too often.
func (s *stored) checkAsks(c *api.Call, w window) error {
	list, err := db.All(c.Tx, scanCover, `SELECT `+coverColumns+` FROM cover_request WHERE account_id = $1 AND person_id = $2
		AND (create_at > $3 OR due_at > $4)`, s.AccountID, c.Who.PersonID, c.Unix()-86400, c.Unix())
	if err != nil {
		return err
	}
	recent := 0
	for i := range list {
		q := &list[i]
		if q.ScheduleID == s.ScheduleID && q.checkOpen(c.Unix()) == nil && q.Start < w.to && q.End > w.from {
			return fault.New(fault.Conflict, "request %d for cover from %d to %d is open: cancel it first", q.RequestID, q.Start, q.End)
		}
		if q.CreateAt > c.Unix()-86400 {
			recent++
		}
	}
	if recent >= maxAskedADay {
		return fault.New(fault.Conflict, "person %d has asked for cover %d times within a day, and at most %d are allowed", c.Who.PersonID,
			recent, maxAskedADay)
	}
	return nil
}
