package story

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// fires sends an alert of Alertmanager to the shop: its fingerprint, severity, summary, and further labels as name=value.
func (w *world) fires(key, severity, summary string, labels ...string) {
	w.t.Helper()
	w.fromAlertmanager("firing", key, severity, summary, labels...)
}

func (w *world) fromAlertmanager(status, key, severity, summary string, labels ...string) {
	w.t.Helper()
	all := map[string]string{"alertname": "DiskFull", "severity": strings.ToLower(severity)}
	for _, l := range labels {
		name, value, _ := strings.Cut(l, "=")
		all[name] = value
	}
	now := w.clock.Now().Format(time.RFC3339)
	body, err := json.Marshal(map[string]any{"alerts": []any{map[string]any{
		"status": status, "fingerprint": key, "startsAt": now, "endsAt": now, "labels": all, "annotations": map[string]string{"summary": summary},
	}}})
	w.must(err)
	if r := w.post("/event/push/alert/prometheus?integration_key="+shopKey, string(body)); r.Error != nil {
		w.t.Fatal(r)
	}
	w.settle()
}

// silences makes Ann silence the alert of a key, and returns the rule.
func (w *world) silences(key, members string) (rule string) {
	w.t.Helper()
	now := w.clock.Now().Unix()
	alert := w.do("/alert/list", `{"start_time": %d, "end_time": %d, "alert_keys": [%q]}`, now-20*86400, now+3600, key).get("items.0.alert_id")
	return w.as(annKey, "/alert/silence", `{"alert_id": %q, %s}`, alert, members).get("rule_id")
}

// An alert whose text changes with each event stays the same alert.
func TestSilenceByKeyHoldsWhenTextChanges(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.fires("disk", "warning", "Disk of db-1 has 3% left")
	w.notified(newPage("ann"))
	w.silences("disk", `"minutes": 60`)
	w.fires("disk", "warning", "Disk of db-1 has 2% left")
	w.fromAlertmanager("resolved", "disk", "warning", "Disk of db-1 has 2% left")
	w.newPages()
	w.pass(time.Minute)
	w.fires("disk", "warning", "Disk of db-1 has 1% left")
	w.pass(40 * time.Minute)
	w.notified()
	w.pass(4 * time.Minute)
	w.notified(silenceEnds("ann"))
	w.pass(15 * time.Minute)
	w.notified(newPage("ann"))
}

// The first labels in the order of their names need not distinguish two pods.
func TestSilenceByLabelsLeavesOtherNamespaces(t *testing.T) {
	t.Parallel()
	same := []string{"app=shop", "cluster=eu", "container=main", "endpoint=http", "env=prod", "instance=10.0.0.1", "job=pods"}
	w := begin(t, notifyAnn)
	w.fires("cart", "critical", "Pod restarts", append(same, "namespace=cart", "pod=cart-1")...)
	w.notified(newPage("ann"))
	w.silences("cart", `"minutes": 60, "by": "labels"`)
	w.fires("cart2", "critical", "Pod restarts", append(same, "namespace=cart", "pod=cart-2")...)
	w.notified()
	w.fires("payment", "critical", "Pod restarts", append(same, "namespace=payment", "pod=payment-1")...)
	w.notified(newPage("ann"))
}

