package absence

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
)

// DeleteRequest asks to delete an absence, or what that would change.
type DeleteRequest struct {
	AbsenceID int64 `json:"absence_id" doc:"The absence to delete."`
	api.DryRun
}

// toDelete returns the change that a request asks for.
func toDelete(c *api.Call, in DeleteRequest) (change, error) {
	old, before, err := toChange(c, in.AbsenceID)
	return change{before: before, old: &old, dryRun: in.DryRun.Only}, err
}

func (r *Service) delete(c *api.Call, ch change) (Changed, error) {
	if err := ch.check(c); err != nil {
		return Changed{}, err
	}
	if err := remove(c.Tx, c.Who.AccountID, ch.old.AbsenceID); err != nil {
		return Changed{}, err
	}
	c.Removed(configstore.Absence, ch.old.AbsenceID, ch.old.called())
	return r.written(c, &ch)
}
