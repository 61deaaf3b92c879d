package story

import (
	"fmt"
	"strings"
	"testing"
)

// alertmanager is a source of the shop whose severities are free words, with settings.
func alertmanager(settings string) string {
	return fmt.Sprintf(`{"integrations": [{"integration_id": 7000000000059, "integration_name": "Alertmanager", "integration_type": "prometheus", "channel_id": %d, "integration_key": %q, "settings": %s}]}`, shop, promKey, settings)
}

// firesLabelled pushes an alert of Prometheus with some labels, such as `"severity": "page"`.
func (w *world) firesLabelled(name, labels string) {
	w.t.Helper()
	r := w.post("/event/push/alert/prometheus?integration_key="+promKey, fmt.Sprintf(`{"alerts": [{"status": "firing", "fingerprint": %q, "labels": {"alertname": %[1]q, %s}}]}`, name, labels))
	if r.Error != nil {
		w.t.Fatalf("push: %s", r)
	}
	w.settle()
}

// Quiet hours hold all but Critical. Other systems' words for Critical page, and a ticket waits.
func TestSeverityPagePagesInQuietHours(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, alertmanager(`{}`))
	w.as(annKey, "/preference/update", `{"quiet_hours": [{"start": "10:00", "end": "14:00"}]}`) // the time in Berlin is eleven
	w.firesLabelled("Ticket", `"severity": "ticket"`)
	w.firesLabelled("Logged", `"level": "error"`)
	w.firesLabelled("Unknown", `"severity": "tier1"`)
	w.notified()
	for n, labels := range []string{`"severity": "page"`, `"severity": "SEV1"`, `"priority": "P1"`, `"severity": "tier1", "priority": "critical"`, `"level": "panic"`} {
		w.firesLabelled(fmt.Sprint("Down", n), labels)
		w.notified(newPage("ann"))
	}
}

// The map of an integration in an account file precedes the table, and the pipeline changes the severity afterwards.
func TestSeverityMapOfAccountFilePages(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, alertmanager(`{"severity_map": {"Tier1": "Critical", "page": "Warning", "loud": "Critical"}}`), `{"alert_pipelines": [{"integration_id": 7000000000059, "rules": [
		{"kind": "severity_reset", "if": [[{"key": "labels.env", "oper": "IN", "vals": ["test"]}]], "settings": {"severity": "Info"}}]}]}`)
	w.as(annKey, "/preference/update", `{"quiet_hours": [{"start": "10:00", "end": "14:00"}]}`)
	w.firesLabelled("Known", `"severity": "page"`)
	w.firesLabelled("Test", `"severity": "loud", "env": "test"`)
	w.notified()
	w.firesLabelled("Down", `"severity": "TIER1"`)
	w.notified(newPage("ann"))
	alert := w.explained("Test").get("verdicts.0.alert_id")
	events := w.do("/alert/event/list", `{"alert_id": %q}`, alert)
	w.want(events, "items.0.event_severity", "Info")
	w.want(events, "items.0.severity_word", "loud")
	w.want(events, "items.0.severity_unknown", "")
	w.want(events, "items.0.labels.severity", "loud")
}

// An unknown word makes a Warning. The explanation, the integration and lint name the word.
func TestUnknownSeverityIsNamed(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, alertmanager(`{}`))
	w.firesLabelled("Down", `"severity": "Tier1"`)
	w.firesLabelled("Down", `"severity": "Tier1"`)
	if words := w.why("Down"); !strings.Contains(words, `Its source sent the severity "Tier1", which Tocsin did not know.`) {
		t.Error(words)
	}
	w.firesLabelled("Paged", `"severity": "page"`)
	if words := w.why("Paged"); !strings.Contains(words, `Its source sent the severity "page".`) {
		t.Error(words)
	}
	w.settle()
	info := w.do("/integration/info", `{"integration_id": 7000000000059}`)
	w.want(info, "unknown_severities.0.word", "tier1")
	w.want(info, "unknown_severities.0.events", "2")
	w.want(info, "unknown_severities.1.word", "")
	w.metrics(`tocsin_events_unknown_severity_total{integration="7000000000059"} 2`)
	found := w.do("/lint/list", `{"severity": "warning"}`)
	if text := found.String(); !strings.Contains(text, `sends severities unknown to Tocsin: tier1 (2 times)`) {
		t.Error(text)
	}
	w.do("/integration/update", `{"integration_id": 7000000000059, "settings": {"severity_map": {"tier1": "Critical"}}}`)
	w.want(w.do("/integration/info", `{"integration_id": 7000000000059}`), "unknown_severities.0.word", "")
	if text := w.do("/lint/list", `{"severity": "warning"}`).String(); strings.Contains(text, "unknown to Tocsin") {
		t.Error(text)
	}
}
