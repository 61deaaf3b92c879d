package datasource

import (
	"tocsin/internal/api"
	"tocsin/internal/reference"
)

type deleteRequest struct {
	ID uint64 `json:"id" minimum:"1" doc:"The datasource."`
	api.DryRun
}

// delete answers /monit/datasource/delete. Its id is never given out again.
func (r *Room) delete(c *api.Call, in deleteRequest) (api.Removal, error) {
	d, err := get(c.Tx, c.Who.AccountID, in.ID)
	if err != nil {
		return api.Removal{}, err
	}
	if err := reference.Refuse(c.Tx, c.Who.AccountID, reference.Datasource, in.ID); err != nil {
		return api.Removal{}, err
	}
	c.Removed(reference.Datasource, d.ID, d.Name)
	return api.Removal{}, Erase(c.Tx, c.Who.AccountID, in.ID)
}
