package edge_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/edge"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

func member(name, id string) edge.Member {
	return edge.Member{
		Account: apitest.AccountA, Cluster: "fra", ID: id, Run: "1", Started: apitest.Now, Seen: apitest.Now,
		Details: edge.Details{Shown: edge.Shown{Name: name, Address: "192.0.2.7", Version: "1.4.0", Types: []string{"prometheus", "loki"}, OffsetMS: 12, ConfigAge: 30}},
	}
}

func TestEdges(t *testing.T) {
	t.Parallel()
	keyring, err := secret.Open(filepath.Join(t.TempDir(), "keys"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := apitest.Start(t, channel.Ops(keyring), (&edge.Service{
		Slots:   func(*db.Tx, int64) (map[string]int64, error) { return map[string]int64{"00000000000000a1": 64}, nil },
		Watches: func(*db.Tx, int64) (map[string]int64, error) { return map[string]int64{"default": 3, "fra": 2}, nil },
	}).Ops())
	s.Grant(auth.AlertingEnginesRead)
	s.Write(func(tx *db.Tx) error { return edge.Join(tx, member("fra-1", "00000000000000a1"), apitest.Now) })
	s.Converse(t, []apitest.Turn{
		{Path: "/monit/edge/key/create", Body: `{"key_name": "Frankfurt", "cluster_name": "fra"}`, Golden: "monit_edge_key_create", Keep: map[string]string{"id": "key_id", "key": "key"}},
		{Path: "/monit/edge/key/create", Body: `{"key_name": "x", "cluster_name": "default"}`, Code: "InvalidParameter", Says: []string{"cluster_name", "default"}},
		{Path: "/monit/edge/key/create", Body: `{"key_name": "", "cluster_name": "fra"}`, Code: "InvalidParameter", Says: []string{"key_name"}},
		{Path: "/monit/edge/key/create", Key: apitest.KeyReader, Body: `{"key_name": "x", "cluster_name": "fra"}`, Code: "AccessDenied", Says: []string{"Alerting Engines Manage (monit)"}},
		{Path: "/monit/edge/key/list", Key: apitest.KeyReader, Body: `{}`, Golden: "monit_edge_key_list"},
		{Path: "/monit/edge/key/list", Body: `{"cluster_name": "ams"}`, Data: `{"items": []}`},
		{Path: "/monit/edge/key/list", Key: apitest.KeyB, Body: `{}`, Data: `{"items": []}`},
		{Path: "/monit/edge/key/update", Body: `{"key_id": $id, "status": "disabled"}`, Golden: "monit_edge_key_update"},
		{Path: "/monit/edge/key/list", Body: `{}`, Has: `{"items": [{"key_name": "Frankfurt", "status": "disabled"}]}`},
		{Path: "/monit/edge/key/update", Key: apitest.KeyB, Body: `{"key_id": $id, "status": "enabled"}`, Code: "ResourceNotFound"},
		{Path: "/monit/edge/key/delete", Key: apitest.KeyB, Body: `{"key_id": $id}`, Code: "ResourceNotFound"},
		{Path: "/monit/edge/list", Key: apitest.KeyReader, Body: `{}`, Golden: "monit_edge_list"},
		{Path: "/monit/edge/list", Body: `{"cluster_name": "ams"}`, Data: `{"items": []}`},
		{Path: "/monit/edge/delete", Body: `{"edge_id": "00000000000000a1"}`, Code: "BadRequest", Says: []string{"fra-1", "live"}},
		{Path: "/monit/edge/cluster/update", Body: `{"cluster_name": "fra", "settings": {"enabled": true, "severity": "Warning", "lost_seconds": 60, "times": 5, "every": 120, "include": ["fra-*"], "exclude": ["fra-trial"]}}`, Golden: "monit_edge_cluster_update"},
		{Path: "/monit/edge/cluster/update", Body: `{"cluster_name": "default", "settings": {"enabled": true, "severity": "Warning", "lost_seconds": 60}}`, Code: "InvalidParameter", Says: []string{"cluster_name"}},
		{Path: "/monit/edge/cluster/update", Body: `{"cluster_name": "fra", "settings": {"enabled": true, "severity": "Warning", "lost_seconds": 5}}`, Code: "InvalidParameter", Says: []string{"lost_seconds", "30"}},
		{Path: "/monit/edge/cluster/update", Body: `{"cluster_name": "fra", "settings": {"enabled": true, "severity": "Warning", "lost_seconds": 60, "channel_id": 7}}`, Code: "InvalidParameter", Says: []string{"channel_id", "7"}},
		{Path: "/monit/edge/cluster/update", Body: `{"cluster_name": "fra", "settings": {"enabled": true, "severity": "Warning", "lost_seconds": 60, "times": 101}}`, Code: "InvalidParameter", Says: []string{"times", "100"}},
		{Path: "/monit/edge/cluster/update", Body: `{"cluster_name": "fra", "settings": {"enabled": true, "severity": "Warning", "lost_seconds": 60, "every": -1}}`, Code: "InvalidParameter", Says: []string{"every", "-1"}},
		{Path: "/monit/edge/cluster/list", Body: `{}`, Golden: "monit_edge_cluster_list"},
		{Path: "/monit/edge/key/delete", Body: `{"key_id": $id, "dry_run": true}`, Has: `{"allowed": true}`},
		{Path: "/monit/edge/key/delete", Body: `{"key_id": $id}`, Golden: "monit_edge_key_delete"},
	})
	s.Clock.Add(edge.Lease)
	s.Converse(t, []apitest.Turn{
		{Path: "/monit/edge/list", Body: `{}`, Has: `{"items": [{"status": "offline"}]}`},
		{Path: "/monit/edge/delete", Key: apitest.KeyB, Body: `{"edge_id": "00000000000000a1"}`, Code: "ResourceNotFound"},
		{Path: "/monit/edge/delete", Body: `{"edge_id": "00000000000000a1"}`, Golden: "monit_edge_delete"},
		{Path: "/monit/edge/list", Body: `{}`, Data: `{"items": []}`},
	})
}

func TestSettingsCountEdgesByName(t *testing.T) {
	t.Parallel()
	for _, each := range []struct {
		include, exclude []string
		name             string
		want             bool
	}{
		{nil, nil, "fra-1", true},
		{[]string{"fra-*"}, nil, "fra-1", true},
		{[]string{"fra-*"}, nil, "laptop", false},
		{nil, []string{"*-trial"}, "fra-trial", false},
		{[]string{"*"}, []string{"*-trial"}, "fra-1", true},
	} {
		if got := (edge.Settings{Include: each.include, Exclude: each.exclude}).Counts(each.name); got != each.want {
			t.Errorf("%+v: %v", each, got)
		}
	}
}

func TestEdgesAreBounded(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, (&edge.Service{}).Ops())
	for i := range 21 {
		r := s.Call(apitest.KeyA, "/monit/edge/key/create", `{"key_name": "k", "cluster_name": "fra"}`)
		if refused := r.Code == "BadRequest"; refused != (i == 20) {
			t.Errorf("key %d: %s", i, r.Body)
		}
		s.Write(func(tx *db.Tx) error {
			if err := edge.Join(tx, member("m", fmt.Sprintf("%016x", i)), apitest.Now); (err != nil) != (i == 20) {
				t.Errorf("member %d: %v", i, err)
			}
			return edge.Join(tx, member("m", fmt.Sprintf("%016x", 0)), apitest.Now) // starts again
		})
	}
	s.Exec(`DELETE FROM edge_key`)
	for i := range 49 {
		code := s.Call(apitest.KeyA, "/monit/edge/cluster/update",
			fmt.Sprintf(`{"cluster_name": "c%d", "settings": {"enabled": true, "severity": "Info", "lost_seconds": 60}}`, i)).Code
		if refused := code == "BadRequest"; refused != (i == 48) { // with default and fra
			t.Errorf("cluster %d: %s", i, code)
		}
	}
}
