package rum

import (
	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

type applicationInfoRequest struct {
	ApplicationID string `json:"application_id" maxLength:"255" minLength:"1" doc:"The application to read."`
}

// applicationInfo answers /rum/application/info, for any valid key as applicationInfos.
func (r *Service) applicationInfo(c *api.Call, in applicationInfoRequest) (Application, error) {
	a, err := find(c.Tx, c.Who.AccountID, in.ApplicationID)
	if err != nil {
		return Application{}, err
	}
	return a, a.openToken(r.keyring.Show(c.Report))
}

// find returns an application with its client token sealed, or a fault if it does not exist or is deleted.
func find(tx *db.Tx, account int64, id string) (Application, error) {
	a, found, err := db.One(tx, scanApplication,
		`SELECT `+applicationColumns+` FROM rum_application WHERE account_id = $1 AND application_id = $2 AND status <> 'deleted'`, account, id)
	if err == nil && !found {
		err = fault.Missing("application", id)
	}
	return a, err
}
