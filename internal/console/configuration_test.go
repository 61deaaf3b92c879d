package console_test

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"tocsin/internal/datasource"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
)

func TestConfigurationPages(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner, nobody := w.signIn(ownerKey), w.signIn(emptyKey)
	for _, lang := range []string{"en", "zh"} {
		owner.lang, nobody.lang = lang, lang
		for _, path := range []string{
			"/setup", "/channels", "/channels/new", "/integrations", "/integrations/new", "/templates", "/templates/new", "/calendars", "/calendars/new", "/fields", "/fields/new",
			"/datasources", "/datasources/new", "/rum", "/rum/applications/new",
		} {
			owner.get(path).shows()
			nobody.get(path).shows()
		}
		for _, path := range []string{shopPath, shopPath + "/edit", shopPath + "/ladder", shopPath + "/rules/silences/new", shopPath + "/rules/inhibits/5e5e5e5e5e5e5e5e5e5e5e03", probePath, probePath + "/route", probePath + "/rules/labels", probePath + "/rules/pipeline"} {
			owner.get(path).shows()
		}
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	made := owner.post("/templates/new?type=sms", "template_name", "Short", "sms", "{{.Severity}}: {{.Title}}", "do", "save")
	made.shows("Short", "Preview with a sample incident", "Critical: ")
	owner.post(made.path, "template_name", "Short", "sms", "{{.Sev", "do", "preview").shows(`{{.Sev</textarea>`, `class="wrong"`)
	owner.post(made.path, "template_name", "Short", "sms", "{{.Sev", "do", "save").showsWith(http.StatusBadRequest, "{{.Sev</textarea>")
	email := strings.Replace(made.path, "type=sms", "type=email", 1)
	owner.post(email, "template_name", "Short", "description", "Of few words", "email", "<p>{{.Title}}</p>", "do", "save").shows("Of few words")
	owner.get(made.path).shows("{{.Severity}}: {{.Title}}</textarea>")
	owner.get("/templates").shows("Short", "Of few words", "Text message", "E-mail")
	path, _, _ := strings.Cut(made.path, "?")
	owner.post(path + "/delete").shows("There is no template yet")
}

func TestCalendars(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.post("/calendars/new", "name", "Berlin", "zone", "Nowhere", "day.1", "1").showsWith(http.StatusBadRequest, "timezone", `value="Nowhere"`)
	made := owner.post("/calendars/new", "name", "Berlin", "zone", "Europe/Berlin", "day.1", "1", "day.2", "1").shows("Berlin", "Exceptions this year")
	owner.post(made.path+"/days", "summary", "Christmas", "start", "2026-12-25", "end", "2026-12-24", "off", "1").showsWith(http.StatusBadRequest, "end_at", "Christmas", "Berlin")
	day := owner.post(made.path+"/days", "summary", "Christmas", "start", "2026-12-25", "end", "2026-12-27", "off", "1").shows("Christmas", "day off", "From 2026-12-25")
	at := strings.Index(day.body, made.path+"/days/")
	remove, _, _ := strings.Cut(day.body[at:], `"`)
	if !strings.HasSuffix(remove, "/delete") {
		t.Fatalf("no way to delete the day: %s", remove)
	}
	owner.post(remove).shows("!Christmas")
	owner.post(made.path, "name", "Hamburg", "zone", "Europe/Berlin", "day.3", "1").shows("Hamburg")
	owner.get("/calendars").shows("Hamburg", "Wed", "!Mon")
	owner.post(made.path + "/delete").shows("There is no calendar yet")
}

func TestFieldsAndDatasources(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.post("/fields/new", "display", "Area", "name", "impact area", "type", "text").showsWith(http.StatusBadRequest, "field_name", "impact area")
	owner.post("/fields/new", "display", "Area", "name", "area", "type", "single_select", "options", "web\r\nmail").shows("Area", "web", "mail")
	owner.post("/fields/663a1b2c3d4e5f6789abcf01", "display", "Place", "options", "eu\r\nus\r\ncn").shows("Place", "cn")
	owner.post("/fields/663a1b2c3d4e5f6789abcf01/delete").shows("!Place")
	owner.post("/datasources/new", "name", "Metrics", "address", "ftp://x", "edge_cluster_name", "default").showsWith(http.StatusBadRequest, "address", "ftp://x")
	list := owner.post("/datasources/new", "name", "Metrics", "address", "https://prometheus.example.com", "edge_cluster_name", "default").shows("Metrics", "prometheus.example.com")
	at := strings.Index(list.body, `"/datasources/`+"1")
	path, _, _ := strings.Cut(list.body[max(at, 0)+1:], `"`)
	owner.post(path, "name", "Figures", "address", "https://prometheus.example.com", "edge_cluster_name", "default").shows("Figures", "Disabled")
	owner.post(path, "name", "Figures", "address", "http://127.0.0.1:9", "edge_cluster_name", "default").shows("Figures", "127.0.0.1:9")
	owner.post(path, "name", "Other", "address", "http://other.example.com", "edge_cluster_name", "default", "do", "test").shows("Connection, as it is saved",
		"✓ Name of the host", "Connection to the host: 127.0.0.1:9 must not be called", "other.example.com")
	owner.get(path).shows("How it answers", "No rule that is enabled asks it.")
	owner.get("/datasources").shows("Disabled", "default")
	owner.post(path + "/delete").shows("There is no datasource yet")
}

// TestDatasourceOfEachType fills in a form of each type: all members of its block have an input. A secret is not shown, and stays when
// nothing is entered for it.
func TestDatasourceOfEachType(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	address := map[string]string{"prometheus": "http://a", "loki": "http://a", "victorialogs": "http://a", "elasticsearch": "http://a:9200"}
	entered := map[string]string{
		"deployment": "self-managed", "basic_auth_enabled": "1", "tls_enabled": "1", "tls_skip_verify": "1", "tls_min_version": "1.2",
		"tls_max_version": "1.3", "tls_mode": "verify-full", "ssl_mode": "require", "headers": "X-Key: hunter3\r\nX-Other: hunter4",
		"params": "a=b", "options": "SID: shop", "password": "hunter2", "tls_key": "-----BEGIN hunter5", "tls_key_pwd": "hunter6",
		"basic_auth_password": "hunter7", "api_key": "hunter8", "service_token": "hunter9", "access_key_secret": "hunter10",
		"open_conns": "4", "idle_conns": "2", "lifetime_seconds": "60", "timeout_mills": "2000", "dial_timeout_mills": "500", "max_execution_seconds": "9",
	}
	for i, kind := range []string{"prometheus", "loki", "mysql", "oracle", "postgres", "clickhouse", "elasticsearch", "sls", "victorialogs"} {
		block := reflect.TypeFor[datasource.Payload]()
		for f := range block.Fields() {
			if f.Tag.Get("json") == kind+",omitzero" {
				block = f.Type.Elem()
			}
		}
		path := "/datasources/new?type=" + kind
		form := owner.get(path).shows("/datasources/new?type=sls", "Test connection")
		fields := []string{"name", kind, "address", cmp.Or(address[kind], "a.example.com:1234"), "edge_cluster_name", "default"}
		members := []string{}
		for _, f := range reflect.VisibleFields(block) {
			member, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous {
				continue
			}
			name := "payload." + kind + "." + member
			if !strings.Contains(form.body, `name="`+name+`"`) {
				t.Errorf("no input for %s", name)
			}
			fields = append(fields, name, cmp.Or(entered[member], "some "+member))
			members = append(members, member)
		}
		owner.post(path, fields...).shows(kind)
		id := fmt.Sprint(i + 1)
		stored, _ := w.call(ownerKey, "/monit/datasource/info", `{"id": `+id+`}`)["payload"].(map[string]any)[kind].(map[string]any)
		for _, member := range members {
			if stored[member] == nil {
				t.Errorf("%s.%s was not stored", kind, member)
			}
		}
		a := owner.get("/datasources/"+id).shows("Empty: it stays as it is.", "!hunter2", "!hunter5", "!hunter6", "!hunter7", "!hunter8", "!hunter9", "!hunter10")
		if strings.Contains(a.body, "some password") {
			t.Errorf("a password of %s is shown", kind)
		}
	}
	owner.get("/datasources/new?type=prometheus.headers").showsWith(http.StatusNotFound)
	owner.post("/datasources/new?type=odd", "name", "odd").showsWith(http.StatusNotFound)
	const pg = "/datasources/5"
	read := func(id string) string {
		return fmt.Sprint(w.call(ownerKey, "/monit/datasource/info", `{"id": `+id+`}`)["payload"])
	}
	owner.post(pg, "name", "pg", "address", "a.example.com:1234", "edge_cluster_name", "default", "enabled", "1", "payload.postgres.database", "shop", "payload.postgres.timeout_mills", "2000", "payload.postgres.ssl_mode", "require")
	owner.get(pg).shows(`value="shop"`, "!hunter2")
	if got := read("5"); got != "map[postgres:map[database:shop password:hunter2 ssl_mode:require timeout_mills:2000]]" {
		t.Error(got)
	}
	owner.post(pg, "name", "pg", "address", "a.example.com:1234", "edge_cluster_name", "default", "payload.postgres.open_conns", "many").showsWith(http.StatusBadRequest, "whole number", "many")
	owner.post(pg, "name", "pg", "address", "a.example.com:1234", "edge_cluster_name", "default", "payload.postgres.ssl_mode", "maybe").showsWith(http.StatusBadRequest, "payload.postgres.ssl_mode", "maybe")
	owner.get("/datasources/1").shows("X-Key: hunter3")
	owner.post("/datasources/1", "name", "p", "address", "http://a", "edge_cluster_name", "default", "payload.prometheus.headers", "", "payload.prometheus.params", "")
	if got := read("1"); got != "map[prometheus:map[basic_auth_password:hunter7 headers:[] params:[]]]" {
		t.Error(got)
	}
}

// TestNewDatasourceIsTested tests a connection before it is saved: what was typed stays, and nothing is stored.
func TestNewDatasourceIsTested(t *testing.T) {
	t.Parallel()
	w, _ := withFigures(t)
	owner := w.signIn(ownerKey)
	stored := w.call(ownerKey, "/monit/datasource/info", `{"id": 1}`)["address"].(string)
	fields := []string{"name", "Other", "address", stored, "edge_cluster_name", "default", "note", "Kept", "do", "test"}
	owner.post("/datasources/new", fields...).shows("✓ Connection to the host", "✓ A small query", `value="Other"`, "Kept</textarea>")
	owner.post("/datasources/new", replaced(fields, "address", "http://127.0.0.2:9")...).shows("Connection to the host: 127.0.0.2:9 must not be called")
	owner.post("/datasources/new", replaced(fields, "address", "ftp://x")...).shows("address", "ftp://x")
	owner.get("/datasources").shows("Metrics", "!Other")
}

// TestIssue shows an error of users: own lines open, those of libraries folded, and its hostile text as text.
func TestIssue(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	made := owner.post("/rum/applications/new", "application_name", "Web shop", "type", "browser", "team_id", "7000000000021").shows("Web shop", "No errors.", "Token that its program sends", "Sentry.init", "datadogRum.init", "/api/v2/rum")
	application := strings.TrimPrefix(made.path, "/rum/applications/")
	old := made.body
	owner.post(made.path+"/token", "hours", "24").shows("The token before the present one works until")
	if rotated := owner.get(made.path).body; rotated == old {
		t.Error("the token is the same")
	}
	owner.post(made.path+"/token", "hours", "soon").showsWith(http.StatusBadRequest, "whole number")
	owner.post(made.path+"/token", "hours", "1000").showsWith(http.StatusBadRequest, "grace_seconds")
	owner.post(made.path+"/edit", "application_name", "Web shop", "type", "browser", "team_id", "7000000000021", "allowed_origins", "https://shop.example.com\r\nhttps://*.example.org", "status", "disabled",
		"alerting.enabled", "1", "alerting.channel_ids.add", "Shop", "tracing.endpoint", "https://traces.example.com/${trace_id}", "held.tracing", "1")
	owner.get(made.path+"/edit").shows("https://*.example.org", "https://traces.example.com/${trace_id}", "Shop")
	owner.post(made.path+"/edit", "application_name", "Web shop", "type", "browser", "team_id", "7000000000021", "status", "enabled", "allowed_origins", "shop").showsWith(http.StatusBadRequest, "allowed_origins")
	owner.get("/rum").shows("Disabled")
	owner.post(made.path+"/edit", "application_name", "Web shop", "type", "browser", "team_id", "7000000000021", "status", "enabled")
	owner.get("/rum").shows("Web shop", "!Disabled")
	now := w.clock.Now().UnixMilli()
	w.must(w.app.DB.Write(t.Context(), func(tx *db.Tx) error {
		return rum.LoadIssues(tx, 7000000000001, []rum.Issue{{
			IssueID: "NHEacQHi2DhXqobr9qPQz9", ApplicationID: application, Status: "for_review", ErrorCount: 12, SessionCount: 7, Severity: "Warning",
			FirstSeen: rum.Seen{Timestamp: now - 3600_000, Version: "1.0"}, LastSeen: rum.Seen{Timestamp: now - 60_000, Version: "1.1"}, CreatedAt: now - 3600_000, UpdatedAt: now, Versions: []string{"1.0", "1.1"},
			Error: rum.Error{Type: "TypeError", Message: "x is undefined <img src=x onerror=alert(1)>\n at pay (src/cart.js:4)\n at run (node_modules/react/index.js:9)\n at tick (node_modules/react/index.js:10)"},
		}})
	}))
	owner.get(made.path).shows("Errors: 12, sessions: 7", "x is undefined")
	owner.get(made.path+"?status=resolved").shows("No errors.", "!x is undefined")
	owner.get(made.path + "?status=for_review&cause=unknown&days=7").shows("No errors.")
	owner.get(made.path+"?status=gone").showsWith(http.StatusBadRequest, "statuses")
	if file := owner.post(made.path + "/errors?status=for_review"); !strings.Contains(file.body, "x is undefined") {
		t.Error(file.body)
	}
	page := owner.get("/rum/issues/NHEacQHi2DhXqobr9qPQz9").shows("src/cart.js:4", "2 library frames", "&lt;img src=x", "!<img src=x", "For review")
	owner.post(page.path, "status", "resolved").shows("Resolved")
	owner.post(page.path, "status", "gone").showsWith(http.StatusBadRequest, "status")
	owner.post(made.path+"/edit", "application_name", "Shop", "type", "ios", "no_ip", "1").shows("Shop")
	owner.get("/rum").shows("Shop", "iOS")
}

// TestHostileAlert has texts of strangers on the pages of configuration: they are shown and do nothing.
func TestHostileAlert(t *testing.T) {
	t.Parallel()
	w := begin(t)
	const hostile = `\"><img src=x onerror=alert(1)><script>alert(2)</script>`
	w.push(`{"title_rule": "` + hostile + `", "event_status": "Warning", "alert_key": "h", "labels": {"env": "test", "team": "` + hostile + `"}}`)
	w.push(`{"title_rule": "` + hostile + strings.Repeat("x", 900) + `", "event_status": "Warning", "alert_key": "i", "labels": {"service": "a", "team": "` + hostile + `"}}`)
	owner := w.signIn(ownerKey)
	for _, path := range []string{shopPath, shopPath + "/rules/drops/5e5e5e5e5e5e5e5e5e5e5e04", shopPath + "/rules/silences/new", shopPath + "/ladder?labels=<script>", probePath + "/route"} {
		owner.get(path).shows("!<img src=x", "!<script>alert")
	}
}
