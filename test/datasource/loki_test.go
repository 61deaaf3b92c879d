//go:build loki

package datasource

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/querier"
	"tocsin/internal/querier/loki"
	"tocsin/internal/querier/queriertest"
	"tocsin/test/pgserver"
)

// config is a Loki of one process that keeps its lines in a directory.
const config = `
auth_enabled: false
server: {http_listen_address: 127.0.0.1, http_listen_port: %d, grpc_listen_address: 127.0.0.1, grpc_listen_port: %d}
common:
  path_prefix: %[3]s
  instance_addr: 127.0.0.1
  replication_factor: 1
  ring: {kvstore: {store: inmemory}}
  storage: {filesystem: {chunks_directory: %[3]s/chunks, rules_directory: %[3]s/rules}}
schema_config: {configs: [{from: 2024-01-01, store: tsdb, object_store: filesystem, schema: v13, index: {prefix: i_, period: 24h}}]}
analytics: {reporting_enabled: false}
`

// Loki takes minutes to compile and gigabytes of modules, so this runs with make loki alone.
func TestLokiIsAsked(t *testing.T) {
	dir, port := t.TempDir(), pgserver.PortOf(t)
	path := filepath.Join(dir, "loki.yml")
	if err := os.WriteFile(path, fmt.Appendf(nil, config, port, pgserver.PortOf(t), dir), 0o600); err != nil {
		t.Fatal(err)
	}
	s := queriertest.Start(t, port, queriertest.Tool(t, "-modfile=loki/go.mod", "loki"), "-config.file="+path)
	s.Await("it is ready", func() bool { return s.Answers("/ready") })
	now := time.Now().Truncate(time.Second)
	at := func(n int) int64 { return now.Add(time.Duration(n-10) * time.Second).UnixNano() }
	lines := fmt.Sprintf(`{"streams": [{"stream": {"app": "shop", "level": "error"}, "values": [["%d", "disk"], ["%d", "newest disk"]]},
		{"stream": {"app": "shop", "level": "warn"}, "values": [["%d", "slow"]]}]}`, at(1), at(2), at(3))
	s.Store("/loki/api/v1/push", "application/json", lines)
	q := s.Connect("loki", loki.Open)
	s.Await("the lines are found", func() bool {
		got, _ := queriertest.Rows(q, querier.Ask{Expr: `sum(count_over_time({app="shop"}[5m]))`, AsOf: now})
		return got == "map[]map[:3];"
	})
	raw := func(limit string) map[string]string {
		return map[string]string{"loki.type": "raw", "loki.timespan.value": "5", "loki.limit": limit}
	}
	s.Ask(q, now, []queriertest.Asked{
		{Expr: `sum by (level) (count_over_time({level="error"}[5m]))`, Want: "map[level:error]map[:2];"},
		{Expr: `sum by (level) (count_over_time({level="fatal"}[5m]))`},
		{Expr: `sum by (level) (count_over_time({app="shop"}[5m])) > 1`, Want: "map[level:error]map[:2];"},
		{Expr: `{app="shop"}`, Kind: evaluate.BadQuery}, // lines
		{Expr: `{app=`, Kind: evaluate.BadQuery},
		{Expr: `{level="fatal"}`, Args: raw("")},
		{Expr: `{app=`, Args: raw(""), Kind: evaluate.BadQuery},
		{Expr: `vector(1)`, Args: raw(""), Kind: evaluate.BadQuery}, // figures
	})
	for limit, kind := range map[string]evaluate.Kind{"": "", "2": evaluate.TooMuch} {
		rows, failed := q.Query(t.Context(), querier.Ask{Expr: `{level="error"}`, AsOf: now, Args: raw(limit), LabelFields: []string{"level"}})
		if len(rows) != 1 || rows[0].Fields["__log__"] != "newest disk" || fmt.Sprint(rows[0].Labels) != "map[level:error]" ||
			(failed == nil) != (kind == "") || failed != nil && failed.Kind != kind {
			t.Errorf("lines with the limit %q: %v %v, want the newest and %s", limit, rows, failed, kind)
		}
	}
	for _, seconds := range []time.Duration{60, 75, 100} { // a step of the server begins with a minute
		s.AskMany(q, `sum by (level) (count_over_time({app="shop"}[5m]))`, now.Add(seconds*time.Second))
	}
}
