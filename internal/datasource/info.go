package datasource

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/fault"
)

// InfoRequest names a datasource.
type InfoRequest struct {
	ID uint64 `json:"id" minimum:"1" doc:"The datasource."`
}

func (r *Service) info(c *api.Call, in InfoRequest) (Item, error) {
	d, err := get(c.Tx, c.Who.AccountID, in.ID)
	if err != nil {
		return Item{}, err
	}
	if !c.Who.May(auth.DatasourcesManage) {
		d.Payload = d.Payload.blanked()
		return d, nil
	}
	d.Payload, err = d.Payload.opened(r.Keyring.Show(c.Report), d.AccountID, d.ID)
	return d, fault.Wrap(err, "open the secrets of datasource %d", d.ID)
}
