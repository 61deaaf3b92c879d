package story

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tocsin/internal/app"
)

func (w *world) page(path string) (int, string) {
	w.t.Helper()
	answer, err := http.Get(w.http.URL + path)
	w.must(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	w.must(err)
	return answer.StatusCode, string(body)
}

// A server that does not process due rows reports it before a page is missed.
func TestOverdueWorkIsReported(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	if status, body := w.page("/health/ready"); status != 200 || !strings.Contains(body, `"status":"ok"`) {
		t.Errorf("%d %s", status, body)
	}
	w.post("/event/push/alert/standard?integration_key="+shopKey, `{"title_rule": "cpu", "event_status": "Critical", "alert_key": "cpu"}`)
	w.clock.Add(2 * time.Minute) // and no job decides it
	if status, body := w.page("/health/ready"); status != 503 || !strings.Contains(body, "the oldest due event is 120 seconds overdue") {
		t.Errorf("%d %s", status, body)
	}
	if _, body := w.page("/metrics"); !strings.Contains(body, `tocsin_oldest_due_seconds{work="event"} 120`) || !strings.Contains(body, `tocsin_due_rows{work="event"} 1`) {
		t.Error("the metrics do not say so")
	}
	w.fail("ann", never)
	w.settle()
	if status, body := w.page("/health/ready"); status != 200 || !strings.Contains(body, `"notices_failed_last_hour":1`) {
		t.Errorf("%d %s", status, body)
	}
	if _, body := w.page("/metrics"); !strings.Contains(body, `tocsin_events_decided_total{outcome="opened"} 1`) || !strings.Contains(body, `tocsin_notices_total{outcome="failed",way="email"} 1`) {
		t.Error("the metrics do not count")
	}
}

// The heartbeat stops when due rows are not processed.
func TestSignOfLifeStopsWithWork(t *testing.T) {
	t.Parallel()
	var signs atomic.Int64
	outside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { signs.Add(1) }))
	defer outside.Close()
	w := beginWith(t, func(c *app.Config) { c.Senders.AliveURL = outside.URL }, notifyAnn)
	w.settle()
	if signs.Load() != 1 {
		t.Fatalf("%d signs", signs.Load())
	}
	w.sql(`INSERT INTO incident (account_id, incident_id, title, channel_id, progress) VALUES (7000000000001, 'x', '', 0, 'Triggered')`)
	w.sql(`INSERT INTO escalation (account_id, incident_id, run, rule_id, rule_name, rule, timing, started_at, done, next_at, ended) VALUES (7000000000001, 'x', 1, '', '', 'not JSON', '{}', 1, 0, 1, '')`)
	w.clock.Add(2 * time.Minute)
	if err := w.trySettle(); err == nil || !strings.Contains(err.Error(), "the oldest due escalation is") {
		t.Errorf("%v", err)
	}
	if signs.Load() != 1 {
		t.Errorf("%d signs, though escalations stand still", signs.Load())
	}
}

// Events that wait to be matched with webhooks are due work too.
func TestWaitingWebhookEventsAreReported(t *testing.T) {
	t.Parallel()
	w := begin(t, hooks("alert", at(receive(t, nil))))
	w.push("cpu", "Critical")
	w.settle()
	w.sql(`INSERT INTO webhook_event (account_id, number, token, webhook_type, event_type, channel_id, ref_id, happened_at, payload, matched)
		VALUES (7000000000001, 1, 't', 'alert', 'a_new', 0, 'x', ` + strconv.FormatInt(w.clock.Now().UnixMilli(), 10) + `, '{}', 0)`)
	w.clock.Add(2 * time.Minute) // and no job matches it
	if status, body := w.page("/health/ready"); status != 503 || !strings.Contains(body, "the oldest due webhook event is 120 seconds overdue") {
		t.Errorf("%d %s", status, body)
	}
	w.settle()
	if status, body := w.page("/health/ready"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}
