package story

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"tocsin/internal/app"
)

func TestWrongKeyIsRefused(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	body := `{"title_rule": "cpu", "event_status": "Critical"}`
	for query, want := range map[string]string{"": "integration_key is not valid: is required", "?integration_key=nobodys": "integration_key is not a valid one"} {
		r := w.post("/event/push/alert/standard"+query, body)
		if r.Status != 400 || r.Error == nil || r.Error.Code != "InvalidParameter" || !strings.Contains(r.Error.Message, want) {
			t.Errorf("%q: %s", query, r)
		}
	}
	if r := w.post("/event/push/alert/nonsense?integration_key="+shopKey, body); r.Status != 404 || r.Error.Code != "RouteNotFound" {
		t.Error(r)
	}
	w.do("/integration/disable", `{"integration_id": %d}`, sink)
	w.clock.Add(time.Second)
	if r := w.post("/event/push/alert/standard?integration_key="+shopKey, body); r.Status != 400 || !strings.Contains(r.Error.Message, "disabled") {
		t.Error(r)
	}
}

func TestOneMalformedAlertCostsNoOther(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	r := w.post("/event/push/alert/standard?integration_key="+shopKey, `[{"title_rule": "a", "event_status": "Critical", "alert_key": "a"}, {"title_rule": "b", "event_status": "bad"}, {"title_rule": "c", "event_status": "Critical", "alert_key": "c"}]`)
	w.want(r, "events.1.alert_key", "c")
	w.want(r, "refused.0.field", "[1].event_status")
	w.settle()
	w.notified(newPage("ann"), newPage("ann"), newPage("ann")) // and that events are refused
	if r := w.post("/event/push/alert/standard?integration_key="+shopKey, `[{"title_rule": "b"}, {}]`); r.Status != 400 || !strings.Contains(r.Error.Message, "none of the 2 alerts") {
		t.Error(r)
	}
}

// What other systems send, as they send it.
func TestEverySourceIsTaken(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	for file, source := range map[string]string{"firing": "prometheus", "unified": "grafana", "problem": "zabbix", "event_alert": "sentry", "v1": "pagerduty"} {
		body, err := os.ReadFile("../../internal/source/" + source + "/testdata/" + file + ".json")
		w.must(err)
		if r := w.post("/event/push/alert/"+source+"?integration_key="+shopKey, string(body)); r.Error != nil {
			t.Errorf("%s: %s", file, r)
		}
	}
	r := w.post("/event/push/alert/pagerduty", fmt.Sprintf(`{"routing_key": %q, "event_action": "trigger", "payload": {"summary": "by its own key", "severity": "info", "source": "x"}}`, shopKey))
	w.want(r, "events.0.event_id", r.get("events.0.event_id"))
	if r.Error != nil {
		t.Error(r)
	}
	w.settle() // one page is that some events of the payloads were refused
	w.notified(newPage("ann"), newPage("ann"), newPage("ann"), newPage("ann"), newPage("ann"), newPage("ann"), newPage("ann"), newPage("ann"))
}

// A client of PagerDuty that lets the server make the key of its alert pages, and resolves with that key; what it deployed is
// a change.
func TestClientOfPagerDutyPagesAndResolves(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, fmt.Sprintf(`{"integrations": [{"integration_id": 7000000000057, "integration_name": "Pager", "integration_type": "pagerduty", "channel_id": %d, "integration_key": %q}]}`, shop, pagerKey))
	r := w.post("/v2/enqueue", fmt.Sprintf(`{"routing_key": %q, "event_action": "trigger", "payload": {"summary": "Disk is full", "source": "db-1", "severity": "critical"}}`, pagerKey))
	if r.Status != 202 {
		t.Fatalf("%d %s", r.Status, r)
	}
	w.settle()
	w.notified(newPage("ann"))
	w.post("/v2/enqueue", fmt.Sprintf(`{"routing_key": %q, "event_action": "resolve", "dedup_key": %q}`, pagerKey, r.get("alert_key")))
	w.settle()
	w.notified(over("ann"))
	r = w.post("/v2/change/enqueue", fmt.Sprintf(`{"routing_key": %q, "payload": {"summary": "Deployed 1.4.2"}}`, pagerKey))
	w.settle()
	w.notified()
	w.want(w.do("/change/list", `{}`), "items.0.change_id", r.get("change_id"))
	r = w.post("/generic/2010-04-15/create_event.json", fmt.Sprintf(`{"service_key": %q, "event_type": "trigger", "description": "Disk is full again"}`, pagerKey))
	w.settle()
	w.notified(newPage("ann"))
	if r.Status != 202 {
		t.Errorf("%d %s", r.Status, r)
	}
}

