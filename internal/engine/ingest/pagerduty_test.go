package ingest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/ratelimit"
)

const keyPager, keyChange = "33112233445566778899aabbccddeeff131", "44112233445566778899aabbccddeeff131"

// pagerReply has every member that a client of PagerDuty reads, and the members of our own replies.
type pagerReply struct {
	status      int
	retryAfter  string
	Status      string
	Message     string
	DedupKey    string `json:"dedup_key"`
	IncidentKey string `json:"incident_key"`
	Errors      []string
	RequestID   string `json:"request_id"`
	Data        struct {
		AlertKey string `json:"alert_key"`
		ChangeID string `json:"change_id"`
	}
	Error json.RawMessage // PagerDuty's client for Go cannot read ours
}

// pagerFixture has integrations of types pagerduty and change as well.
func pagerFixture(t *testing.T, rate ratelimit.Rate) *fixture {
	r := newFixture(t, rate)
	r.Write(func(tx *db.Tx) error {
		return integration.Load(tx, apitest.Box(t), apitest.AccountA, []integration.Integration{
			{IntegrationID: 7000000000061, IntegrationName: "pager", IntegrationType: "pagerduty", IntegrationKey: keyPager},
			{IntegrationID: 7000000000062, IntegrationName: "changes", IntegrationType: "change", IntegrationKey: keyChange},
		})
	})
	for path, endpoint := range r.PagerDuty() {
		r.mux.Handle(path, r.Frame.Endpoint(endpoint))
	}
	return r
}

func (r *fixture) page(method, path, body string) (p pagerReply) {
	r.t.Helper()
	status, header := r.exchange(method, strings.TrimSuffix(r.url, "/event/push/")+path, []byte(body), &p)
	p.status, p.retryAfter = status, header.Get("Retry-After")
	return p
}

const (
	enqueue = "/v2/enqueue"
	generic = "/generic/2010-04-15/create_event.json"
	changes = "/v2/change/enqueue"
)

// TestPagerDutyReplies: clients of PagerDuty need its status, words and key at its addresses, and at the address of the source.
func TestPagerDutyReplies(t *testing.T) {
	t.Parallel()
	r := pagerFixture(t, ratelimit.Rate{})
	for _, c := range []struct{ path, body, key string }{
		{enqueue, `{"routing_key": "KEY", "event_action": "trigger", "dedup_key": "d", "payload": {"summary": "x", "source": "y", "severity": "critical"}}`, "d"},
		{enqueue, `{"routing_key": "KEY", "event_action": "acknowledge", "dedup_key": "d"}`, "d"},
		{enqueue, `{"routing_key": "KEY", "event_action": "resolve", "dedup_key": "d"}`, "d"},
		{generic, `{"service_key": "KEY", "event_type": "trigger", "incident_key": "i", "description": "x"}`, "i"},
		{generic, `{"service_key": "KEY", "event_type": "acknowledge", "incident_key": "i"}`, "i"},
		{generic, `{"service_key": "KEY", "event_type": "resolve", "incident_key": "i"}`, "i"},
		{"/event/push/alert/pagerduty", `{"routing_key": "KEY", "event_action": "trigger", "dedup_key": "d", "payload": {"summary": "x"}}`, "d"},
		{"/event/push/alert/pagerduty?integration_key=" + keyPager, `{"event_action": "trigger", "dedup_key": "d", "payload": {"summary": "x"}}`, "d"},
	} {
		p := r.page("POST", c.path, strings.Replace(c.body, "KEY", keyPager, 1))
		if p.status != 202 || p.Status != "success" || p.Message != "Event processed" || p.DedupKey != c.key || p.IncidentKey != c.key || p.RequestID == "" {
			t.Errorf("%s %s: %+v", c.path, c.body, p)
		}
	}
	if n := len(r.stored()); n != 6 {
		t.Errorf("%d events, want 6", n)
	}
}

// TestPagerDutyKeyOfServerResolves: a client that sends no key gets one, which names the same alert.
func TestPagerDutyKeyOfServerResolves(t *testing.T) {
	t.Parallel()
	r := pagerFixture(t, ratelimit.Rate{})
	made := r.page("POST", enqueue, `{"routing_key": "`+keyPager+`", "event_action": "trigger", "payload": {"summary": "x", "source": "y", "severity": "info"}}`)
	over := r.page("POST", enqueue, `{"routing_key": "`+keyPager+`", "event_action": "resolve", "dedup_key": "`+made.DedupKey+`"}`)
	if made.DedupKey == "" || made.DedupKey != made.Data.AlertKey || over.status != 202 || over.Data.AlertKey != made.DedupKey {
		t.Errorf("%+v %+v", made, over)
	}
}

