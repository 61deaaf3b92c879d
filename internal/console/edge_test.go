package console_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"tocsin/internal/edge"
	"tocsin/internal/platform/db"
)

// TestEdges makes a key, shows the command with it once, and sets how a cluster alerts.
func TestEdges(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.get("/edges").shows("default", "This server", "!name=\"lost_seconds\"", "!ek_")
	owner.post("/edges/keys", "cluster", "default", "name", "Frankfurt 1").showsWith(http.StatusBadRequest, "cluster_name", `value="Frankfurt 1"`)
	owner.post("/edges/keys", "cluster", "fra", "name", strings.Repeat("n", 256)).showsWith(http.StatusBadRequest, "key_name", "255", strings.Repeat("n", 256))
	made := owner.post("/edges/keys", "cluster", "fra", "name", "Frankfurt").shows("TOCSIN_EDGE_KEY=ek_", "tocsin edge --server http://tocsin.example.com", "No edge is in touch")
	owner.get("/edges").shows("Frankfurt", "!"+between(t, made.body, "TOCSIN_EDGE_KEY=", " "))
	key := between(t, made.body, `action="/edges/keys/`, "/disable")
	owner.post("/edges/keys/" + key + "/disable").shows("/edges/keys/" + key + "/enable")
	owner.post("/edges/keys/" + key + "/enable").shows("/edges/keys/" + key + "/disable")
	owner.post("/edges/keys/"+key+"/rename", "name", "").showsWith(http.StatusBadRequest, "key_name")
	owner.post("/edges/keys/"+key+"/rename", "name", "Frankfurt am Main").shows("Frankfurt am Main")
	owner.post("/edges/keys/" + key + "/else").showsWith(http.StatusNotFound)
	owner.post("/edges/clusters", "cluster", "fra", "enabled", "1", "severity", "Warning", "lost_seconds", "5").showsWith(http.StatusBadRequest, "lost_seconds", `value="5"`)
	owner.post("/edges/clusters", "cluster", "fra", "enabled", "1", "severity", "Warning", "lost_seconds", "900", "times", "5", "every", "120", "include", "fra-*, fra2", "exclude", "*-trial", "channel", "7000000000041").shows(`value="900"`,
		`name="times" min="1" max="100" value="5"`, `value="120"`, `value="fra-*, fra2"`, `value="*-trial"`, `value="7000000000041" selected`)
	w.must(w.app.DB.Write(context.Background(), func(tx *db.Tx) error {
		now := w.clock.Now()
		return edge.Join(tx, edge.Member{Account: 7000000000001, Cluster: "fra", ID: "00000000000000aa", Started: now, Seen: now,
			Details: edge.Details{Shown: edge.Shown{Name: "fra-1", Version: "1.2.3", Types: []string{"prometheus"}, OffsetMS: 40, LateMS: 7}}}, now)
	}))
	owner.get("/edges").shows("fra-1", "in touch", "Version 1.2.3", "clock off by 40 ms", "late by 7 ms", "!/edges/00000000000000aa/delete")
	w.clock.Add(time.Minute)
	owner.get("/edges").shows("not in touch since", "/edges/00000000000000aa/delete")
	owner.post("/edges/00000000000000aa/delete").shows("!fra-1")
	owner.post("/edges/keys/" + key + "/delete").shows("!Frankfurt")
	w.reader().get("/edges").showsWith(http.StatusForbidden)
}
