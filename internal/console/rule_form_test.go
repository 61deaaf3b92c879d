package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"tocsin/internal/app"
)

// figures is a Prometheus with three hosts, whose values are 97, 50 and 12. It refuses a query that begins with a bracket.
func figures(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if strings.HasPrefix(r.FormValue("query"), ")") {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"status": "error", "errorType": "bad_data", "error": "1:1: parse error: unexpected right parenthesis"}`)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/query_range") {
		fmt.Fprintf(w, `{"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {"host": "db-1"}, "values": [[%s, "97"]]}]}}`, r.FormValue("start"))
		return
	}
	fmt.Fprint(w, `{"status": "success", "data": {"resultType": "vector", "result": [
		{"metric": {"host": "db-1"}, "value": [1763719200, "97"]}, {"metric": {"host": "db-2"}, "value": [1763719200, "50"]},
		{"metric": {"host": "db-3"}, "value": [1763719200, "12"]}]}}`)
}

// withFigures begins with a datasource, and returns its number.
func withFigures(t *testing.T) (*world, string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(figures))
	t.Cleanup(server.Close)
	w := begin(t, func(c *app.Config) { c.DatasourceAllow = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	made := w.call(ownerKey, "/monit/datasource/create", `{"name": "Metrics", "type_ident": "prometheus", "address": "`+server.URL+`", "edge_cluster_name": "default", "payload": {"prometheus": {}}}`)
	return w, fmt.Sprintf("%.0f", made["id"])
}

// ruleFields returns the fields of a rule on a datasource, with other values for some.
func ruleFields(source string, other ...string) []string {
	fields := []string{"name", "Disk almost full", "folder_id", "1", "ds_type", "prometheus", "ds_ids", source, "enabled", "1",
		"rule_configs.queries.rows", "1", "rule_configs.queries.0.name", "A", "rule_configs.queries.0.expr", "disk_used_percent",
		"rule_configs.check_threshold.enabled", "1", "rule_configs.check_threshold.critical", "$A > 90", "rule_configs.check_threshold.alerting_check_times", "3", "rule_configs.check_anydata.severity", "Warning",
		"rule_configs.check_nodata.severity", "Warning", "cron_pattern", "@every 30s", "channel_ids", "7000000000041", "labels", "team: db\nsite: fra", "do", "save"}
	for i := 0; i < len(other); i += 2 {
		fields = replaced(fields, other[i], other[i+1])
	}
	return fields
}

// replaced returns names and values with another value of a name.
func replaced(fields []string, name, value string) []string {
	for i := 0; i < len(fields); i += 2 {
		if fields[i] == name {
			fields[i+1] = value
			return fields
		}
	}
	return append(fields, name, value)
}

// TestRuleForm makes a rule, changes it, copies it, disables, enables and deletes it.
func TestRuleForm(t *testing.T) {
	t.Parallel()
	w, source := withFigures(t)
	owner := w.signIn(ownerKey)
	owner.get("/rules/new").shows("Metrics", "Shop", "@every 1m", "It matches no datasource that is enabled")
	owner.post("/rules/new", ruleFields(source)...)
	stored := w.call(ownerKey, "/monit/rule/info", `{"id": 1}`)
	if got := fmt.Sprint(stored["name"], stored["ds_ids"], stored["channel_ids"], stored["labels"]); got != "Disk almost full[1] [7.000000000041e+12] map[site:fra team:db]" {
		t.Error(got)
	}
	edit := owner.get("/rules/1/edit").shows("Disk almost full", "$A &gt; 90", "site: fra\nteam: db", "It matches 1 datasource that is enabled", "Every 30 s", `value="7000000000041" checked`)
	seen := between(t, edit.body, `name="seen" value="`, `"`)
	owner.post("/rules/1/edit", ruleFields(source, "seen", seen, "rule_configs.check_threshold.warning", "$A > 80", "enabled_times.rows", "1", "enabled_times.0.stime", "08:00", "enabled_times.0.etime", "18:00", "enabled_times.0.days", "1")...)
	owner.post("/rules/1/edit", ruleFields(source, "seen", seen, "name", "Other")...).showsWith(http.StatusBadRequest, "Olga Owner has changed this meanwhile", `value="Other"`)
	owner.get("/rules/1/edit").shows("$A &gt; 80", `value="08:00"`, `name="enabled_times.0.days" value="1" checked`)
	owner.get("/rules/new?copy=1").shows("Disk almost full (copy)", "$A &gt; 80")
	sent := func(more ...string) string {
		owner.post("/rules/1/edit", ruleFields(source, more...)...)
		check := w.call(ownerKey, "/monit/rule/info", `{"id": 1}`)["rule_configs"].(map[string]any)["check_threshold"].(map[string]any)
		return fmt.Sprint(check["push_recovery_event"], check["missing"])
	}
	const end = "rule_configs.check_threshold.push_recovery_event"
	if silent, usual := sent("rule_configs.check_threshold.missing", "keep"), sent("rule_configs.check_threshold.missing", "keep", end, "1"); silent != "falsekeep" || usual != "truekeep" {
		t.Errorf("an end that is not sent: %s, one that is: %s", silent, usual)
	}
	owner.get("/rules/new").shows(`name="` + end + `" value="1" checked`)
	owner.post("/rules/1/status/disable")
	owner.get("/rules/1/edit").shows(`/rules/1/status/enable"`, "!/rules/1/status/disable")
	owner.post("/rules/1/status/enable")
	owner.post("/rules/1/status/else").showsWith(http.StatusNotFound)
	owner.post("/rules/1/status/delete")
	owner.get("/rules/1/edit").showsWith(http.StatusNotFound)
	w.reader().get("/rules/new").showsWith(http.StatusForbidden)
	w.reader().post("/rules/new", ruleFields(source)...).showsWith(http.StatusForbidden)
}

// between returns the text between two others.
func between(t *testing.T, text, before, after string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, before)
	middle, _, closed := strings.Cut(rest, after)
	if !found || !closed {
		t.Fatalf("no %q", before)
	}
	return middle
}

