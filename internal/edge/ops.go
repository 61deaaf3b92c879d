package edge

import (
	"embed"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Service holds the operations on edges and their dependencies.
type Service struct {
	// Slots counts the slots of members by their ids; nil: none is known.
	Slots func(tx *db.Tx, account int64) (map[string]int64, error)
	// Watches counts the watches of clusters; nil: none is known.
	Watches func(tx *db.Tx, account int64) (map[string]int64, error)
}

// Module returns the package's operations, gauges and sections of an account file.
func (s *Service) Module() module.Module {
	return module.Module{Name: "edge", Ops: s.Ops(), Sections: []string{Kind.Section}, Gauges: []module.Gauge{{
		Name: "tocsin_edge_members", Help: "Edges that are in touch, of all accounts.", Read: count,
	}}}
}

func count(tx *db.Tx, now time.Time) ([]module.Sample, error) {
	n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM edge WHERE seen_at > $1`, now.Add(-Lease).UnixMilli())
	return []module.Sample{{Value: float64(n)}}, err
}

// Ops returns the operations on edges.
func (s *Service) Ops() []api.Op {
	read, manage := []auth.Permission{auth.AlertingEnginesRead}, []auth.Permission{auth.AlertingEnginesManage}
	return api.WithReplies(golden, []api.Op{
		{
			Path: "/monit/edge/list", Allow: read, Effect: api.Snapshot,
			Doc:     "Lists the edges that were in touch within a day, by cluster.",
			Example: `{}`, Do: api.Do(s.list),
		},
		{
			Path: "/monit/edge/delete", Allow: manage, Effect: api.Write, Audit: "edge:write:delete", Danger: true,
			Doc:     "Deletes an edge that is not live from the list.",
			Notes:   "One that runs joins again unless its key is disabled.",
			Example: `{"edge_id": "0000000000000001", "dry_run": true}`, Do: api.Do(remove),
		},
		{
			Path: "/monit/edge/key/create", Allow: manage, Effect: api.Write, Audit: "edge_key:write:create", Danger: true,
			Doc:     "Creates a key with which the edges of a cluster sign in, and shows it once.",
			Notes:   "An account has at most 20 keys. A key is good for the calls of edges alone.",
			Example: `{"key_name": "Frankfurt", "cluster_name": "fra"}`, Do: api.Do(createKey),
		},
		{
			Path: "/monit/edge/key/update", Allow: manage, Effect: api.Write, Audit: "edge_key:write:update",
			Doc:     "Changes the members of a key that are sent.",
			Example: `{"key_id": 1, "status": "disabled"}`, Do: api.Do(updateKey),
		},
		{
			Path: "/monit/edge/key/list", Allow: read, Effect: api.Snapshot,
			Doc:     "Lists the keys of edges. The keys themselves are not stored.",
			Example: `{}`, Do: api.Do(listKeys),
		},
		{
			Path: "/monit/edge/key/delete", Allow: manage, Effect: api.Write, Audit: "edge_key:write:delete", Danger: true,
			Doc:     "Deletes a key of edges. They are refused at their next call.",
			Example: `{"key_id": 1, "dry_run": true}`, Do: api.Do(deleteKey),
		},
		{
			Path: "/monit/edge/cluster/list", Allow: read, Effect: api.Snapshot,
			Doc:     "Lists the clusters: default, and those with settings, keys, edges or datasources.",
			Example: `{}`, Do: api.Do(s.clusters),
		},
		{
			Path: "/monit/edge/cluster/update", Allow: manage, Effect: api.Write, Audit: "edge_cluster:write:update",
			Doc:     "Sets how a cluster alerts that no member of it is live.",
			Example: `{"cluster_name": "fra", "settings": {"enabled": true, "severity": "Critical", "lost_seconds": 120}}`,
			Do:      api.Do(updateCluster),
		},
	})
}
