package datasource

import (
	"context"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/querier"
)

// testTime bounds a test.
const testTime = 30 * time.Second

// TestRequest asks to call a datasource.
type TestRequest struct {
	ID              uint64   `json:"id,omitzero" doc:"A stored datasource, and nothing else; left out: the other members are tested."`
	TypeIdent       string   `json:"type_ident,omitzero" enum:"prometheus,loki,mysql,oracle,postgres,clickhouse,elasticsearch,sls,victorialogs" doc:"What kind of system it is."`
	Name            string   `json:"name,omitzero" maxLength:"255" doc:"Name for display."`
	Note            string   `json:"note,omitzero" maxLength:"4096" doc:"Description."`
	Address         string   `json:"address,omitzero" maxLength:"4096" doc:"Where the system is, as for create."`
	EdgeClusterName string   `json:"edge_cluster_name,omitzero" maxLength:"255" doc:"The edge cluster that evaluates rules against it."`
	Payload         *Payload `json:"payload,omitzero" doc:"Holds the block named by type_ident."`
}

// Check refuses a stored datasource with other members. With a new address its credentials would be sent there.
func (in TestRequest) Check() error {
	given := in
	given.ID = 0
	if in.ID != 0 {
		if given != (TestRequest{}) {
			return fault.Invalid("id", "must be sent alone, or left out with the other members of a datasource")
		}
		return nil
	}
	if in.Payload == nil {
		return fault.Invalid("payload", "is required without id")
	}
	return in.created().Check()
}

func (in TestRequest) created() CreateRequest {
	return CreateRequest{
		TypeIdent: in.TypeIdent, Name: in.Name, Note: in.Note, Address: in.Address, EdgeClusterName: in.EdgeClusterName, Payload: *in.Payload,
	}
}

// TestReply is how far a call of a datasource came.
type TestReply struct {
	Phases []querier.Phase `json:"phases" doc:"In their order, up to the first that failed."`

	tested Connection
}

// test is the first part of /monit/datasource/test: it calls the datasource, without a transaction.
func (r *Service) test(c *api.Call, in TestRequest) (TestReply, error) {
	to, err := r.tests(c, in)
	reply := TestReply{tested: to}
	if err != nil {
		return reply, err
	}
	open, failed := r.Open(c.Ctx, c.Who.AccountID, to)
	if failed != nil {
		reply.Phases = []querier.Phase{querier.Failed(failed, 0)}
		return reply, nil
	}
	defer open.Close()
	ctx, cancel := context.WithTimeout(c.Ctx, testTime)
	defer cancel()
	reply.Phases = open.Test(ctx)
	return reply, nil
}

// tests returns what is tested: the stored datasource, or that of the request.
func (r *Service) tests(c *api.Call, in TestRequest) (to Connection, err error) {
	if in.ID == 0 {
		d := in.created().item()
		to.Cluster = d.Cluster()
		to.Datasource, err = d.Connection()
		return to, err
	}
	err = c.Read(func() error {
		d, err := get(c.Tx, c.Who.AccountID, in.ID)
		if err == nil {
			to = connected(r.Keyring, d, c.Report)
		}
		return err
	})
	return to, err
}

// tested is the second part: the audit log records the test, and a stored datasource what its role may do, for lint.
func (r *Service) tested(c *api.Call, reply TestReply) (TestReply, error) {
	d := reply.tested
	c.Touched(configstore.Datasource, d.ID, d.Name)
	last := reply.Phases[len(reply.Phases)-1]
	if d.ID == 0 || last.Name != querier.PhaseRights {
		return reply, nil
	}
	if last.OK {
		last.Message = ""
	}
	return reply, c.Tx.Do(`UPDATE datasource SET can_write = $4 WHERE account_id = $1 AND datasource_id = $2 AND updated_at = $3`,
		c.Who.AccountID, int64(d.ID), d.UpdatedAt, last.Message)
}

// CanWrite returns what the roles of the account's enabled datasources may do besides reading, as their last tests found it.
func CanWrite(tx *db.Tx, account int64) (map[uint64]string, error) {
	found := map[uint64]string{}
	_, err := db.All(tx, func(scan db.Scan) (struct{}, error) {
		id, message := int64(0), ""
		err := scan(&id, &message)
		found[uint64(id)] = message
		return struct{}{}, err
	}, `SELECT datasource_id, can_write FROM datasource WHERE account_id = $1 AND enabled AND can_write <> ''`, account)
	return found, err
}