const pagerKey = "55112233445566778899aabbccddeeff131"

// Datadog's command line sends source maps to a path of its own.
func TestSourceMapsAtPathOfDatadog(t *testing.T) {
	t.Parallel()
	w := begin(t)
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	w.must(parts.WriteField("event", `{"type": "js_sourcemap", "service": "shop", "version": "1.4.2", "minified_url": "/assets/app.min.js"}`))
	w.must(parts.WriteField("source_map", `{"version": 3, "sources": ["a.ts"], "sourcesContent": ["a()"], "names": [], "mappings": "AAAA"}`))
	w.must(parts.Close())
	request, err := http.NewRequest(http.MethodPost, w.http.URL+"/api/v2/srcmap", &form)
	w.must(err)
	request.Header.Set("Content-Type", parts.FormDataContentType())
	request.Header.Set("DD-API-KEY", ownKey)
	answer, err := http.DefaultClient.Do(request)
	w.must(err)
	answer.Body.Close()
	if answer.StatusCode != 200 {
		t.Fatal(answer.Status)
	}
	now := w.clock.Now().UnixMilli()
	w.want(w.do("/sourcemap/list", `{"start_time": %d, "end_time": %d}`, now-1000, now+1000), "items.0.version", "1.4.2")
}

const beatKey = "0123456789abcdef0123456789abcdef777"

func heartbeats() string {
	return fmt.Sprintf(`{"integrations": [{"integration_id": 7000000000054, "integration_name": "Backup", "integration_type": "heartbeat", "channel_id": %d, "integration_key": %q, "settings": {"interval_seconds": 300}}]}`, shop, beatKey)
}

func (w *world) beat() {
	w.t.Helper()
	answer, err := http.Get(w.http.URL + "/event/push/heartbeat?integration_key=" + beatKey)
	w.must(err)
	answer.Body.Close()
	if answer.StatusCode != 200 {
		w.t.Fatalf("heartbeat: %s", answer.Status)
	}
	w.settle()
}

func TestSilentHeartbeatIsAlert(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, heartbeats())
	w.beat()
	for range 3 {
		w.pass(4 * time.Minute)
		w.beat()
	}
	w.notified()
	w.pass(5*time.Minute + 10*time.Second)
	if p := w.last(); p.subject != "[Critical] Backup is silent: all of its alerts may be missing" {
		t.Error(p.subject)
	}
	w.notified(newPage("ann"))
	w.restart()
	w.pass(10 * time.Minute)
	w.notified()
	w.beat()
	w.notified(over("ann"))
}

func TestHeartbeatThatNeverCameIsAlert(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, heartbeats())
	w.settle()
	w.pass(4 * time.Minute)
	w.notified()
	w.pass(2 * time.Minute)
	w.notified(newPage("ann"))
}

func TestDisabledHeartbeatIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, heartbeats())
	w.beat()
	w.do("/integration/disable", `{"integration_id": 7000000000054}`)
	w.pass(time.Hour)
	w.notified()
}

func TestChangeEventIsStoredAndPagesNoOne(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, `{"integrations": [{"integration_id": 7000000000055, "integration_name": "Deploys", "integration_type": "change", "integration_key": "0123456789abcdef0123456789abcdef888"}]}`)
	r := w.post("/event/push/change/standard?integration_key=0123456789abcdef0123456789abcdef888", `{"title": "Checkout 4.2", "change_key": "c42", "change_status": "Done"}`)
	if r.Error != nil || r.get("change_id") == "" {
		t.Fatal(r)
	}
	w.want(w.do("/change/list", `{}`), "items.0.title", "Checkout 4.2")
	if r := w.post("/event/push/alert/standard?integration_key=0123456789abcdef0123456789abcdef888", `{"title_rule": "a", "event_status": "Info"}`); r.Error == nil || !strings.Contains(r.Error.Message, "takes no alerts") {
		t.Error(r)
	}
	w.notified()
}

func TestOneIntegrationHasItsLimits(t *testing.T) {
	t.Parallel()
	w := beginWith(t, func(c *app.Config) {
		c.LimitPerSecond = 50
		c.LimitPerMinute = 1000
		c.PushPerSecond = 100
	}, notifyAnn)
	refused := 0
	for i := range 101 {
		r := w.post("/event/push/alert/standard?integration_key="+shopKey, fmt.Sprintf(`{"title_rule": "a", "event_status": "Info", "alert_key": "%d"}`, i))
		if r.Status == 429 {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d of 101 within a second were refused, want 1", refused)
	}
	if r := w.post("/event/push/alert/standard?integration_key="+sharedKey, `{"title_rule": "a", "event_status": "Info"}`); r.Error != nil {
		t.Errorf("another integration: %s", r)
	}
}
