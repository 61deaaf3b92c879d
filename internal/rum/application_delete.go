package rum

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
)

// ApplicationDeleteRequest names an application to delete.
type ApplicationDeleteRequest struct {
	ApplicationID string `json:"application_id" maxLength:"255" minLength:"1" doc:"The application."`
	api.DryRun
}

// applicationDelete answers /rum/application/delete. The row stays, because issues name it, but no operation
// returns it; its client token is void from then on.
func (r *Service) applicationDelete(c *api.Call, in ApplicationDeleteRequest) (api.Removal, error) {
	a, err := find(c.Tx, c.Who, in.ApplicationID)
	if err != nil {
		return api.Removal{}, err
	}
	if err := configstore.RefuseReferenced(c.Tx, c.Who.AccountID, configstore.Application, a.ApplicationID); err != nil {
		return api.Removal{}, err
	}
	a.Status = "deleted"
	a.UpdatedAt = c.Now.UnixMilli()
	a.UpdatedBy = c.Who.PersonID
	if err := a.update(c.Tx); err != nil {
		return api.Removal{}, err
	}
	c.Removed(configstore.Application, a.ApplicationID, a.ApplicationName)
	return api.Removal{}, a.refer(c.Tx)
}