func TestSilenceLetsRisesThrough(t *testing.T) {
	t.Parallel()
	t.Run("of an open incident", func(t *testing.T) {
		w := begin(t, escalates(layer(persons(ann), again(3, 5))+", "+layer(persons(bob))))
		w.as(annKey, "/preference/update", `{"trigger_notify": {"critical": ["sms"], "warning": ["email"], "info": ["email"]}}`)
		w.fires("disk", "warning", "3% left")
		w.notified(newPage("ann"))
		w.silences("disk", `"minutes": 60`)
		w.pass(20 * time.Minute)
		w.notified()
		w.fires("disk", "critical", "0% left")
		w.pass(time.Minute)
		if len(w.newPages()) == 0 {
			t.Error("the rise to Critical notified no one")
		}
	})
	t.Run("of a muted alert", func(t *testing.T) {
		w := begin(t, notifyAnn)
		w.fires("disk", "warning", "3% left")
		w.silences("disk", `"minutes": 60`)
		w.fromAlertmanager("resolved", "disk", "warning", "3% left")
		w.newPages()
		w.fires("disk", "warning", "2% left")
		w.notified()
		w.fires("disk", "critical", "0% left")
		w.notified(newPage("ann"))
	})
	t.Run("of an alert that falls again", func(t *testing.T) {
		w := begin(t, escalates(layer(persons(ann), window(5))+", "+layer(persons(bob))))
		w.fires("disk", "warning", "3% left")
		w.silences("disk", `"minutes": 60`)
		w.fires("disk", "critical", "0% left")
		w.newPages()
		w.fires("disk", "warning", "1% left")
		w.pass(6 * time.Minute)
		w.notified(newPage("bob"))
	})
	t.Run("of an incident", func(t *testing.T) {
		w := begin(t, notifyAnn)
		w.fires("disk", "warning", "3% left")
		w.notified(newPage("ann"))
		w.as(annKey, "/incident/silence", `{"incident_id": %q, "minutes": 60}`, w.incident())
		w.fromAlertmanager("resolved", "disk", "warning", "3% left")
		w.newPages()
		w.fires("disk", "warning", "3% left")
		w.notified()
		w.fires("disk", "critical", "0% left")
		w.notified(newPage("ann"))
	})
}

func TestUndoneSilenceFreesAlerts(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.fires("disk", "critical", "3% left")
	rule := w.silences("disk", `"minutes": 600`)
	w.fromAlertmanager("resolved", "disk", "critical", "3% left")
	w.newPages()
	w.fires("disk", "critical", "2% left")
	w.pass(time.Minute)
	w.notified()
	w.as(annKey, "/alert/silence/undo", `{"rule_id": %q}`, rule)
	w.notified(newPage("ann"))
}

// Each chat of the channel's rules gets one message about a silence, however many layers name the chat. The explanation
// names the rule.
func TestChatsLearnOfSilences(t *testing.T) {
	t.Parallel()
	chat := func(name string) string {
		return fmt.Sprintf(`"webhooks": [{"type": "slack", "settings": {"token": "%s/slack/%s"}}, {"type": "webhook", "settings": {"url": "%s/webhook/program"}}]`, chats, name, chats)
	}
	w := begin(t, escalates(layer(persons(ann)+", "+chat("ops"))+", "+layer(persons(bob)+", "+chat("ops"))))
	w.fires("disk", "warning", "3% left", "service=db")
	w.newPages()
	rule := w.silences("disk", `"minutes": 60, "by": "labels", "rule_name": "Disks"`)
	pages := w.newPages()
	if len(pages) != 1 || pages[0].to != "ops" || pages[0].subject != "Silenced: 3% left (db)" ||
		!strings.Contains(pages[0].text, "Ann Day silenced 3% left (db) in Shop for 60 minutes, until Sat 21 Nov 11:00 UTC: every alert with alertname DiskFull, service db. It holds up to Warning: what gets worse is not silenced.") {
		t.Errorf("%+v", pages)
	}
	w.fires("disk2", "warning", "3% left", "service=db", "instance=b")
	if words := w.words(w.explained("disk2")); !strings.Contains(words, `Disks`) {
		t.Errorf("%s", words)
	}
	w.as(annKey, "/alert/silence/undo", `{"rule_id": %q}`, rule)
	for _, p := range w.newPages() {
		if p.method == "slack" && strings.HasPrefix(p.subject, "Silence ended: Disks") && strings.Contains(p.text, "Ann Day ended the silence Disks in Shop.") {
			return
		}
	}
	t.Error("the chat did not learn of the end")
}

// A message about an ended silence would mislead.
func TestEndedSilencesAreNotAnnounced(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann)+fmt.Sprintf(`, "webhooks": [{"type": "slack", "settings": {"token": "%s/slack/ops"}}]`, chats))))
	w.fires("disk", "warning", "3% left")
	w.newPages()
	w.fail("slack", later)
	w.silences("disk", `"minutes": 1`)
	w.pass(2 * time.Minute)
	w.acceptAll()
	w.pass(20 * time.Minute)
	for _, p := range w.newPages() {
		if p.method == "slack" && strings.HasPrefix(p.subject, "Silenced") {
			t.Errorf("%s was sent", p)
		}
	}
	if n := w.count(`SELECT count(*) FROM notice WHERE cause = 'silenced' AND status = 'cancelled'`); n != 1 {
		t.Errorf("%d messages were cancelled, want 1", n)
	}
}
