package datasource

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// CreateRequest asks for a new datasource.
type CreateRequest struct {
	ID              uint64  `json:"id,omitzero" doc:"Must be left out or 0: the server chooses the id."`
	TypeIdent       string  `json:"type_ident" enum:"prometheus,loki,mysql,oracle,postgres,clickhouse,elasticsearch,sls,victorialogs" doc:"What kind of system it is."`
	Name            string  `json:"name" minLength:"1" maxLength:"255" doc:"Name for display; need not be unique."`
	Note            string  `json:"note,omitzero" maxLength:"4096" doc:"Description."`
	Address         string  `json:"address,omitzero" maxLength:"4096" doc:"Where the system is. prometheus, loki, victorialogs: an http or https URL; mysql, oracle, postgres, clickhouse: host:port; sls: the endpoint without a scheme; elasticsearch: comma-separated URLs or host:port, not required in the cloud. No credentials."`
	EdgeClusterName string  `json:"edge_cluster_name" minLength:"1" maxLength:"255" doc:"The edge cluster that evaluates rules against it."`
	Payload         Payload `json:"payload" doc:"Holds the block named by type_ident."`
}

// Check refuses an id, because a caller who sends one means to change a datasource, and checks the other members
// against the rules of the type.
func (in CreateRequest) Check() error {
	if in.ID != 0 {
		return fault.Invalid("id", "must be left out or 0, because this operation never changes an existing datasource; got %d", in.ID)
	}
	if err := configstore.FirstError(in.item().check(""), in.item().checkReserved("")); err != nil {
		return err
	}
	return in.Payload.complete(in.TypeIdent)
}

func (in CreateRequest) item() Item {
	block, _ := in.Payload.only(in.TypeIdent)
	return Item{
		TypeIdent:       in.TypeIdent,
		Name:            in.Name,
		Enabled:         true,
		Note:            in.Note,
		Address:         in.Address,
		EdgeClusterName: in.EdgeClusterName,
		Payload:         &block,
	}
}

func (r *Service) create(c *api.Call, in CreateRequest) (Item, error) {
	d := in.item()
	d.AccountID, d.UpdatedAt = c.Who.AccountID, c.Unix()
	for fresh := false; !fresh; { // an account file may contain ids that the counter has not reached yet
		var err error
		d.ID, err = nextID(c.Tx, c.Who.AccountID)
		if err != nil {
			return Item{}, err
		}
		fresh, err = insertItem(c.Tx, r.Keyring, d)
		if err != nil {
			return Item{}, err
		}
	}
	c.Touched(configstore.Datasource, d.ID, d.Name)
	d.Payload = nil // only info returns secrets, to callers with the permission
	return d, nil
}

// nextID returns the next number of the account's counter. IDs are small because people read and type them.
func nextID(tx *db.Tx, account int64) (uint64, error) {
	last, _, err := db.One(tx, db.Column[int64], `INSERT INTO datasource_counter (account_id, last_id) VALUES ($1, 1)
		ON CONFLICT (account_id) DO UPDATE SET last_id = datasource_counter.last_id + 1 RETURNING last_id`, account)
	return uint64(last), err
}
