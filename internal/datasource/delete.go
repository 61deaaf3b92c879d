package datasource

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
)

// DeleteRequest asks to delete a datasource, or what that would do.
type DeleteRequest struct {
	ID uint64 `json:"id" minimum:"1" doc:"The datasource."`
	api.DryRun
}

// delete answers /monit/datasource/delete. The id is never used again.
func (r *Service) delete(c *api.Call, in DeleteRequest) (api.Removal, error) {
	d, err := get(c.Tx, c.Who.AccountID, in.ID)
	if err != nil {
		return api.Removal{}, err
	}
	if err := configstore.RefuseReferenced(c.Tx, c.Who.AccountID, configstore.Datasource, in.ID); err != nil {
		return api.Removal{}, err
	}
	if err := r.change(c, &d, true); err != nil {
		return api.Removal{}, err
	}
	c.Removed(configstore.Datasource, d.ID, d.Name)
	return api.Removal{}, Erase(c.Tx, c.Who.AccountID, in.ID)
}
