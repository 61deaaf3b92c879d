package console_test

import (
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"tocsin/internal/app"
)

const probePath = "/integrations/7000000000051"

// TestIntegration has the address to push to, a test event, and what became of it.
func TestIntegration(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.get("/integrations").shows("Probe", "Standard events", "New integration")
	owner.get(probePath).shows("!"+pushKey, "Show the key", "integration_key=KEY", `href="/channels/7000000000041">Shop`, "No event in the last 7 days")
	owner.get(probePath+"?key=shown").shows("/event/push/alert/standard?integration_key="+pushKey, "curl &#39;http://tocsin.example.com/event/push/", "Hide the key")
	sent := owner.post(probePath+"/test", "status", "Warning", "labels", "service=db\nnothing")
	sent.shows("What became of the test event", "It was accepted and is being decided.")
	w.settle()
	owner.get(sent.path).shows("Open the incident", "End the test alert", "Ann Day", "!is being decided")
	owner.post(probePath+"/test", "status", "Ok")
	w.settle()
	owner.get("/incidents?show=all").shows("Test of Probe", "Closed")
	owner.post(probePath+"/test", "status", "Fatal").showsWith(http.StatusBadRequest, "event_status")
	owner.post(probePath + "/status/disable").shows("This integration is disabled")
	owner.post(probePath+"/test", "status", "Info").showsWith(http.StatusBadRequest, "must be enabled")
	owner.post(probePath + "/status/enable").shows("!This integration is disabled")
	owner.post(probePath+"/status/rotate", "grace", "60").shows("integration_key=", "!integration_key=KEY", "!"+pushKey)
	owner.post(probePath + "/status/none").showsWith(http.StatusNotFound)
	owner.post(probePath + "/status/delete").shows("There is no integration yet")
	w.signIn(emptyKey).get("/integrations").shows("There is no integration yet")
}

func TestIntegrationForm(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.get("/integrations/new").shows("Prometheus Alertmanager", "/integrations/new?product=zabbix", `!name="name"`)
	owner.get("/integrations/new?product=alertmanager").shows("New integration: Prometheus Alertmanager", `value="Prometheus Alertmanager"`, "Shop", "ops", "severities.0.word", "!heartbeats")
	owner.get("/integrations/new?product=fax").shows("What sends the alerts?")
	grafana := "/integrations/new?product=grafana"
	owner.post(grafana, "name", "", "about", "Dashboards").showsWith(http.StatusBadRequest, `value="Dashboards"`, "New integration: Grafana")
	owner.post("/integrations/new", "name", "Fax").showsWith(http.StatusBadRequest, "What sends the alerts?")
	beat := owner.post("/integrations/new?product=heartbeat", "name", "Backup", "channel", "7000000000041", "interval", "600").shows("Backup", "curl -X POST")
	owner.get(beat.base() + "/edit").shows(`value="600"`)
	owner.post(beat.base()+"/edit", "name", "Nightly backup", "interval", "900", "channel", "7000000000041").shows("Nightly backup")
	made := owner.post("/integrations/new?product=curl", "name", "Shared").shows("Shared", "It has no channel and no route")
	route := made.base() + "/route"
	owner.get(route).shows("Add a case", "Alerts that no case takes")
	owner.post(route, "do", "add-case", "version", "0").shows("Case 1", "case.0.0.0.key")
	fields := []string{"version", "0", "case.0.here", "1", "case.0.0.0.key", "labels.service", "case.0.0.0.oper", "IN", "case.0.0.0.vals", "web"}
	owner.post(route, append(fields, "do", "save")...).showsWith(http.StatusBadRequest, "channel")
	owner.post(route, append(fields, "do", "and:case.0.0")...).shows("case.0.0.1.key")
	owner.post(route, append(fields, "do", "remove-case:0")...).shows("!Case 1")
	owner.post(route, append(fields, "do", "save", "case.0.channel", "7000000000041")...).shows("service is web", "Everything else", "no channel")
	owner.get(route).shows("Case 1", `value="7000000000041" checked`)
}

