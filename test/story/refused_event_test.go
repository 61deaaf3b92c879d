package story

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"tocsin/internal/app"
)

// batch is a request of standard alerts.
func batch(n int) string {
	events := make([]string, n)
	for i := range events {
		events[i] = fmt.Sprintf(`{"title_rule": "Trouble", "event_status": "Info", "alert_key": "k%d"}`, i)
	}
	return "[" + strings.Join(events, ",") + "]"
}

func (w *world) pushAll(body string) reply {
	w.t.Helper()
	return w.post("/event/push/alert/standard?integration_key="+shopKey, body)
}

// A bigger outage than the server's limits: what fits is taken, and the rest is named, counted and notified.
func TestWhatIsBeyondLimitIsNamedAndCounted(t *testing.T) {
	t.Parallel()
	w := beginWith(t, func(c *app.Config) { c.PushAlerts = 50 })
	w.do("/channel/disable", `{"channel_id": %d}`, shop)
	r := w.pushAll(batch(70))
	w.want(r, "events.49.alert_key", "k49")
	w.want(r, "events.50.alert_key", "")
	w.want(r, "refused.0.index", "50")
	w.want(r, "refused.0.count", "20")
	w.settle()
	w.want(w.do("/integration/info", `{"integration_id": %d}`, sink), "refused.0.reason", "too_many")
	w.want(w.do("/integration/info", `{"integration_id": %d}`, sink), "refused.0.events", "20")
	w.metrics(fmt.Sprintf(`tocsin_events_refused_total{integration="%d",reason="too_many"} 20`, sink))
	if status, body := w.page("/health/ready"); status != 200 || !strings.Contains(body, fmt.Sprintf(`{"integration_id":%d,"reason":"too_many","events":20}`, sink)) {
		t.Errorf("/health/ready: %d %s", status, body)
	}
	if p := w.last(); !strings.Contains(p.subject, "20 events refused in 5 minutes: too many alerts in a request") {
		t.Error(p.subject)
	}
	w.notified(newPage("olga"))
	w.pass(4 * time.Minute)
	w.notified()
	w.restart()
	w.pass(2 * time.Minute)
	if p := w.last(); !strings.Contains(p.subject, "Over: Integration Shop events") {
		t.Error(p.subject)
	}
	w.notified(newPage("olga")) // the owner is notified that it is over
	w.want(w.do("/integration/info", `{"integration_id": %d}`, sink), "refused.0.events", "20")
}

// In the integration's channel it is an alert like any other, which ends by itself.
func TestRefusedEventsAreAlertInTheirChannel(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	if r := w.pushAll(`[{"title_rule": "x"}]`); r.Status != 400 {
		t.Fatal(r)
	}
	w.settle()
	if p := w.last(); !strings.Contains(p.subject, "[Warning] ") || !strings.Contains(p.subject, ": 1 events refused in 5 minutes: malformed events") {
		t.Error(p.subject)
	}
	w.notified(newPage("ann"))
	for range 20 { // it goes on, and is notified once
		w.pass(time.Minute)
		w.pushAll(`{"title_rule": "x"}`)
	}
	w.notified()
	w.pass(6 * time.Minute)
	w.notified(over("ann"))
}

// What Alertmanager left out because of its max_alerts is kept, shown and counted.
func TestAlertsThatSenderLeftOutAreCounted(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	alerts := make([]string, 10)
	for i := range alerts {
		alerts[i] = fmt.Sprintf(`{"status": "firing", "fingerprint": "f%d", "labels": {"alertname": "A", "severity": "info"}}`, i)
	}
	r := w.post("/event/push/alert/prometheus?integration_key="+shopKey, `{"version": "4", "truncatedAlerts": 1490, "groupKey": "g", "alerts": [`+strings.Join(alerts, ",")+`]}`)
	w.want(r, "truncated", "1490")
	w.settle()
	info := w.do("/integration/info", `{"integration_id": %d}`, sink)
	w.want(info, "refused.0.reason", "truncated")
	w.want(info, "refused.0.events", "1490")
	w.want(info, "refused.0.detail", "the sender sent 10 of 1,500 alerts")
	found := false
	for _, p := range w.newPages() {
		found = found || strings.Contains(p.subject, "1,490 events refused in 5 minutes: left out by the sender")
	}
	if !found {
		t.Error("the alert was not notified")
	}
}

