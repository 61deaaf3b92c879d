package datasource

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

// Item is a datasource as the API shows it.
type Item struct {
	ID              uint64   `json:"id" doc:"The datasource; unique within the account."`
	AccountID       int64    `json:"account_id" doc:"The account it belongs to."`
	TypeIdent       string   `json:"type_ident" enum:"prometheus,loki,mysql,oracle,postgres,clickhouse,elasticsearch,sls,victorialogs" doc:"What kind of system it is."`
	Name            string   `json:"name" maxLength:"255" doc:"Name for display."`
	Enabled         bool     `json:"enabled" doc:"Whether rules are evaluated against it."`
	Note            string   `json:"note" maxLength:"4096" doc:"Description; may be empty."`
	Address         string   `json:"address" maxLength:"4096" doc:"Where it is; empty only for elasticsearch in the cloud."`
	Payload         *Payload `json:"payload,omitzero" doc:"The block named by type_ident, and no other."`
	EdgeClusterName string   `json:"edge_cluster_name" maxLength:"255" doc:"The edge cluster that evaluates rules against it."`
	UpdatedAt       int64    `json:"updated_at" doc:"When it was last changed, Unix seconds."`
}

// DefaultCluster is the cluster of the server's own nodes.
const DefaultCluster = "default"

// Cluster returns the name of the cluster whose members ask the datasource.
func (d *Item) Cluster() string { return cmp.Or(d.EdgeClusterName, DefaultCluster) }

// columns are the columns of a whole Item, in the order of scanItem and insertItem.
const columns = `datasource_id, account_id, type_ident, datasource_name, enabled, note, address, payload, edge_cluster_name, updated_at`

// scanItem reads a row; the payload's secrets stay sealed.
func scanItem(scan db.Scan) (d Item, err error) {
	var id int64
	var payload string
	err = scan(&id, &d.AccountID, &d.TypeIdent, &d.Name, &d.Enabled, &d.Note, &d.Address, &payload, &d.EdgeClusterName, &d.UpdatedAt)
	if err != nil {
		return d, err
	}
	d.ID, d.Payload = uint64(id), &Payload{}
	return d, json.Unmarshal([]byte(payload), d.Payload)
}

// insertItem stores a datasource with its secrets sealed; fresh is false if its id is taken.
func insertItem(tx *db.Tx, keyring *secret.Keyring, d Item) (fresh bool, err error) {
	sealed, err := d.Payload.sealed(keyring, d.AccountID, d.ID)
	if err != nil {
		return false, fault.Wrap(err, "seal the secrets of datasource %d", d.ID)
	}
	payload, err := json.Marshal(sealed)
	if err != nil {
		return false, err
	}
	n, err := tx.Exec(`INSERT INTO datasource (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
		int64(d.ID), d.AccountID, d.TypeIdent, d.Name, d.Enabled, d.Note, d.Address, string(payload), d.EdgeClusterName, d.UpdatedAt)
	if err != nil || n == 0 {
		return false, err
	}
	return true, configstore.BumpRevision(tx, d.AccountID)
}

// updateItem writes an existing datasource, whose secrets are sealed already.
func updateItem(tx *db.Tx, d Item) error {
	payload, err := json.Marshal(d.Payload)
	if err == nil {
		err = configstore.BumpRevision(tx, d.AccountID)
	}
	if err != nil {
		return err
	}
	return tx.Do(
		`UPDATE datasource SET type_ident = $1, datasource_name = $2, enabled = $3, note = $4, address = $5, payload = $6,
		edge_cluster_name = $7, updated_at = $8, can_write = ''
		WHERE account_id = $9 AND datasource_id = $10`,
		d.TypeIdent, d.Name, d.Enabled, d.Note, d.Address, string(payload), d.EdgeClusterName, d.UpdatedAt, d.AccountID, int64(d.ID))
}

// ClusterOf is a cluster of an account.
type ClusterOf struct {
	Account int64
	Name    string
}

// Clusters returns the clusters of all accounts that have an enabled datasource, but those of the server itself.
func Clusters(tx *db.Tx) ([]ClusterOf, error) {
	return db.All(tx, func(scan db.Scan) (c ClusterOf, err error) { return c, scan(&c.Account, &c.Name) },
		`SELECT DISTINCT account_id, edge_cluster_name FROM datasource
			WHERE enabled AND edge_cluster_name <> 'default' AND edge_cluster_name <> '' ORDER BY account_id, edge_cluster_name`)
}

// Wildcard reports whether a name matches a pattern in which * stands for any characters. It takes time of the product of
// their lengths at most.
func Wildcard(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	rest, found := strings.CutPrefix(name, parts[0])
	if !found {
		return false
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		_, rest, found = strings.Cut(rest, part)
		if !found {
			return false
		}
	}
	return strings.HasSuffix(rest, last)
}
