package story

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// An incident that another person still has acknowledged is not escalated again.
func TestWithdrawingOneOfTwoAcknowledgementsChangesNothing(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10), `"force_escalate": true`)+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	w.pass(11 * time.Minute)
	w.notified(newPage("ann"), newPage("cid"))
	w.ack(annKey)
	w.ack(ownKey)
	w.as(annKey, "/incident/unack", `{"incident_ids": [%q]}`, w.incident())
	w.pass(time.Hour)
	w.notified(acked("cid"))
}

func TestReopeningUsesCurrentRule(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push("cpu", "Info")
	w.as(annKey, "/incident/resolve", `{"incident_ids": [%q]}`, w.incident())
	w.do("/channel/escalate/rule/create", `{"channel_id": %d, "rule_name": "late", "template_id": "000000000000000000000001", "layers": [%s]}`, shop, layer(onCall(day)))
	w.as(annKey, "/incident/reopen", `{"incident_ids": [%q]}`, w.incident())
	w.notified(newPage("ann"))
}

func TestReopeningNotifiesAssignee(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.do("/incident/create", `{"incident_severity": "Critical", "title": "Smoke", "channel_id": %d, "assigned_to": {"person_ids": [%d]}}`, shop, cid)
	w.notified("cid@example.com email i_assign")
	w.do("/incident/resolve", `{"incident_ids": [%q]}`, w.incident())
	w.notified("cid@example.com email i_rslv")
	w.do("/incident/reopen", `{"incident_ids": [%q]}`, w.incident())
	w.notified("cid@example.com email i_reopen")
}

func TestMoreSevereAlertIsEscalatedByItsRule(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day)), `"filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]]`))
	w.push("cpu", "Warning")
	w.notified()
	w.push("cpu", "Critical")
	w.notified(newPage("ann"))
	w.push("cpu", "Critical", "title=Trouble with cpu", "x=y")
	w.notified()
}

func TestMoreSevereIncidentIsEscalatedByItsRule(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day)), `"filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]]`))
	w.push("cpu", "Warning")
	w.do("/incident/reset", `{"incident_id": %q, "incident_severity": "Critical"}`, w.incident())
	w.notified(newPage("ann"))
}

func TestMergingMoreSevereIncidentEscalatesByItsRule(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day)), `"filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]]`))
	w.push("a", "Warning")
	mild := w.incident()
	w.pass(10 * time.Second)
	w.push("b", "Critical")
	w.notified(newPage("ann"))
	w.do("/incident/merge", `{"source_incident_ids": [%q], "target_incident_id": %q}`, w.incident(), mild)
	w.notified(merged("ann"), newPage("ann"))
}

// Bob's shift ends between the first page and the second: the next layer follows, and is not skipped.
func TestLayerWithNoOneLeftOnCallIsFollowedByNext(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(night), again(3, 5), window(30))+","+layer(persons(cid), again(1, 5), window(20))+","+layer(persons(olga))))
	w.clock.Set(time.Date(2026, 11, 21, 5, 57, 0, 0, time.UTC))
	w.push("cpu", "Critical")
	w.notified(newPage("bob"))
	w.pass(4 * time.Minute)
	w.notified()
	w.pass(time.Minute) // 6:02
	w.notified(newPage("cid"))
	w.pass(5 * time.Minute)
	w.notified(newPage("cid"))
	w.pass(14 * time.Minute)
	w.notified()
	w.pass(time.Minute) // twenty minutes after the second layer was notified
	w.notified(newPage("olga"))
	if why := w.why("cpu"); !strings.Contains(why, "nobody is on call in Night. So the step after it follows at once.") {
		t.Error(why)
	}
}

func TestFallbackIsNotifiedRepeatedly(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(night), again(2, 5), window(30), fmt.Sprintf(`"on_nobody": {"then": "fallback", "person_id": %d}`, cid))+","+layer(persons(bob))))
	w.push("cpu", "Critical")
	w.pass(29 * time.Minute)
	w.notified(newPage("cid"), newPage("cid"), newPage("cid"))
	w.pass(2 * time.Minute)
	w.notified(newPage("bob"))
}

func TestFallbackIsNotifiedAfterStandstill(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(night), again(3, 1), window(30), fmt.Sprintf(`"on_nobody": {"then": "fallback", "person_id": %d}`, cid)), `"aggr_window": 60`))
	w.push("cpu", "Critical")
	w.jump(3*time.Minute + 30*time.Second) // two of its steps are overtaken
	w.notified(newPage("cid"))
}

