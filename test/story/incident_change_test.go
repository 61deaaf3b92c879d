package story

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestKindOfAssignmentIsNotTakenFromCaller: a type of assignment in the request must not keep the person from being
// notified.
func TestKindOfAssignmentIsNotTakenFromCaller(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.do("/incident/create", `{"incident_severity": "Critical", "title": "Smoke", "channel_id": %d, "assigned_to": {"person_ids": [%d], "type": "escalate"}}`, shop, cid)
	w.notified("cid@example.com email i_assign")
	w.want(w.do("/incident/info", `{"incident_id": %q}`, w.incident()), "assigned_to.type", "assign")
}

// TestAcknowledgementEndsSnooze: also an acknowledgement by a person who has acknowledged before.
func TestAcknowledgementEndsSnooze(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("cpu", "Critical")
	w.ack(annKey)
	w.as(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": 30}`, w.incident())
	w.ack(annKey)
	w.want(w.do("/incident/info", `{"incident_id": %q}`, w.incident()), "snoozed_before", "0")
}

// TestMergedIncidentListsItsIntegrations: whether incidents or alerts were merged.
func TestMergedIncidentListsItsIntegrations(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"/incident/merge", "/alert/merge"} {
		w := begin(t)
		one := w.do("/incident/create", `{"incident_severity": "Info", "title": "by hand", "channel_id": %d}`, shop).get("incident_id")
		w.pass(time.Second)
		w.push("cpu", "Critical")
		other := w.incident()
		if how == "/alert/merge" {
			alert := w.do("/incident/alert/list", `{"incident_id": %q}`, other).get("items.0.alert_id")
			w.do(how, `{"alert_ids": [%q], "incident_id": %q}`, alert, one)
		} else {
			w.do(how, `{"source_incident_ids": [%q], "target_incident_id": %q}`, other, one)
		}
		r := w.do("/incident/info", `{"incident_id": %q}`, one)
		w.want(r, "integration_ids", fmt.Sprintf("[%d]", sink))
		w.want(r, "integration_types", `["standard"]`)
		w.want(r, "alert_cnt", "1")
		w.want(r, "incident_severity", "Critical")
	}
}

// TestAssignedEmailsMustBeAddresses: an assignment to no address would replace the responders by no one.
func TestAssignedEmailsMustBeAddresses(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push("cpu", "Critical")
	if r := w.try(ownKey, "/incident/assign", `{"incident_id": %q, "assigned_to": {"emails": ["nonsense"]}}`, w.incident()); r.Status != 400 || !strings.Contains(r.String(), "assigned_to.emails[0]") {
		t.Error(r)
	}
}

// TestIncidentThatLosesItsActiveAlertsIsClosed: when all alerts that are left have ended, no later event would close it.
func TestIncidentThatLosesItsActiveAlertsIsClosed(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService))
	w.pushTo(groupKey, "one", "Critical", "service=web")
	w.pushTo(groupKey, "two", "Critical", "service=web")
	old := w.incident()
	w.pushTo(groupKey, "two", "Ok")
	other := w.do("/incident/create", `{"incident_severity": "Info", "title": "by hand", "channel_id": %d}`, shop).get("incident_id")
	alerts := w.do("/incident/alert/list", `{"incident_id": %q, "is_active": true}`, old)
	w.want(alerts, "total", "1")
	w.do("/alert/merge", `{"alert_ids": [%q], "incident_id": %q}`, alerts.get("items.0.alert_id"), other)
	w.want(w.do("/incident/info", `{"incident_id": %q}`, old), "progress", "Closed")
}

// TestAssigningIncidentIDAndIncidentIDs: both members of the request together name the incidents.
func TestAssigningIncidentIDAndIncidentIDs(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push("a", "Critical")
	one := w.incident()
	w.pass(time.Second)
	w.push("b", "Critical")
	w.do("/incident/assign", `{"incident_id": %q, "incident_ids": [%q], "assigned_to": {"person_ids": [%d]}}`, one, w.incident(), cid)
	for _, id := range []string{one, w.incident()} {
		w.want(w.do("/incident/info", `{"incident_id": %q}`, id), "responders.0.person_id", fmt.Sprint(cid))
	}
}

// TestDryRunRemovesNothing: a dry run lists what would be removed.
func TestDryRunRemovesNothing(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("cpu", "Critical")
	r := w.do("/incident/remove", `{"incident_ids": [%q], "dry_run": true}`, w.incident())
	w.want(r, "allowed", "true")
	w.want(r, "removes.0.id", w.incident())
	w.want(w.do("/incident/info", `{"incident_id": %q}`, w.incident()), "progress", "Triggered")
	w.do("/incident/remove", `{"incident_ids": [%q]}`, w.incident())
	w.want(w.do("/incident/list", `{"start_time": 1795200000, "end_time": 1795300000}`), "total", "0")
}

// TestMergedAlertIsUpdated: a client that follows alerts by their last change sees their new incident.
func TestMergedAlertIsUpdated(t *testing.T) {
	t.Parallel()
	w := begin(t)
	one := w.do("/incident/create", `{"incident_severity": "Info", "title": "by hand", "channel_id": %d}`, shop).get("incident_id")
	w.pass(time.Second)
	w.push("cpu", "Critical")
	w.pass(time.Minute)
	other := w.incident()
	w.do("/incident/merge", `{"source_incident_ids": [%q], "target_incident_id": %q}`, other, one)
	now := w.clock.Now().Unix()
	w.want(w.do("/alert/list", `{"start_time": %d, "end_time": %d, "by_updated_at": true}`, now, now+10), "items.0.incident.incident_id", one)
	w.pass(time.Minute)
	w.do("/incident/remove", `{"incident_ids": [%q]}`, one)
	now = w.clock.Now().Unix()
	w.want(w.do("/alert/list", `{"start_time": %d, "end_time": %d, "by_updated_at": true}`, now, now+10), "total", "1")
}

// TestSeverityThatPersonSetIsKept: also when it equals the severity before.
func TestSeverityThatPersonSetIsKept(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService))
	w.pushTo(groupKey, "a", "Info", "service=web")
	w.do("/incident/reset", `{"incident_id": %q, "incident_severity": "Info"}`, w.incident())
	w.pushTo(groupKey, "b", "Critical", "service=web")
	w.want(w.do("/incident/info", `{"incident_id": %q}`, w.incident()), "incident_severity", "Info")
}
