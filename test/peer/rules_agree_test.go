package peer

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/sender/mailtest"
	"tocsin/test/pgserver"
)

// TestRulesAgreeWithPrometheus: 200 rules on the same data have the same alerts as those of a Prometheus, with the same labels,
// and begin and end within an interval of it. Both look every four seconds, each in its own moment, at data that is up to a second
// old, and what Prometheus had is read to the second: moments differ by six seconds at most. It takes more than three minutes:
// TOCSIN_PEER_RULES sets the number of rules.
func TestRulesAgreeWithPrometheus(t *testing.T) {
	if _, err := exec.LookPath("prometheus"); err != nil {
		t.Skip("prometheus is not installed: apt-get install prometheus")
	}
	rules := 0
	if _, err := fmt.Sscan(os.Getenv("TOCSIN_PEER_RULES"), &rules); err != nil {
		t.Skip("set TOCSIN_PEER_RULES, such as to 200")
	}
	const (
		hosts = 6
		steps = 6
		every = 4 // seconds
		dwell = 24 * time.Second
		slack = (every + 2) * time.Second
	)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var values [steps + 3][hosts]int
	for step := 1; step <= steps; step++ { // before and after them all values are 0
		for host := range hosts {
			values[step][host] = r.IntN(10)
		}
	}
	began := time.Now()
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		step := min(int(time.Since(began)/dwell), len(values)-1)
		for host, v := range values[step] {
			fmt.Fprintf(w, "x{host=\"h%d\"} %d\n", host, v)
		}
	}))
	defer target.Close()
	expr := func(n int) string { return fmt.Sprintf(`x{job="x"} > %d`, n%9) }
	wait := func(n int) (hold, keep int) { return n / 9 % 4, n / 36 % 3 } // intervals
	dir := t.TempDir()
	var group strings.Builder
	for n := range rules {
		hold, keep := wait(n)
		fmt.Fprintf(&group, "  - {alert: R%d, expr: '%s', for: %ds, keep_firing_for: %ds}\n", n, expr(n), hold*every, keep*every)
	}
	write(t, dir, "rules.yml", "groups:\n- name: g\n  interval: 4s\n  rules:\n"+group.String())
	write(t, dir, "prometheus.yml", fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 4s}
rule_files: [rules.yml]
scrape_configs: [{job_name: x, static_configs: [{targets: ["%s"]}]}]
`, strings.TrimPrefix(target.URL, "http://")))
	port := pgserver.PortOf(t)
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	run(t, dir, "prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=prom", fmt.Sprintf("--web.listen-address=127.0.0.1:%d", port))

	tocsin := serveWith(t, mailtest.New(t, mailtest.Options{}), func(c *app.Config) { c.DatasourceAllow = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	call := func(path, body string, reply any) {
		t.Helper()
		answer, err := http.Post(tocsin+path+"?app_key=key-of-the-peer-tests-0123456789012", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s %v", path, answer.StatusCode, text, err)
		}
		if err := json.Unmarshal(text, reply); err != nil {
			t.Fatal(err)
		}
	}
	call("/monit/datasource/create", fmt.Sprintf(`{"type_ident": "prometheus", "name": "prometheus", "address": %q, "edge_cluster_name": "default", "payload": {"prometheus": {}}}`, address), new(any))
	for n := range rules {
		hold, keep := wait(n)
		call("/monit/rule/create", fmt.Sprintf(`{"name": "R%d", "ds_type": "prometheus", "ds_list": ["*"], "cron_pattern": "@every 4s", "channel_ids": [41],
			"rule_configs": {"queries": [{"name": "A", "expr": %q}], "check_anydata": {"enabled": true, "severity": "Warning", "alerting_check_times": %d, "recovery_check_times": %d}}}`,
			n, expr(n), hold+1, keep+1), new(any))
	}
	ready := time.Now()
	end := began.Add((steps + 2) * dwell)
	<-time.After(time.Until(end))

	type span struct{ begin, end time.Time }
	theirs := map[string][]span{} // by rule and host
	form := url.Values{"query": {`ALERTS{alertstate="firing"}`}, "start": {fmt.Sprint(began.Unix())}, "end": {fmt.Sprint(end.Unix())}, "step": {"1"}}
	answer, err := http.Get(address + "/api/v1/query_range?" + form.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var ranged struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Values [][2]any
			}
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&ranged); err != nil {
		t.Fatal(err)
	}
	for _, line := range ranged.Data.Result {
		key := line.Metric["alertname"] + " " + line.Metric["host"]
		for _, v := range line.Values {
			at := time.Unix(int64(v[0].(float64)), 0)
			list := theirs[key]
			if n := len(list); n > 0 && at.Sub(list[n-1].end) <= time.Second {
				list[n-1].end = at
				continue
			}
			theirs[key] = append(list, span{at, at})
		}
	}
	compared := 0
	for n := range rules {
		var history struct {
			Data struct {
				Items []struct {
					To     string
					At     int64
					Labels map[string]string
				}
			}
		}
		call("/monit/rule/history", fmt.Sprintf(`{"id": %d, "limit": 100}`, n+1), &history)
		ours := map[string][]span{}
		for i := len(history.Data.Items) - 1; i >= 0; i-- {
			item := history.Data.Items[i]
			key := fmt.Sprintf("R%d %s", n, item.Labels["host"])
			switch {
			case item.To == "begin":
				ours[key] = append(ours[key], span{begin: time.UnixMilli(item.At)})
			case len(ours[key]) > 0:
				ours[key][len(ours[key])-1].end = time.UnixMilli(item.At)
			}
		}
		for host := range hosts {
			key := fmt.Sprintf("R%d h%d", n, host)
			want := theirs[key]
			for len(want) > 0 && want[0].begin.Before(ready.Add(dwell)) { // the rule was not there yet
				want = want[1:]
			}
			got := ours[key]
			for len(got) > 0 && (len(want) == 0 || got[0].begin.Before(want[0].begin.Add(-slack))) && got[0].begin.Before(ready.Add(dwell+slack)) {
				got = got[1:]
			}
			if len(got) != len(want) {
				t.Errorf("%s (%s): %d alerts, Prometheus has %d", key, expr(n), len(got), len(want))
				continue
			}
			for i := range want {
				compared++
				if d := got[i].begin.Sub(want[i].begin).Abs(); d > slack {
					t.Errorf("%s (%s) begins %s apart", key, expr(n), d)
				}
				if d := got[i].end.Sub(want[i].end).Abs(); d > slack {
					t.Errorf("%s (%s) ends %s apart", key, expr(n), d)
				}
			}
		}
	}
	if t.Logf("%d alerts compared", compared); compared < rules {
		t.Errorf("%d alerts of %d rules were compared", compared, rules)
	}
}