// A flood of refused requests costs one alert, a line a minute, and no write for each.
func TestFloodOfRefusedRequestsIsOneAlert(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	w := beginWith(t, func(c *app.Config) {
		c.Log = slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}, notifyAnn)
	w.do("/integration/disable", `{"integration_id": %d}`, sink)
	w.clock.Add(time.Second)
	for range 3 {
		for range 100 {
			if r := w.pushAll(batch(1)); r.Status != 400 || !strings.Contains(r.Error.Message, "disabled") {
				t.Fatal(r)
			}
		}
		w.pass(5 * time.Second)
	}
	w.pass(time.Minute)
	w.notified(newPage("ann"))
	if n := w.count(`SELECT count(*) FROM refused`); n != 1 {
		t.Errorf("%d rows", n)
	}
	if n := w.count(`SELECT sum(events) FROM refused`); n != 300 {
		t.Errorf("%d events are counted", n)
	}
	if n := strings.Count(lines.String(), "events were refused"); n != 2 {
		t.Errorf("%d lines: %s", n, lines.String())
	}
	for _, want := range []string{"reason=disabled events=100\n", "reason=disabled events=200\n"} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("the log lacks %s: %s", want, lines.String())
		}
	}
}

// A push is taken as soon as its integration is enabled.
func TestPushRightAfterEnableIsTaken(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	for range 3 {
		w.do("/integration/disable", `{"integration_id": %d}`, sink)
		w.clock.Add(time.Second)
		if r := w.pushAll(batch(1)); r.Status != 400 {
			t.Fatal(r)
		}
		w.do("/integration/enable", `{"integration_id": %d}`, sink)
		if r := w.pushAll(batch(1)); r.Status != 200 {
			t.Fatal(r)
		}
	}
}

// A sender with the old key is counted, and does not use up the limit of the others.
func TestReplacedKeyIsCounted(t *testing.T) {
	t.Parallel()
	w := beginWith(t, func(c *app.Config) {
		c.LimitPerSecond = 50
		c.LimitPerMinute = 1000
		c.PushPerSecond = 10
		c.PushPerMinute = 100
	}, notifyAnn)
	key := w.do("/integration/key/rotate", `{"integration_id": %d}`, sink).get("integration_key")
	w.clock.Add(time.Second)
	for range 20 {
		if r := w.pushAll(batch(1)); r.Status != 400 && r.Status != 429 {
			t.Fatal(r)
		}
	}
	if r := w.post("/event/push/alert/standard?integration_key="+key, batch(1)); r.Status != 200 {
		t.Error(r)
	}
	w.settle()
	info := w.do("/integration/info", `{"integration_id": %d}`, sink)
	w.want(info, "refused.0.reason", "key")
	w.want(info, "refused.0.events", "10")
	w.want(info, "refused.1.reason", "rate")
	w.want(info, "refused.1.events", "10")
}

// A new channel groups as Alertmanager does: what it sends of one group is one incident.
func TestNewChannelGroupsAsItsSource(t *testing.T) {
	t.Parallel()
	w := begin(t)
	made := w.do("/channel/create", `{"channel_name": "New", "team_id": 0}`).get("channel_id")
	if warnings := w.do("/channel/create", `{"channel_name": "Each", "team_id": 0, "group": {"method": "n"}}`).get("warnings.0"); !strings.Contains(warnings, "an incident for every alert") {
		t.Error(warnings)
	}
	key := w.do("/integration/create", `{"integration_name": "AM", "integration_type": "prometheus", "channel_id": %s}`, made).get("integration_key")
	for _, group := range []string{"a", "b"} {
		for part := range 3 {
			alerts := make([]string, 10)
			for i := range alerts {
				alerts[i] = fmt.Sprintf(`{"status": "firing", "fingerprint": "%s%d-%d", "labels": {"alertname": "A"}}`, group, part, i)
			}
			body := fmt.Sprintf(`{"version": "4", "groupKey": %q, "alerts": [%s]}`, "{}:{alertname="+group+"}", strings.Join(alerts, ","))
			if r := w.post("/event/push/alert/prometheus?integration_key="+key, body); r.Error != nil {
				t.Fatal(r)
			}
			w.settle()
			w.pass(time.Minute)
		}
	}
	if n := w.count(`SELECT count(*) FROM incident`); n != 2 {
		t.Errorf("%d incidents of two groups", n)
	}
	if n := w.count(`SELECT count(*) FROM incident WHERE alert_cnt = 30`); n != 2 {
		t.Errorf("%d incidents have the alerts of their group", n)
	}
}