// TestRouteKeepsHeadings saves a route that has headings, which the form does not show.
func TestRouteKeepsHeadings(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	made := owner.post("/integrations/new?product=curl", "name", "Shared")
	id := strings.TrimPrefix(made.base(), "/integrations/")
	call := func(path, body string) string {
		t.Helper()
		r, err := http.Post(w.url+path+"?app_key="+ownerKey, "application/json", strings.NewReader(body))
		w.must(err)
		defer r.Body.Close()
		reply, err := io.ReadAll(r.Body)
		w.must(err)
		if r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", path, reply)
		}
		return string(reply)
	}
	call("/route/upsert", `{"integration_id": `+id+`, "cases": [{"if": [{"key": "labels.a", "oper": "IN", "vals": ["1"]}], "channel_ids": [7000000000041]}], "sections": [{"name": "Shops", "position": 0}]}`)
	version := regexp.MustCompile(`name="version" value="(\d+)"`).FindStringSubmatch(owner.get(made.base() + "/route").body)[1]
	fields := []string{"version", version, "case.0.here", "1", "case.0.0.0.key", "labels.b", "case.0.0.0.oper", "IN", "case.0.0.0.vals", "2", "case.0.channel", "7000000000041", "default", "7000000000041", "do", "save"}
	owner.post(made.base()+"/route", fields...).shows("b is 2")
	if reply := call("/route/info", `{"integration_id": `+id+`}`); !strings.Contains(reply, `"Shops"`) {
		t.Errorf("the heading is lost: %s", reply)
	}
	owner.post(made.base()+"/route", fields...).showsWith(http.StatusBadRequest, "was changed meanwhile")
}

// TestUnknownSeverityIsMappedByOneTap pushes an unknown word, maps the word, and edits the map in the form.
func TestUnknownSeverityIsMappedByOneTap(t *testing.T) {
	w := begin(t)
	owner := w.signIn(ownerKey)
	made := owner.post("/integrations/new?product=alertmanager", "name", "Alertmanager", "channel", "7000000000041", "severities.rows", "1", "severities.0.word", "team a", "severities.0.severity", "Critical")
	made.shows("Its severities", "team a", "!Severities that are unknown")
	address := regexp.MustCompile(`/event/push/alert/prometheus\?integration_key=\w+`).FindString(made.body)
	push := func(word string) {
		t.Helper()
		r, err := http.Post(w.url+address, "application/json", strings.NewReader(`{"alerts": [{"status": "firing", "labels": {"alertname": "Slow", "severity": "`+word+`"}}]}`))
		w.must(err)
		defer r.Body.Close()
		if r.StatusCode != http.StatusOK {
			t.Fatal(r.Status)
		}
		w.settle()
	}
	push("<b>Tier 1")
	owner.get(made.base()).shows("Severities that are unknown", "&lt;b&gt;tier 1", "Events: 1", `name="to" value="Critical"`)
	w.signIn(annKey).get(made.base()).shows("&lt;b&gt;tier 1", `!name="to"`)
	w.signIn(annKey).post(made.base()+"/severity", "word", "<b>tier 1", "to", "Info").showsWith(http.StatusForbidden)
	owner.get("/lint").shows("Severities that are unknown", "integration &#34;Alertmanager&#34; sends severities unknown to Tocsin: &lt;b&gt;tier 1 (once)")
	owner.post(made.base()+"/severity", "word", "<b>tier 1", "to", "Loud").showsWith(http.StatusBadRequest, "must map")
	owner.post(made.base()+"/severity", "word", "<b>tier 1", "to", "Critical").shows("!Severities that are unknown", "&lt;b&gt;tier 1", "team a")
	owner.get("/lint").shows("!sends severities unknown")
	edit := made.base() + "/edit"
	owner.get(edit).shows(`name="severities.0.word" value="&lt;b&gt;tier 1"`, `name="severities.1.word" value="team a"`, `name="severities.2.word" value=""`)
	owner.post(edit, "name", "Alertmanager", "severities.rows", "2", "severities.0.word", "a=b", "severities.0.severity", "Info", "severities.1.word", "team b").showsWith(http.StatusBadRequest, "team b", `value="a=b"`)
	owner.post(edit, "name", "Renamed", "channel", "7000000000041").shows("Renamed", "team a") // a form without the map keeps the map
	owner.post(edit, "name", "Renamed", "severities.rows", "3", "severities.0.word", "a=b", "severities.0.severity", "Info", "severities.1.word", "", "severities.2.word", " page ",
		"severities.2.severity", "Warning", "ref", "am-1").shows("a=b", "page", "!team a")
	owner.post(edit, "name", "Renamed", "severities.rows", "0").shows("!Its severities")
	owner.get(edit).shows(`name="ref" value=""`)
	owner.get(probePath + "/edit").shows("!severities.0.word")
}

