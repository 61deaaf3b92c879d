package absence

import (
	"fmt"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/person"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// CreateRequest asks for a new absence, or what it would change.
type CreateRequest struct {
	PersonID int64 `json:"person_id,omitzero" minimum:"1" doc:"The person; absent: the caller."`
	Body
	api.DryRun
}

// Created is the reply of /person/absence/create.
type Created struct {
	AbsenceID int64 `json:"absence_id,omitzero" doc:"Identifier of the new absence; absent with dry_run."`
	Changed
}

// toCreate returns the change that a request asks for.
func toCreate(c *api.Call, in CreateRequest) (ch change, err error) {
	switch {
	case in.Start == nil:
		return ch, fault.Invalid("start", "is required")
	case in.End == nil:
		return ch, fault.Invalid("end", "is required")
	case in.PersonID == 0:
		in.PersonID = c.Who.PersonID
	}
	if err := permit(c, in.PersonID); err != nil {
		return ch, err
	}
	if err := person.Table.Need(c.Tx, c.Who.AccountID, "person_id", in.PersonID); err != nil {
		return ch, err
	}
	before, err := all(c.Tx, c.Who.AccountID, in.PersonID)
	if err != nil {
		return ch, err
	}
	a := Absence{AccountID: c.Who.AccountID, PersonID: in.PersonID, CreateAt: c.Unix(), CreateBy: c.Who.PersonID}
	in.applyTo(&a)
	a.stamp(c)
	ch = change{before: before, now: &a, dryRun: in.DryRun.Only}
	return ch, configstore.FirstError(a.check(""), a.checkNow(before, c.Unix()))
}

func (r *Service) create(c *api.Call, ch change) (reply Created, err error) {
	if err := configstore.FirstError(ch.check(c), forgetOldest(c.Tx, ch.before, c.Unix())); err != nil {
		return reply, err
	}
	a := ch.now
	for done := false; !done; {
		a.AbsenceID = id.Number()
		done, err = a.insert(c.Tx)
		if err != nil {
			return reply, err
		}
	}
	c.Touched(configstore.Absence, a.AbsenceID, a.called())
	if !ch.dryRun {
		reply.AbsenceID = a.AbsenceID
	}
	reply.Changed, err = r.written(c, &ch)
	return reply, err
}

// stamp records who changed an absence, and when.
func (a *Absence) stamp(c *api.Call) { a.UpdateAt, a.UpdateBy = c.Unix(), c.Who.PersonID }

// called returns what people call an absence: whose it is, and when.
func (a *Absence) called() string {
	return fmt.Sprintf("person %d from %d to %d", a.PersonID, a.Start, a.End)
}
