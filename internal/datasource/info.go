package datasource

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/db"
	"tocsin/internal/fault"
)

type infoRequest struct {
	ID uint64 `json:"id" minimum:"1" doc:"The datasource."`
}

func (r *Room) info(c *api.Call, in infoRequest) (Item, error) {
	d, found, err := db.One(c.Tx, scanItem, `SELECT `+columns+` FROM datasource WHERE account_id = $1 AND datasource_id = $2`, c.Who.AccountID, int64(in.ID))
	if err != nil {
		return Item{}, err
	}
	if !found {
		return Item{}, fault.Missing("datasource", in.ID)
	}
	if !c.Who.May(auth.DatasourcesManage) {
		d.Payload = d.Payload.blanked()
		return d, nil
	}
	d.Payload, err = d.Payload.opened(r.Box, d.AccountID, d.ID)
	return d, fault.Wrap(err, "open the secrets of datasource %d", d.ID)
}
