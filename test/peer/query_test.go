package peer

import (
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
	"tocsin/internal/querier/prometheus"
	"tocsin/test/pgserver"
)

// A real Prometheus is asked as rules ask it.
func TestPrometheusIsAsked(t *testing.T) {
	if _, err := exec.LookPath("prometheus"); err != nil {
		t.Skip("prometheus is not installed: apt-get install prometheus")
	}
	dir, port := t.TempDir(), pgserver.PortOf(t)
	write(t, dir, "prometheus.yml", fmt.Sprintf(`
global: {scrape_interval: 1s}
scrape_configs: [{job_name: self, static_configs: [{targets: ["127.0.0.1:%d"]}]}]
`, port))
	run(t, dir, "prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=prom", fmt.Sprintf("--web.listen-address=127.0.0.1:%d", port))
	out := egress.New(egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	asked, failed := prometheus.Open(querier.Datasource{Type: "prometheus", Address: fmt.Sprintf("http://127.0.0.1:%d/", port), Payload: []byte(`{}`)}, out)
	if failed != nil {
		t.Fatal(failed)
	}
	defer asked.Close()
	ask := func(expr string, at time.Time) (string, *evaluate.Failure) {
		rows, failed := asked.Query(context.Background(), querier.Ask{Expr: expr, AsOf: at})
		text := ""
		for _, row := range rows {
			text += fmt.Sprint(row.Labels, "=", row.Values[0].Number, " ")
		}
		return text, failed
	}
	up := ""
	for end := time.Now().Add(timeout); up == "" && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		up, _ = ask("up", time.Time{})
	}
	if want := fmt.Sprintf("map[instance:127.0.0.1:%d job:self]=1 ", port); up != want {
		t.Fatalf("up: %s, want %s", up, want)
	}
	for _, p := range asked.Test(context.Background()) {
		if !p.OK {
			t.Errorf("%+v", p)
		}
	}
	begin := time.Unix(1_700_000_000, 0)
	series, failed := asked.(querier.Ranger).Range(context.Background(), querier.Ask{Expr: "vector(time()) > 1.7e9"}, begin, begin.Add(2*time.Minute), time.Minute)
	if got, want := fmt.Sprint(series, failed), "[{map[]  [{2023-11-14 22:14:20 +0000 UTC 1.70000006e+09} {2023-11-14 22:15:20 +0000 UTC 1.70000012e+09}]}] <nil>"; got != want {
		t.Errorf("range: %s, want %s", got, want)
	}
	for _, c := range []struct {
		expr, want string
		kind       evaluate.Kind
	}{
		{"time()", "map[]=1.7e+09 ", ""},
		{"up offset 1y", "", ""},
		{"vector(1) / 0", "map[]=+Inf ", ""},
		{"vector(0) / 0", "map[]=NaN ", ""},
		{`label_replace(vector(2), "a", "\"é", "", "")`, `map[a:"é]=2 `, ""},
		{`"text"`, "", evaluate.Invalid},
		{"vector(1)[5m:1m]", "", evaluate.BadQuery},
		{"sum(", "", evaluate.BadQuery},
		{"up + on() group_left() {__name__=~\".+\"}", "", evaluate.BadQuery},
	} {
		at := time.Time{}
		if c.expr == "time()" {
			at = time.Unix(1_700_000_000, 0)
		}
		got, failed := ask(c.expr, at)
		if c.kind == "" && (failed != nil || got != c.want) || c.kind != "" && (failed == nil || failed.Kind != c.kind) {
			t.Errorf("%s: %s %v, want %s %s", c.expr, got, failed, c.want, c.kind)
		}
		t.Logf("%s: %s %v", c.expr, got, failed)
	}
}
