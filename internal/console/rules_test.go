package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/auth"
)

// meter is a server that answers as a Prometheus does.
type meter struct {
	mu    sync.Mutex
	value float64
	away  bool
}

func (m *meter) set(value float64, away bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.value, m.away = value, away
}

// ServeHTTP answers with one series.
func (m *meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if m.away {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/query_range") {
		var points []string
		from, _ := strconv.ParseFloat(r.FormValue("start"), 64)
		for i := range 20 {
			points = append(points, fmt.Sprintf(`[%f,"%v"]`, from+float64(i)*100, m.value-float64(i)))
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"host":"web1"},"values":[%s]}]}}`, strings.Join(points, ","))
		return
	}
	fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"host":"web1"},"value":[1,"%v"]}]}}`, m.value)
}

// beginRules returns a world with a datasource, two rules on it, and a browser of the owner.
func beginRules(t *testing.T) (*world, *meter, *browser) {
	t.Helper()
	m := &meter{value: 12}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	w := begin(t, func(c *app.Config) { c.DatasourceAllow = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	w.call(ownerKey, "/monit/datasource/create", fmt.Sprintf(`{"type_ident": "prometheus", "name": "prometheus-fra", "address": %q, "edge_cluster_name": "default", "payload": {"prometheus": {}}}`, server.URL))
	w.call(ownerKey, "/monit/folder/create", `{"folder_name": "Checkout"}`)
	for _, name := range []string{"Disk <full>", "CPU hot"} {
		w.call(ownerKey, "/monit/rule/create", fmt.Sprintf(`{"name": %q, "ds_type": "prometheus", "ds_ids": [1], "cron_pattern": "@every 15s", "channel_ids": [7000000000041],
			"enabled": %t, "rule_configs": {"queries": [{"name": "A", "expr": "cpu{job='x'}"}], "check_threshold": {"enabled": true, "alerting_check_times": 2, "critical": "$A > 90", "warning": "$A > 80"}}}`, name, name == "CPU hot"))
	}
	return w, m, w.signIn(ownerKey)
}

// pass moves the clock, an evaluation at a time.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	for range d / (15 * time.Second) {
		w.clock.Add(15 * time.Second)
		w.settle()
	}
}

func TestRulesShowWhatTheyFound(t *testing.T) {
	t.Parallel()
	w, m, b := beginRules(t)
	w.pass(30 * time.Second)
	b.get("/rules").shows("CPU hot", "Normal", "prometheus-fra", "15 s", "Shop", "nothing found yet", "Disk &lt;full&gt;", "Paused", "Checkout", `href="/rules/new"`)
	b.get("/rules/2").shows("Every 15 s, this is asked of prometheus-fra.", "Critical if $A &gt; 90, Warning if $A &gt; 80: 2 answers in a row.",
		"curl -G", "/api/v1/query", `cpu{job=&#39;\&#39;&#39;x&#39;\&#39;&#39;}`, "Ann Day", "Olga Owner", "Created", "evaluations: 0 not known, 0 late", "It has found nothing yet.")
	m.set(97, false)
	w.pass(15 * time.Second)
	b.get("/rules?show=pending").shows("Pending 1", "CPU hot", "!Disk")
	b.get("/rules/2").shows("Pending 1 of 2")
	w.pass(15 * time.Second)
	b.get("/rules?show=firing").shows("Firing 1", "CPU hot", "!nothing found yet")
	page := b.get("/rules/2").shows("Firing 1", "host=web1", "Begins", "&#34;$A &gt; 90&#34; holds: 97 &gt; 90", "97</b>", `href="/alerts/`)
	picture := regexp.MustCompile(`src="(/rules/2/graph[^"]+)"`).FindStringSubmatch(page.body)
	svg := b.get(strings.ReplaceAll(picture[1], "&amp;", "&"))
	if svg.status != http.StatusOK || !strings.Contains(svg.body, `class="hue`) || !strings.Contains(svg.body, `class="firing"`) || !strings.Contains(svg.body, "&gt; 90") {
		t.Errorf("%d %s", svg.status, svg.body)
	}
	alert := b.get("/alerts").link("/alerts/")
	b.get(alert).shows("Found by the rule", `href="/rules/2"`, "holds: 97", "/rules/2/graph?", "!Not known")
	incident := b.get("/incidents").link("/incidents/")
	b.get(incident).shows("Found by the rule", "/rules/2/graph?")
	m.set(97, true)
	w.pass(3 * time.Minute)
	b.get(alert).shows("Not known since", "prometheus-fra", "Until it is known, the alert does not end.")
	b.get("/rules?show=unknown").shows("Not known for", "CPU hot", "1 rule does not see its data.")
	b.get("/rules/2").shows("Not known since", "Firing 1")
	if svg := b.get("/rules/2/graph?ds=1&span=1h&at=" + fmt.Sprint(w.clock.Now().Unix())); !strings.Contains(svg.body, "The datasource shows no graph.") {
		t.Errorf("%d %s", svg.status, svg.body)
	}
	b.lang = "zh"
	b.get("/rules").shows("触发 1", "未知已")
	b.get("/rules/2").shows("自 ", "起未知", "连续 2 次结果")
	b.get(alert).shows("发现它的规则")
}

