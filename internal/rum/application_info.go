package rum

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// ApplicationInfoRequest names an application.
type ApplicationInfoRequest struct {
	ApplicationID string `json:"application_id" maxLength:"255" minLength:"1" doc:"The application to read."`
}

// applicationInfo answers /rum/application/info, for any valid key; a private application is for those who may read it.
func (r *Service) applicationInfo(c *api.Call, in ApplicationInfoRequest) (Application, error) {
	a, err := find(c.Tx, c.Who, in.ApplicationID)
	if err != nil {
		return Application{}, err
	}
	return a, a.openToken(r.keyring.Show(c.Report))
}

// find returns an application with its client token sealed, or a fault if it does not exist, is deleted, or the caller may
// not read it.
func find(tx *db.Tx, who auth.Principal, id string) (Application, error) {
	a, found, err := FindApplication(tx, who.AccountID, id)
	if err != nil {
		return Application{}, err
	}
	if !found {
		return Application{}, fault.Missing("application", id)
	}
	return a, permit(tx, who, id)
}