// A layer that waits for the next shift does so even if the program did not run in time.
func TestLayerWaitsAfterStandstill(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(night), `"on_nobody": {"then": "wait"}`), `"aggr_window": 60`))
	w.push("cpu", "Critical")
	w.jump(11*time.Hour + 30*time.Minute) // 21:30, and the shift begins at 22:00
	w.notified()
	w.drift = time.Minute
	w.pass(29 * time.Minute)
	w.notified()
	w.pass(2 * time.Minute)
	w.notified(newPage("bob"))
}

// After maintenance the layers follow each other as before, and not all at once.
func TestAfterSilenceEscalationContinuesWhereItWas(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(persons(bob), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical", "env=test")
	w.notified(newPage("ann"))
	w.do("/channel/silence/rule/create", `{"channel_id": %d, "rule_name": "work", "filters": %s, "time_filter": {"start_time": %d, "end_time": %d}}`, shop, where("env", "test"), start.Unix(), start.Unix()+3*3600)
	w.drift = time.Minute
	w.pass(2 * time.Hour)
	for range 3 { // whatever else is configured
		w.do("/channel/update", `{"channel_id": %d, "description": "x"}`, mail)
	}
	w.pass(time.Hour)
	w.notified(newPage("bob"), "olga@example.com email silence_ends")
	w.pass(9 * time.Minute)
	w.notified()
	w.pass(time.Minute)
	w.notified(newPage("cid"))
	if why := w.why("cpu"); strings.Count(why, "silence rule work holds its alerts") != 1 {
		t.Error(why)
	}
}

// A layer without a reachable person is skipped at once.
func TestUnreachableLayerIsSkipped(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(dee), window(30))+","+layer(persons(cid))))
	r := w.do("/incident/escalation/preview", `{"channel_id": %d}`, shop)
	w.want(r, "steps.0.then", "skip")
	w.want(r, "steps.1.minute", "0")
	w.push("cpu", "Critical")
	w.notified(newPage("cid"))
	if why := w.why("cpu"); !strings.Contains(why, "Dee Mute cannot be reached: no e-mail address") {
		t.Error(why)
	}
}

func TestFallbackIsNotifiedInsteadOfUnreachableLayer(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(dee), window(30), fmt.Sprintf(`"on_nobody": {"then": "fallback", "person_id": %d}`, cid))+","+layer(persons(bob))))
	w.push("cpu", "Critical")
	w.notified(newPage("cid"))
}

// A snoozed incident does not notify the owner before the snooze ends.
func TestOwnerIsNotNotifiedOfSnoozedIncident(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.as(annKey, "/preference/update", `{"quiet_hours": [{"start": "10:00", "end": "23:00", "but": ["Info"]}]}`)
	w.push("cpu", "Critical")
	w.do("/incident/snooze", `{"incident_ids": [%q], "minutes": 30}`, w.incident())
	w.pass(29 * time.Minute)
	w.notified()
	w.pass(2 * time.Minute)
	w.notified(woken("olga")) // Olga snoozed the incident; the page of the rule waits for the end of quiet hours
	w.drift = 10 * time.Minute
	w.pass(12 * time.Hour)
	w.notified(newPage("ann"))
}

// jump lets time pass without running any job: a machine that slept, or no process.
func (w *world) jump(d time.Duration) {
	w.t.Helper()
	w.clock.Add(d)
	w.settle()
}

// Acknowledging an incident does not cancel the notification of its assignee.
func TestAcknowledgementKeepsAssigneesNotification(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.do("/preference/update", `{"person_id": %d, "quiet_hours": [{"start": "09:00", "end": "11:00", "but": ["Info"]}]}`, cid)
	w.push("cpu", "Critical")
	w.notified(newPage("olga"))
	w.do("/channel/update", `{"channel_id": %d, "reminder": {"critical": 0}}`, shop)
	w.as(annKey, "/incident/assign", `{"incident_id": %q, "assigned_to": {"person_ids": [%d]}}`, w.incident(), cid)
	w.ack(annKey)
	w.notified(acked("olga"))
	w.drift = time.Minute
	w.pass(61 * time.Minute)
	w.notified("cid@example.com email i_assign")
}