// base returns the path of a page without its parameters.
func (a answer) base() string {
	path, _, _ := strings.Cut(a.path, "?")
	return path
}

var (
	shownText = regexp.MustCompile(`(?s)<pre>(.*?)</pre>`)
	aCommand  = regexp.MustCompile(`(?s)^curl (?:-X POST )?'([^']+)'(?: \\\n  -H 'Content-Type: application/json' \\\n  -d '(.*)')?$`)
)

// TestEveryCommandOfGalleryIsAccepted makes an integration of each product and sends the examples of its page: the server accepts
// them, and the page that waited shows the last event.
func TestEveryCommandOfGalleryIsAccepted(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	products := regexp.MustCompile(`href="(/integrations/new\?product=(\w+))"`).FindAllStringSubmatch(owner.get("/integrations/new").body, -1)
	if len(products) < 9 {
		t.Fatalf("%d products", len(products))
	}
	for _, p := range products {
		made := owner.post(p[1], "name", "Of "+p[2], "channel", "7000000000041", "interval", "300").shows("Of " + p[2])
		watch := p[2] == "heartbeat" || p[2] == "change"
		if !watch {
			made.shows("Waiting for the first event", "data-live")
		}
		sent := 0
		send := func(address, body string) {
			t.Helper()
			sent++
			address = strings.Replace(address, "http://tocsin.example.com", w.url, 1)
			r, err := http.Post(address, "application/json", strings.NewReader(body))
			w.must(err)
			r.Body.Close()
			if r.StatusCode >= 300 {
				t.Errorf("%s: %s for %s", p[2], r.Status, body)
			}
		}
		address := ""
		for _, m := range shownText.FindAllStringSubmatch(made.body, -1) {
			text := html.UnescapeString(m[1])
			if command := aCommand.FindStringSubmatch(text); command != nil {
				send(command[1], command[2])
			} else if strings.HasPrefix(text, "http") {
				address = text
			} else if p[2] == "datadog" && strings.HasPrefix(text, "{\"") {
				send(address, text)
			}
		}
		if sent == 0 {
			t.Errorf("%s: nothing to try", p[2])
		}
		w.settle()
		if !watch {
			owner.get(made.base()).shows("!Waiting for the first event", "in the last 7 days", `href="/alerts/`)
		}
	}
}

// TestZabbixMediaTypeHasAddress downloads the media type: it has the address of the server.
func TestZabbixMediaTypeHasAddress(t *testing.T) {
	t.Parallel()
	w := begin(t, func(c *app.Config) { c.PublicURL = "https://alarm.example.org/" })
	owner := w.signIn(ownerKey)
	made := owner.post("/integrations/new?product=zabbix", "name", "Zabbix").shows("Download the media type")
	owner.get(made.base()+"/zabbix.yaml").shows("value: 'https://alarm.example.org'", "!tocsin.example.com")
	owner.get(probePath + "/zabbix.yaml").showsWith(http.StatusNotFound)
}
