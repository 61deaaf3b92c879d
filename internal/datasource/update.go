package datasource

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// UpdateRequest asks for a change of a datasource.
type UpdateRequest struct {
	ID              uint64   `json:"id" minimum:"1" doc:"The datasource."`
	TypeIdent       string   `json:"type_ident,omitzero" enum:"prometheus,loki,mysql,oracle,postgres,clickhouse,elasticsearch,sls,victorialogs" doc:"What kind of system it is. With another one a payload is required."`
	Name            *string  `json:"name,omitzero" minLength:"1" maxLength:"255" doc:"Name for display; need not be unique."`
	Enabled         *bool    `json:"enabled,omitzero" doc:"Whether rules are evaluated against it."`
	Note            *string  `json:"note,omitzero" maxLength:"4096" doc:"Description; empty: none."`
	Address         *string  `json:"address,omitzero" maxLength:"4096" doc:"Where the system is, as for create."`
	EdgeClusterName *string  `json:"edge_cluster_name,omitzero" minLength:"1" maxLength:"255" doc:"The edge cluster that evaluates rules against it."`
	Payload         *Payload `json:"payload,omitzero" doc:"Holds the block named by type_ident, which replaces the stored one except for absent secrets."`
}

// update answers /monit/datasource/update. Absent members keep their values.
func (r *Service) update(c *api.Call, in UpdateRequest) (Item, error) {
	d, err := get(c.Tx, c.Who.AccountID, in.ID)
	if err != nil {
		return Item{}, err
	}
	before := d.TypeIdent
	if in.TypeIdent != "" {
		d.TypeIdent = in.TypeIdent
	}
	configstore.SetIfSent(&d.Name, in.Name)
	configstore.SetIfSent(&d.Enabled, in.Enabled)
	configstore.SetIfSent(&d.Note, in.Note)
	configstore.SetIfSent(&d.Address, in.Address)
	configstore.SetIfSent(&d.EdgeClusterName, in.EdgeClusterName)
	stored := d.Payload
	if in.Payload != nil {
		stored, err = stored.opened(r.Keyring.Show(c.Report), d.AccountID, d.ID)
		if err != nil {
			return Item{}, fault.Wrap(err, "open the secrets of datasource %d", d.ID)
		}
		block, _ := in.Payload.only(d.TypeIdent)
		if err := (Item{Payload: &block}).checkReserved(""); err != nil {
			return Item{}, err
		}
		d.Payload = &block
		if d.TypeIdent == before {
			d.Payload = block.keeping(stored, unset)
		}
		if err := d.Payload.complete(d.TypeIdent); err != nil {
			return Item{}, err
		}
	}
	if err := configstore.FirstError(d.check(""), Item{Address: d.Address, Payload: &Payload{}}.checkReserved("")); err != nil {
		return Item{}, err
	}
	if in.Payload != nil {
		d.Payload, err = d.Payload.sealed(r.Keyring, d.AccountID, d.ID)
		if err != nil {
			return Item{}, fault.Wrap(err, "seal the secrets of datasource %d", d.ID)
		}
	}
	d.UpdatedAt = c.Unix()
	if err := updateItem(c.Tx, d); err != nil {
		return Item{}, err
	}
	if err := r.change(c, &d, false); err != nil {
		return Item{}, err
	}
	c.Touched(configstore.Datasource, d.ID, d.Name)
	d.Payload = nil // as in the reply of create
	return d, nil
}

// get returns a datasource with its secrets sealed, or a fault if it does not exist.
func get(tx *db.Tx, account int64, id uint64) (Item, error) {
	d, found, err := Find(tx, account, id)
	if err == nil && !found {
		err = fault.Missing("datasource", id)
	}
	return d, err
}
