package absence

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
)

// UpdateRequest is what changes of an absence, or what that would change.
type UpdateRequest struct {
	AbsenceID int64 `json:"absence_id" doc:"The absence to change."`
	Body
	api.DryRun
}

// toUpdate returns the change that a request asks for.
func toUpdate(c *api.Call, in UpdateRequest) (change, error) {
	old, before, err := toChange(c, in.AbsenceID)
	if err != nil {
		return change{}, err
	}
	a := old
	in.applyTo(&a)
	a.stamp(c)
	return change{before: before, old: &old, now: &a, dryRun: in.DryRun.Only},
		configstore.FirstError(a.check(""), a.checkNow(before, c.Unix()))
}

func (r *Service) update(c *api.Call, ch change) (Changed, error) {
	if err := ch.check(c); err != nil {
		return Changed{}, err
	}
	if err := ch.now.update(c.Tx); err != nil {
		return Changed{}, err
	}
	c.Touched(configstore.Absence, ch.now.AbsenceID, ch.now.called())
	return r.written(c, &ch)
}

// toChange returns an absence that the caller may change, and all absences of its person before the change.
func toChange(c *api.Call, absence int64) (old Absence, before []Absence, err error) {
	old, err = get(c.Tx, c.Who.AccountID, absence)
	if err != nil {
		return old, nil, err
	}
	err = permit(c, old.PersonID)
	if err != nil {
		return old, nil, err
	}
	before, err = all(c.Tx, c.Who.AccountID, old.PersonID)
	return old, before, err
}
