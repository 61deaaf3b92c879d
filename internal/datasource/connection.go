package datasource

import (
	"slices"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
	"tocsin/internal/querier"
)

// Connection is what a stored datasource is asked with.
type Connection struct {
	ID        uint64
	UpdatedAt int64  // Unix seconds
	Cluster   string // of edges that ask it; DefaultCluster: the server does
	querier.Datasource
	Failed *evaluate.Failure // why it cannot be asked at all; nil: it can
}

// Connection returns what the datasource is asked with. Its secrets must have been opened.
func (d Item) Connection() (querier.Datasource, error) {
	_, block := d.Payload.only(d.TypeIdent)
	payload, err := json.Marshal(block)
	return querier.Datasource{Type: d.TypeIdent, Name: d.Name, Address: d.Address, Payload: payload}, err
}

// connected returns what a stored datasource is asked with. One whose secrets cannot be opened has a failure, and report
// receives the error.
func connected(keyring *secret.Keyring, d Item, report func(error)) Connection {
	c := Connection{ID: d.ID, UpdatedAt: d.UpdatedAt, Cluster: d.Cluster()}
	opened, err := d.Payload.opened(keyring.Open, d.AccountID, d.ID)
	if err == nil {
		d.Payload = opened
		c.Datasource, err = d.Connection()
	}
	if err != nil {
		report(fault.Wrap(err, "open the secrets of datasource %d", d.ID))
		c.Datasource = querier.Datasource{Type: d.TypeIdent, Name: d.Name, Address: d.Address}
		c.Failed = &evaluate.Failure{
			Kind: evaluate.Denied, Phase: querier.PhaseSignIn,
			Message: "the stored credentials cannot be opened with the keys that the server has: enter them again",
		}
	}
	return c
}

// Connections returns the account's enabled datasources, by id. One whose secrets cannot be opened is there with a failure: its
// rules are unknown, not without a datasource. report receives the error.
func Connections(tx *db.Tx, keyring *secret.Keyring, account int64, report func(error)) (list []Connection, err error) {
	items, err := db.All(tx, scanItem, `SELECT `+columns+` FROM datasource WHERE account_id = $1 AND enabled`, account)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(items, byID)
	for _, d := range items {
		list = append(list, connected(keyring, d, report))
	}
	return list, nil
}
