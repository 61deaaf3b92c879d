package absence

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
)

type deleteRequest struct {
	AbsenceID int64 `json:"absence_id" doc:"The absence to delete."`
	api.DryRun
}

func (r *Service) delete(c *api.Call, in deleteRequest) (reply Changed, err error) {
	old, before, err := toChange(c, in.AbsenceID)
	if err != nil {
		return reply, err
	}
	if err := remove(c.Tx, c.Who.AccountID, old.AbsenceID); err != nil {
		return reply, err
	}
	c.Removed(configstore.Absence, old.AbsenceID, old.called())
	return r.changed(c, before, in.DryRun.DryRun, &old, nil)
}