// TestPagerDutyRefusals: an error has PagerDuty's members, and none whose type its clients cannot read.
func TestPagerDutyRefusals(t *testing.T) {
	t.Parallel()
	r := pagerFixture(t, ratelimit.Rate{})
	key := func(k, more string) string { return `{"routing_key": "` + k + `"` + more + `}` }
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", enqueue, `{}`, 400, "routing_key is not valid: is required"},
		{"POST", changes, `{}`, 400, "routing_key is not valid: is required"},
		{"POST", enqueue, `no JSON`, 400, "routing_key"},
		{"POST", enqueue, key("guessed", ""), 400, "is not a valid one"},
		{"POST", enqueue, key(keyPager, `, "event_action": "trigger"`), 400, "payload.summary is not valid: is required"},
		{"POST", enqueue, key(keyPager, `, "event_action": "resolve"`), 400, "dedup_key"},
		{"POST", enqueue, key(keyBeats, ""), 400, "of type heartbeat, which takes no alerts"},
		{"POST", changes, key(keyMine, `, "payload": {"summary": "x"}`), 400, "of type standard: it must be pagerduty or change"},
		{"POST", changes, key(keyPager, `, "payload": {}`), 400, "payload.summary"},
		{"POST", enqueue, key(keyPager, `, "pad": "`+strings.Repeat("x", 512<<10)+`"`), 413, "524288"},
		{"GET", enqueue, ``, 405, "POST"},
	} {
		p := r.page(c.method, c.path, c.body)
		if p.status != c.status || p.Status != "invalid event" || len(p.Errors) != 1 || !strings.Contains(p.Message, c.says) || p.Errors[0] != p.Message || p.Error != nil || p.RequestID == "" {
			t.Errorf("%s %.60s: %+v, want %d %s", c.path, c.body, p, c.status, c.says)
		}
	}
	if all := r.stored(); len(all) > 0 {
		t.Errorf("stored %v", all)
	}
}

// TestPagerDutyLimits: the rate of an integration holds for all addresses together, and guessed keys use up the guesses of
// the network.
func TestPagerDutyLimits(t *testing.T) {
	t.Parallel()
	r := pagerFixture(t, ratelimit.Rate{PerSecond: 3, PerMinute: 30})
	event := `{"routing_key": "` + keyPager + `", "event_action": "acknowledge", "dedup_key": "d", "payload": {"summary": "x"}}`
	for n, path := range []string{enqueue, generic, changes, enqueue, changes} {
		p := r.page("POST", path, event)
		if limited := n > 2; limited != (p.status == 429) || limited && (p.Status != "throttle exceeded" || p.retryAfter == "") {
			t.Errorf("%d %s: %+v", n, path, p)
		}
	}
	for n := range 302 { // of 300 in a minute
		if p := r.page("POST", []string{enqueue, changes}[n%2], `{"routing_key": "guessed"}`); p.status == 429 {
			return
		}
	}
	t.Error("keys can be guessed without end")
}

// TestPagerDutyChanges: one key is for alerts and changes, as in PagerDuty.
func TestPagerDutyChanges(t *testing.T) {
	t.Parallel()
	r := pagerFixture(t, ratelimit.Rate{})
	ids := map[string]bool{}
	for _, key := range []string{keyPager, keyChange} {
		for range 2 { // sent again, it is the same change
			p := r.page("POST", changes, `{"routing_key": "`+key+`", "payload": {"summary": "Deployed", "source": "ci", "timestamp": "2026-04-13T03:00:00Z"}}`)
			if p.status != 202 || p.Status != "success" || p.Message != "Change event processed" || p.Data.ChangeID == "" {
				t.Errorf("%+v", p)
			}
			ids[p.Data.ChangeID] = true
		}
	}
	if len(ids) != 2 {
		t.Errorf("%v, want a change of each integration", ids)
	}
}

// TestGrafanaMayPut: PUT is an option of its webhooks.
func TestGrafanaMayPut(t *testing.T) {
	t.Parallel()
	r := newFixture(t, ratelimit.Rate{})
	for path, body := range map[string]string{
		"alert/grafana?integration_key=" + keyMine:  `{"alerts": [{"status": "firing", "labels": {"alertname": "x"}}]}`,
		"alert/standard?integration_key=" + keyMine: one,
		"heartbeat?integration_key=" + keyBeats:     ``,
	} {
		if a := r.send("PUT", path, []byte(body)); a.status != 200 {
			t.Errorf("%s: %d %s", path, a.status, a.Error.Message)
		}
	}
	if a := r.send("PUT", "change/standard?integration_key="+keyMine, []byte(one)); a.status != 400 {
		t.Errorf("change: %d %s", a.status, a.Error.Message)
	}
}