// TestRuleFormKeepsWhatWasTyped sends what a newcomer gets wrong: the error names the field, and all that was typed is there.
func TestRuleFormKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	w, source := withFigures(t)
	owner := w.signIn(ownerKey)
	const typed = "A text that must not be lost"
	for _, c := range []struct {
		name, value string
		want        []string
	}{
		{"name", "", []string{"name"}},
		{"name", strings.Repeat("x", 256), []string{"name", "255", strings.Repeat("x", 256)}},
		{"ds_ids", "", []string{"ds_list", "must name a datasource"}},
		{"rule_configs.queries.0.expr", "", []string{"rule_configs.queries.0.expr", "must not be empty"}},
		{"rule_configs.queries.0.expr", ")", []string{"rule_configs.queries", "Metrics", "parse error", "Save it although"}},
		{"rule_configs.check_threshold.critical", "A > 90", []string{"rule_configs.check_threshold.critical", "at character 1", `value="A &gt; 90" aria-invalid="true"`}},
		{"rule_configs.check_threshold.critical", "", []string{"one of critical, warning and info is required"}},
		{"cron_pattern", "every day", []string{"cron_pattern", `value="every day"`, `aria-invalid="true"`}},
		{"cron_pattern", "@every 10ms", []string{"cron_pattern", "whole seconds"}},
		{"timezone", "Berlin", []string{"timezone", "Europe/Berlin", `value="Berlin"`}},
		{"repeat_interval", "soon", []string{"Seconds after which an alert that goes on", "whole number", `value="soon"`}},
		{"delay_seconds", "-1", []string{"delay_seconds", `value="-1"`}},
		{"labels", strings.Repeat("n", 129) + ": x", []string{"labels", "128", strings.Repeat("n", 129)}},
		{"enabled_times.0.stime", "9", []string{"enabled_times[0]"}},
	} {
		a := owner.post("/rules/new", ruleFields(source, "description", typed, "enabled_times.rows", map[bool]string{true: "1"}[c.name == "enabled_times.0.stime"], "annotations", "runbook: here", c.name, c.value)...)
		a.showsWith(http.StatusBadRequest, append(c.want, typed, "runbook: here")...)
	}
	if n := len(w.call(ownerKey, "/monit/folder/list", `{}`)["items"].([]any)); n != 1 {
		t.Errorf("%d folders", n)
	}
	owner.post("/rules/new", ruleFields(source, "rule_configs.queries.0.expr", ")", "anyway", "1")...)
	owner.get("/rules/1/edit").shows("Disk almost full")
}

// TestRuleFormRunsNow shows what the queries answer and what would fire, and stores nothing.
func TestRuleFormRunsNow(t *testing.T) {
	t.Parallel()
	w, source := withFigures(t)
	owner := w.signIn(ownerKey)
	owner.post("/rules/new", ruleFields(source, "do", "run")...).shows("<b>1</b>", "of 3 series would fire", "97 &gt; 90", "host=db-1", "3 rows in", "host=db-3", "Disk almost full")
	owner.post("/rules/new", ruleFields(source, "do", "run", "rule_configs.check_threshold.critical", "$A > 99")...).shows("Nothing would fire: there are 3 series.")
	owner.post("/rules/new", ruleFields(source, "do", "run", "rule_configs.check_threshold.critical", "A > 99")...).shows("at character 1", "3 rows in")
	owner.post("/rules/new", ruleFields(source, "do", "run", "rule_configs.queries.0.expr", ")")...).shows("parse error", "!of 3 series")
	owner.post("/rules/new", ruleFields(source, "do", "past", "days", "2", "name", "")...).shows("alerts in the last 2 days", `value="2"`, "disk_used_percent")
	owner.post("/rules/new", ruleFields("", "do", "run", "ds_list", "None*")...).shows("the rule matches no datasource that is enabled", "None*</textarea>")
	owner.post("/rules/new", ruleFields(source, "do", "pick:add:rule_configs.queries")...).shows(`rule_configs.queries.1.name" value="B"`, "disk_used_percent")
	owner.post("/rules/new", ruleFields(source, "do", "pick:remove:rule_configs.queries.0.", "rule_configs.queries.rows", "2", "rule_configs.queries.1.name", "B", "rule_configs.queries.1.expr", "up")...).shows("!disk_used_percent", ">up</textarea>")
	owner.post("/rules/new", ruleFields(source, "do", "pick:add:enabled_times")...).shows(`enabled_times.0.stime" value="09:00"`)
	owner.post("/rules/new", ruleFields(source, "do", "look", "cron_pattern", "0 8 * * 1-5", "timezone", "Europe/Berlin")...).shows("Mon 23 Nov, 08:00 CET", "Tue 24 Nov, 08:00 CET", "Wed 25 Nov, 08:00 CET")
}