func TestRulesAreChangedTogether(t *testing.T) {
	t.Parallel()
	_, _, b := beginRules(t)
	b.post("/rules", "to", "enable").showsWith(http.StatusBadRequest, "Choose at least one rule.")
	b.post("/rules?show=disabled", "rule", "1", "rule", "2", "to", "disable").shows("CPU hot", "Disk")
	b.post("/rules", "rule", "1", "to", "enable").shows("Disk")
	b.get("/rules?show=disabled").shows("CPU hot", "!Disk")
	folder := regexp.MustCompile(`folder=(\d+)" class="deep1"><bdi>Checkout`).FindStringSubmatch(b.get("/rules").body)[1]
	b.post("/rules", "rule", "1", "to", "move", "folder", folder)
	b.get("/rules?folder="+folder).shows("Disk", "!CPU hot")
	b.post("/rules", "rule", "9", "to", "disable").shows("These rules stay as they were:")
	b.get("/rules?q=cpu").shows("CPU hot", "!Disk")
	b.get("/rules?q=nothing").shows("No rule is here.")
	if a := b.get("/rules/9"); a.status != http.StatusNotFound {
		t.Error(a.status)
	}
}

// TestChosenRulesGetSameValues sets each part of two rules, of which one cannot have it, and deletes both.
func TestChosenRulesGetSameValues(t *testing.T) {
	t.Parallel()
	w, _, b := beginRules(t)
	stored := func(rule, member string) string {
		return fmt.Sprint(w.call(ownerKey, "/monit/rule/info", `{"id": `+rule+`}`)[member])
	}
	form := b.post("/rules", "rule", "1", "rule", "2", "to", "change").shows("Change the chosen rules", "CPU hot", "Disk &lt;full&gt;", `name="labels"`)
	for _, c := range []struct {
		part, member, want string
		fields             []string
	}{
		{"labels", "labels", "map[site:fra team:db]", []string{"labels", "team: db\nsite: fra"}},
		{"channels", "channel_ids", "[]", nil},
		{"schedule", "timezone", "Europe/Berlin", []string{"cron_pattern", "@every 1m", "timezone", "Europe/Berlin", "delay_seconds", "5"}},
		{"schedule", "delay_seconds", "5", []string{"cron_pattern", "@every 1m", "delay_seconds", "5"}},
		{"hours", "enabled_times", "[map[days:[1 5] etime:17:00 stime:09:00]]", []string{"enabled_times.rows", "1", "enabled_times.0.stime", "09:00",
			"enabled_times.0.etime", "17:00", "enabled_times.0.days", "1", "enabled_times.0.days", "5"}},
		{"sources", "ds_list", "[prom*]", []string{"ds_type", "prometheus", "ds_list", "prom*"}},
		{"sources", "ds_ids", "[1]", []string{"ds_type", "prometheus", "ds_ids", "1"}},
		{"texts", "annotations", "map[runbook:here]", []string{"description", "On ${host}", "annotations", "runbook: here"}},
		{"repeats", "repeat_total", "3", []string{"repeat_interval", "600", "repeat_total", "3"}},
		{"debug", "debug_log_enabled", "true", []string{"debug_log_enabled", "1"}},
	} {
		path := form.path + "&part=" + c.part
		b.get(path).shows(`aria-current="true"`, `name="`+c.member)
		b.post(path, c.fields...).shows("CPU hot")
		if got := stored("1", c.member) + stored("2", c.member); got != c.want+c.want {
			t.Errorf("%s: %s", c.member, got)
		}
	}
	b.get(form.path+"&part=hours").shows(`value="09:00"`, `value="1" checked`, `value="2">`)
	b.post(form.path+"&part=schedule", "cron_pattern", "often").shows("These rules stay as they were:", "cron_pattern", `value="often"`)
	b.post(form.path+"&part=schedule", "cron_pattern", "@every 1m", "delay_seconds", "soon").showsWith(http.StatusBadRequest, "whole number", `value="soon"`)
	b.post(form.path+"&part=schedule", "cron_pattern", "@every 1m", "delay_seconds", "-1").showsWith(http.StatusBadRequest, `value="-1" aria-invalid="true"`)
	b.get("/rules/change").showsWith(http.StatusBadRequest)
	b.post("/rules", "rule", "1", "rule", "2", "to", "delete").shows("There is no rule yet.")
}

