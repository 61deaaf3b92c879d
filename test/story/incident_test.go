package story

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestIncidentByHandIsEscalated(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.do("/incident/create", `{"incident_severity": "Critical", "title": "Smoke in the server room", "channel_id": %d}`, shop)
	w.notified(newPage("ann"))
}

func TestIncidentByHandIsAssigned(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.do("/incident/create", `{"incident_severity": "Critical", "title": "Smoke", "channel_id": %d, "assigned_to": {"person_ids": [%d]}}`, shop, cid)
	w.notified("cid@example.com email i_assign")
	w.pass(time.Hour)
	w.notified()
}

func TestReassigningStopsRule(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(teams(ops))))
	w.push("cpu", "Critical")
	w.as(annKey, "/incident/assign", `{"incident_id": %q, "assigned_to": {"person_ids": [%d]}}`, w.incident(), cid)
	w.pass(time.Hour)
	w.notified(newPage("ann"), "cid@example.com email i_assign")
	r := w.do("/incident/war-room/default-observers", `{"incident_id": %q}`, w.incident())
	w.want(r, "observers.0.person_name", "Ann Day")
	w.want(r, "observers.1.person_name", "")
}

func TestAssigningToLayerOfRule(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(persons(bob), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	w.as(annKey, "/incident/assign", `{"incident_id": %q, "assigned_to": {"escalate_rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "layer_idx": 1}}`, w.incident())
	w.notified(newPage("ann"), newPage("bob"))
	w.pass(11 * time.Minute)
	w.notified(newPage("cid"))
}

func TestAddedResponderIsNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("cpu", "Critical")
	w.ack(annKey)
	w.as(annKey, "/incident/responder/add", `{"incident_id": %q, "person_ids": [%d]}`, w.incident(), bob)
	w.notified(newPage("ann"), "bob@example.com email i_a_rspd")
}

func TestSnoozeStopsClock(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	w.pass(5 * time.Minute)
	w.as(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": 60}`, w.incident())
	w.pass(59 * time.Minute)
	w.notified(newPage("ann"))
	w.pass(time.Minute)
	w.notified(newPage("ann")) // the rule begins at its first step
	w.pass(catchUp)
	w.notified(woken("ann"))
	w.pass(9*time.Minute + 40*time.Second)
	w.notified()
	w.pass(20 * time.Second)
	w.notified(newPage("cid"))
}

func TestWakingContinuesEscalation(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	w.pass(5 * time.Minute)
	w.as(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": 60}`, w.incident())
	w.pass(10 * time.Minute)
	w.as(annKey, "/incident/wake", `{"incident_ids": [%q]}`, w.incident())
	w.notified(newPage("ann"))
	w.pass(5*time.Minute + 10*time.Second)
	w.notified(newPage("cid"))
}

func TestReopeningNotifiesAgain(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("cpu", "Critical")
	w.push("cpu", "Ok")
	w.notified(newPage("ann"), over("ann"))
	w.as(annKey, "/incident/reopen", `{"incident_ids": [%q], "reason": "it is not"}`, w.incident())
	w.notified(newPage("ann"))
}

func TestManualEndEndsAlertsAndNextEventBeginsAnother(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("cpu", "Critical")
	first := w.incident()
	w.as(annKey, "/incident/resolve", `{"incident_ids": [%q], "root_cause": "A loop"}`, first)
	w.pass(time.Minute)
	w.outcome(w.push("cpu", "Critical"), "opened")
	if w.incident() == first {
		t.Error("the closed incident was used again")
	}
	w.notified(newPage("ann"), over("ann"), newPage("ann"))
}

func TestMergedIncidentsEndTogether(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("a", "Critical")
	a := w.incident()
	w.pass(10 * time.Second)
	w.push("b", "Critical")
	b := w.incident()
	w.as(annKey, "/incident/merge", `{"source_incident_ids": [%q], "target_incident_id": %q}`, b, a)
	w.notified(newPage("ann"), newPage("ann")) // Ann knows of her merge
	w.push("a", "Ok")
	w.notified()
	w.push("b", "Ok")
	w.notified(over("ann"))
	w.want(w.do("/incident/info", `{"incident_id": %q}`, a), "alert_cnt", "2")
}

func TestIncidentIsResolvedByItself(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.do("/channel/update", `{"channel_id": %d, "auto_resolve_timeout": 3600, "auto_resolve_mode": "trigger"}`, shop)
	w.push("cpu", "Critical")
	w.drift = time.Minute
	w.pass(59 * time.Minute)
	w.notified(newPage("ann"))
	w.pass(2 * time.Minute)
	w.notified(over("ann"))
	if why := w.why("cpu"); !strings.Contains(why, "The incident was resolved (timeout)") {
		t.Error(why)
	}
}

func TestIncidentStaysOpenWhereThatIsWanted(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.do("/channel/update", `{"channel_id": %d, "disable_auto_close": true}`, shop)
	w.push("cpu", "Critical")
	w.push("cpu", "Ok")
	w.notified(newPage("ann"))
	w.want(w.do("/incident/info", `{"incident_id": %q}`, w.incident()), "progress", "Triggered")
}

func TestRemovingIncidentCancelsItsNotifications(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	w.do("/incident/remove", `{"incident_ids": [%q]}`, w.incident())
	w.notified(newPage("ann"))
	w.pass(time.Hour)
	w.notified()
}

func TestFeedIsComplete(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("cpu", "Critical")
	w.ack(annKey)
	w.push("cpu", "Ok")
	r := w.do("/incident/feed", `{"incident_id": %q, "asc": true}`, w.incident())
	var types []string
	for i := 0; r.get(fmt.Sprintf("items.%d.type", i)) != ""; i++ {
		types = append(types, r.get(fmt.Sprintf("items.%d.type", i)))
	}
	if got := strings.Join(types, " "); got != "i_new i_assign i_notify i_ack i_rslv i_notify" {
		t.Error(got)
	}
}
