// Package edge stores what is known of edges: the keys with which they sign in, the members of clusters, and the settings of
// clusters. A cluster is all edges of one name in an account; the cluster default is the server itself.
//
// It must never store a key, nor decide which member evaluates what.
package edge

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/querier"
)

// Lease is how long after its last sync a member is live.
const Lease = 15 * time.Second

// Bounds of an account.
const (
	maxKeys     = 20
	maxMembers  = 20 // of a cluster
	maxClusters = 50
)

// kept is how long a member is listed after its last sync.
const kept = 24 * time.Hour

// Member is an edge of a cluster.
type Member struct {
	Account       int64
	Cluster, ID   string
	Run           string // of its process
	Started, Seen time.Time
	Details
}

// Details are what a member reports of itself.
type Details struct {
	Shown
	PublicKey []byte `json:"public_key"` // what only it may read is sealed to it
	Revision  int64  `json:"revision"`   // of the configuration that it evaluates
	// SecretEnv lists the variables of its environment that it resolves; nil: it is of a version that does not report them.
	SecretEnv querier.SecretEnv `json:"secret_env,omitzero"`
}

// Live reports whether the member is in touch.
func (m *Member) Live(now time.Time) bool { return now.Sub(m.Seen) < Lease }

const columns = `account_id, cluster_name, edge_id, run, started_at, seen_at, body`

func scan(row db.Scan) (m Member, err error) {
	var started, seen int64
	var body string
	if err := row(&m.Account, &m.Cluster, &m.ID, &m.Run, &started, &seen, &body); err != nil {
		return m, err
	}
	_ = json.Unmarshal([]byte(body), &m.Details) // a corrupt row is whole again after the next join
	m.Started, m.Seen = time.UnixMilli(started), time.UnixMilli(seen)
	return m, nil
}

// Members returns the members of an account, by cluster.
func Members(tx *db.Tx, account int64) ([]Member, error) {
	return db.All(tx, scan, `SELECT `+columns+` FROM edge WHERE account_id = $1 ORDER BY cluster_name, edge_id`, account)
}

// Find returns a member of a cluster.
func Find(tx *db.Tx, account int64, cluster, id string) (Member, bool, error) {
	return db.One(tx, scan, `SELECT `+columns+` FROM edge WHERE account_id = $1 AND cluster_name = $2 AND edge_id = $3`, account, cluster, id)
}

// Join stores a member whose process starts. One that was there is replaced, and keeps its slots. Members that were not seen for
// a day are deleted.
func Join(tx *db.Tx, m Member, now time.Time) error {
	if err := tx.Do(`DELETE FROM edge WHERE account_id = $1 AND seen_at < $2`, m.Account, now.Add(-kept).UnixMilli()); err != nil {
		return err
	}
	all, err := Members(tx, m.Account)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(other Member) bool { return other.Cluster != m.Cluster || other.ID == m.ID })
	if len(all) >= maxMembers {
		return fault.New(fault.Conflict, "a cluster has at most %d edges, %s has %d: delete one that is not live",
			maxMembers, m.Cluster, len(all))
	}
	return m.save(tx)
}

func (m *Member) save(tx *db.Tx) error {
	body, err := json.Marshal(m.Details, json.Deterministic(true))
	if err != nil {
		return err
	}
	return tx.Do(`INSERT INTO edge (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (account_id, cluster_name, edge_id) DO UPDATE SET run = excluded.run, started_at = excluded.started_at,
			seen_at = excluded.seen_at, body = excluded.body`,
		m.Account, m.Cluster, m.ID, m.Run, m.Started.UnixMilli(), m.Seen.UnixMilli(), string(body))
}

// Beat stores what a member reports. It does nothing if another process has joined as this member meanwhile.
func (m *Member) Beat(tx *db.Tx) error {
	body, err := json.Marshal(m.Details, json.Deterministic(true))
	if err != nil {
		return err
	}
	return tx.Do(`UPDATE edge SET seen_at = $5, body = $6 WHERE account_id = $1 AND cluster_name = $2 AND edge_id = $3 AND run = $4`,
		m.Account, m.Cluster, m.ID, m.Run, m.Seen.UnixMilli(), string(body))
}