// TestRuleFolders makes a folder in another, renames and moves it, and deletes it once it is empty.
func TestRuleFolders(t *testing.T) {
	t.Parallel()
	_, _, b := beginRules(t)
	b.get("/rules").shows(`href="/rule-folders/new"`)
	b.get("/rule-folders/new?parent=1").shows(`value="1" selected`, ">Checkout</option>")
	b.post("/rule-folders/new", "folder_name", "", "parent_id", "1", "note", "Tills").showsWith(http.StatusBadRequest, "folder_name", "Tills</textarea>")
	made := b.post("/rule-folders/new", "folder_name", "Tills", "parent_id", "1", "team_id", "7000000000021", "note", "In shops").shows("Tills", "Change this folder", "No rule is here.")
	path := "/rule-folders/" + strings.TrimPrefix(made.path, "/rules?folder=")
	b.get(path).shows("In shops", `value="Tills"`, "ops", "!Rules › Tills")
	b.get("/rules/new").shows("Rules › Tills")
	b.post(path, "folder_name", "Cash desks", "parent_id", "0").shows("Cash desks")
	b.get("/rules").shows("Cash desks</option>", "!Rules › ")
	b.post("/rules", "rule", "1", "to", "move", "folder", strings.TrimPrefix(path, "/rule-folders/"))
	b.post(path+"/delete").showsWith(http.StatusBadRequest, "Disk")
	b.post("/rules", "rule", "1", "to", "move", "folder", "1")
	b.post(path + "/delete").shows("!Cash desks")
	b.get("/rule-folders/1").shows("!/rule-folders/1/delete")
	b.get(path).showsWith(http.StatusNotFound)
}

func TestRulesAreForThoseWhoMayReadThem(t *testing.T) {
	t.Parallel()
	w, m, _ := beginRules(t)
	m.set(97, false)
	w.pass(time.Minute)
	rita := w.signIn(readerKey)
	rita.get("/").shows(`!href="/rules"`)
	if a := rita.get("/rules"); a.status != http.StatusForbidden {
		t.Error(a.status)
	}
	rita.get(rita.get("/alerts").link("/alerts/")).shows("CPU hot", "!Found by the rule")
	guest := w.signIn(w.kindOf("guest", []string{auth.AlertingRulesRead.String()}))
	guest.get("/rules").shows(`href="/rules"`, "CPU hot", "datasource 1", "!/rules/new", "!checkbox")
	guest.get("/rules/2").shows("CPU hot", "!curl", "!/rules/2/edit")
	if svg := guest.get("/rules/2/graph?ds=1&at=" + fmt.Sprint(w.clock.Now().Unix())); !strings.Contains(svg.body, "You may not read datasources.") {
		t.Error(svg.body)
	}
}
