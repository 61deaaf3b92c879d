package edge

import (
	"cmp"

	"tocsin/internal/api"
)

// Listed is an edge in a list.
type Listed struct {
	EdgeID      string `json:"edge_id" doc:"The edge: 16 hexadecimal digits, of its public key."`
	ClusterName string `json:"cluster_name" doc:"Its cluster."`
	Status      string `json:"status" enum:"online,offline" doc:"online: it was in touch within 15 seconds."`
	SeenAt      int64  `json:"seen_at" doc:"When it was in touch last, Unix milliseconds."`
	StartedAt   int64  `json:"started_at" doc:"When its process joined, Unix milliseconds."`
	Slots       int64  `json:"slots" doc:"How many of the 64 parts of the cluster's watches it evaluates."`
	Shown
}

// Shown is what an edge reports of itself and lists show.
type Shown struct {
	Name       string   `json:"instance" doc:"Its name."`
	Address    string   `json:"address" doc:"The network address that it calls from."`
	Version    string   `json:"version" doc:"The version of its program."`
	Types      []string `json:"types" doc:"The types of datasources that it can ask."`
	OffsetMS   int64    `json:"clock_offset_ms" doc:"How far its clock is before the server's, in milliseconds. It is corrected."`
	LateMS     int64    `json:"late_p99_ms" doc:"How late its evaluations begin, the 99th percentile in milliseconds."`
	SpoolBytes int64    `json:"spool_bytes" doc:"What waits on its disk for the server."`
	ConfigAge  int64    `json:"config_age_s" doc:"How many seconds ago it read its configuration."`
}

func (s *Service) list(c *api.Call, in ListRequest) (list api.Items[Listed], err error) {
	list.Items = []Listed{}
	members, err := Members(c.Tx, c.Who.AccountID)
	if err != nil {
		return list, err
	}
	slots := map[string]int64{}
	if s.Slots != nil {
		slots, err = s.Slots(c.Tx, c.Who.AccountID)
		if err != nil {
			return list, err
		}
	}
	for _, m := range members {
		if cmp.Or(in.ClusterName, m.Cluster) != m.Cluster {
			continue
		}
		one := Listed{
			EdgeID: m.ID, ClusterName: m.Cluster, Status: "offline", SeenAt: m.Seen.UnixMilli(), StartedAt: m.Started.UnixMilli(),
			Slots: slots[m.ID], Shown: m.Shown,
		}
		if m.Live(c.Now) {
			one.Status = "online"
		}
		list.Items = append(list.Items, one)
	}
	return list, nil
}
