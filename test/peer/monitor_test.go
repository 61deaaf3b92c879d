package peer

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"tocsin/internal/app"
	"tocsin/internal/sender/mailtest"
	"tocsin/test/pgserver"
)

// A rule on a real Prometheus fires and ends to a page, and when that is killed nothing ends.
func TestRuleOnPrometheusPages(t *testing.T) {
	if _, err := exec.LookPath("prometheus"); err != nil {
		t.Skip("prometheus is not installed: apt-get install prometheus")
	}
	box := mailtest.New(t, mailtest.Options{})
	tocsin := serveWith(t, box, func(c *app.Config) { c.DatasourceAllow = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	var down atomic.Bool
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		value := 0
		if down.Load() {
			value = 1
		}
		fmt.Fprintf(w, "node_broken %d\n", value)
	}))
	defer target.Close()
	dir := t.TempDir()
	port := pgserver.PortOf(t)
	write(t, dir, "prometheus.yml", fmt.Sprintf(`
global: {scrape_interval: 1s}
scrape_configs: [{job_name: node, static_configs: [{targets: ["%s"]}]}]
`, strings.TrimPrefix(target.URL, "http://")))
	stop := run(t, dir, "prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=prom", fmt.Sprintf("--web.listen-address=127.0.0.1:%d", port))
	call := func(path, body string) string {
		t.Helper()
		reply, err := http.Post(tocsin+path+"?app_key=key-of-the-peer-tests-0123456789012", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		if err != nil || reply.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s %v", path, reply.StatusCode, text, err)
		}
		return string(text)
	}
	call("/monit/datasource/create", fmt.Sprintf(`{"type_ident": "prometheus", "name": "prometheus", "address": "http://127.0.0.1:%d", "edge_cluster_name": "default", "payload": {"prometheus": {}}}`, port))
	call("/monit/rule/create", `{"name": "Node broken", "ds_type": "prometheus", "ds_list": ["*"], "cron_pattern": "@every 1s", "channel_ids": [41],
		"rule_configs": {"queries": [{"name": "A", "expr": "node_broken"}], "check_threshold": {"enabled": true, "critical": "$A > 0"}, "unknown_after_seconds": 5}}`)

	down.Store(true)
	if page := mail(t, box, 0); !strings.Contains(page.Data, "Subject: [Critical] Node broken: instance=") {
		t.Errorf("the page is %s", page.Data)
	}
	down.Store(false)
	if over := mail(t, box, 1); !strings.Contains(over.Data, "Subject: [Resolved] Node broken") {
		t.Errorf("the end is %s", over.Data)
	}
	down.Store(true)
	mail(t, box, 2)
	stop()
	if lost := mail(t, box, 3); !strings.Contains(lost.Data, "The datasource prometheus cannot be reached") {
		t.Errorf("the mail about the datasource is %s", lost.Data)
	}
	if state := call("/monit/rule/state", `{"id": 1}`); !strings.Contains(state, `"state":"unknown"`) || !strings.Contains(state, `"runtime_state":"abnormal"`) {
		t.Errorf("the state is %s", state)
	}
	if n := len(box.Mails()); n != 4 {
		t.Errorf("%d mails, want 4", n)
	}
}
