package absence

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
)

type updateRequest struct {
	AbsenceID int64 `json:"absence_id" doc:"The absence to change."`
	Body
	api.DryRun
}

func (r *Service) update(c *api.Call, in updateRequest) (reply Changed, err error) {
	old, before, err := toChange(c, in.AbsenceID)
	if err != nil {
		return reply, err
	}
	a := old
	in.applyTo(&a)
	a.stamp(c)
	if err := configstore.FirstError(a.check(""), a.checkNow(before, c.Unix())); err != nil {
		return reply, err
	}
	if err := a.update(c.Tx); err != nil {
		return reply, err
	}
	c.Touched(configstore.Absence, a.AbsenceID, a.called())
	return r.changed(c, before, in.DryRun.DryRun, &old, &a)
}

// toChange returns an absence that the caller may change, and all absences of its person before the change.
func toChange(c *api.Call, absence int64) (old Absence, before []Absence, err error) {
	if old, err = get(c.Tx, c.Who.AccountID, absence); err != nil {
		return old, nil, err
	}
	if err = permit(c, old.PersonID); err != nil {
		return old, nil, err
	}
	before, err = all(c.Tx, c.Who.AccountID, old.PersonID)
	return old, before, err
}
