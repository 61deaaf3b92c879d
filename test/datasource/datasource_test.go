// Package datasource asks datasources whose servers are Go modules, as rules ask them. It is a module of its own, so that the
// product depends on none of them.
package datasource

import (
	"fmt"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/querier"
	"tocsin/internal/querier/prometheus"
	"tocsin/internal/querier/queriertest"
	"tocsin/internal/querier/victorialogs"
	"tocsin/test/pgserver"
)

func TestVictoriaLogsIsAsked(t *testing.T) {
	t.Parallel()
	port := pgserver.PortOf(t)
	s := queriertest.Start(t, port, queriertest.Tool(t, "victoria-logs"), "-storageDataPath=data", fmt.Sprint("-httpListenAddr=127.0.0.1:", port))
	now := time.Now().Truncate(time.Minute)
	data := ""
	for n, line := range []struct{ level, message string }{{"error", "disk"}, {"error", "newest disk"}, {"warn", "slow"}} {
		at := now.Add(time.Duration(n-10) * time.Second).Format(time.RFC3339Nano)
		data += fmt.Sprintf(`{"_time":%q,"_msg":%q,"level":%q,"app":"shop"}`+"\n", at, line.message, line.level)
	}
	s.Store("/insert/jsonline?_stream_fields=app", "application/stream+json", data)
	q := s.Connect("victorialogs", victorialogs.Open)
	s.Await("the lines are found", func() bool {
		got, _ := queriertest.Rows(q, querier.Ask{Expr: "_time:5m | stats count() n", AsOf: now})
		return got == "map[]map[:3 n:3];"
	})
	raw := func(limit string) map[string]string {
		return map[string]string{"victorialogs.type": "raw", "victorialogs.timespan.value": "5", "victorialogs.limit": limit}
	}
	const newest = `map[_stream:{app="shop"} app:shop level:error]map[]newest disk;`
	s.Await("the lines themselves are found", func() bool { // a list of lines may lack fresh ones that figures have
		got, _ := queriertest.Rows(q, querier.Ask{Expr: "level:error", AsOf: now, Args: raw("")})
		return got == newest
	})
	s.Ask(q, now, []queriertest.Asked{
		{Expr: "_time:5m level:error | stats by (level) count() n", Want: "map[level:error]map[:2 n:2];"},
		{Expr: "_time:5m | stats by (app) count() n, count_uniq(level) levels", Want: "map[app:shop]map[levels:2 n:3];"},
		{Expr: "_time:5m level:fatal | stats by (level) count() n"},
		{Expr: "_time:5m level:fatal | stats count() n", Want: "map[]map[:0 n:0];"},
		{Expr: "_time:5m level:error", Kind: evaluate.BadQuery}, // no figures
		{Expr: "_time:5m | stats by (", Kind: evaluate.BadQuery},
		{Expr: "level:error", Args: raw(""), Want: newest},
		{Expr: "level:error", Args: raw("2"), Want: newest, Kind: evaluate.TooMuch},
		{Expr: "level:fatal", Args: raw("")},
		{Expr: "(", Args: raw(""), Kind: evaluate.BadQuery},
	})
	for _, seconds := range []time.Duration{0, -9, 25} { // a step of the server begins with a minute
		s.AskMany(q, "_time:1m | stats by (level) count() n", now.Add(seconds*time.Second))
		s.AskMany(q, "_time:1m level:error | stats by (level) count() n", now.Add(seconds*time.Second))
	}
}

func TestVictoriaMetricsIsAsked(t *testing.T) {
	t.Parallel()
	port := pgserver.PortOf(t)
	s := queriertest.Start(t, port, queriertest.Tool(t, "victoria-metrics"), "-storageDataPath=data", "-search.latencyOffset=0s", "-search.disableCache",
		fmt.Sprint("-httpListenAddr=127.0.0.1:", port))
	now := time.Now().Truncate(time.Second)
	at := now.Add(-10 * time.Second).UnixMilli()
	s.Store("/api/v1/import/prometheus", "text/plain", fmt.Sprintf("load{host=\"a\"} 7 %d\nload{host=\"b\"} 8.5 %[1]d\n", at))
	q := s.Connect("prometheus", prometheus.Open)
	s.Await("the series are found", func() bool {
		got, _ := queriertest.Rows(q, querier.Ask{Expr: "count(load)", AsOf: now})
		return got == "map[]map[:2];"
	})
	s.Ask(q, now, []queriertest.Asked{
		{Expr: "sort(load)", Want: "map[host:a]map[:7];map[host:b]map[:8.5];"},
		{Expr: "load > 8", Want: "map[host:b]map[:8.5];"},
		{Expr: "load offset 1d"},
		{Expr: "sum(", Kind: evaluate.BadQuery},
		{Expr: "vector(1) / 0", Want: "map[]map[:+Inf];"},
	})
	s.AskMany(q, "load > 8", now)
}
