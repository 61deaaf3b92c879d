package story

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// chat is a member of a target: the chat ops of Slack.
const chat = `"webhooks": [{"type": "slack", "settings": {"token": "` + chats + `/slack/ops"}}]`

const chatRose, chatNew = "ops slack i_r_severity", "ops slack i_new"

// TestRiseNotifiesBySameMethods: a new account, in which no person has chosen methods, is notified by mail only.
func TestRiseNotifiesBySameMethods(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob)+", "+chat)))
	w.push("cpu", "Warning")
	w.notified(newPage("ann"), newPage("bob"), chatNew)
	w.push("cpu", "Critical")
	if p := w.last(); !strings.Contains(p.subject, "[Now Critical] ") {
		t.Errorf("a message about a rise begins %q", p.subject)
	}
	w.notified(rose("ann"), rose("bob"), chatRose)
	w.push("cpu", "Critical")
	w.pass(10 * time.Minute)
	w.notified()
}

// TestRiseToOtherRuleNotifiesEachOnce: the rule of the new severity has the same person and chat in its first step.
func TestRiseToOtherRuleNotifiesEachOnce(t *testing.T) {
	t.Parallel()
	w := begin(t, rulesOf(rule(1, layer(persons(ann)+", "+chat), ofSeverity("Critical")), rule(2, layer(persons(ann, bob)+", "+chat), ofSeverity("Warning"))))
	w.push("cpu", "Warning")
	w.notified(newPage("ann"), newPage("bob"), chatNew)
	w.push("cpu", "Critical")
	w.notified(newPage("ann"), chatNew, rose("bob"))
}

// TestRiseNotifiesTargetOfTwoStepsOnce: Ann and the chat are in both steps.
func TestRiseNotifiesTargetOfTwoStepsOnce(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann)+", "+chat, window(5))+","+layer(persons(ann, bob)+", "+chat, window(60))+","+layer(persons(cid))))
	w.push("cpu", "Warning")
	w.pass(6 * time.Minute)
	w.notified(newPage("ann"), chatNew, newPage("ann"), newPage("bob"), chatNew)
	w.push("cpu", "Critical")
	w.notified(rose("ann"), rose("bob"), chatRose) // the step of Cid was not reached
}

// TestRiseReachesStepsOfEscalationBefore: a step that begins early is another escalation by the same rule.
func TestRiseReachesStepsOfEscalationBefore(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(fmt.Sprintf(`{"target": {%s, %s, "by": {"critical": ["email"], "warning": ["sms"], "info": ["email"]}}, "escalate_window": 60}`, persons(ann), chat)+
		","+layer(persons(bob))))
	w.push("cpu", "Warning")
	w.notified("+15550100 sms i_new", chatNew)
	w.do("/incident/assign", `{"incident_id": %q, "assigned_to": {"escalate_rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "layer_idx": 1}}`, w.incident())
	w.notified(newPage("bob"))
	w.push("cpu", "Critical")
	w.notified(rose("ann"), rose("bob"), chatRose)
}

// TestRiseNotifiesPersonOnCallNow: Bob's shift has ended, and Ann's has begun.
func TestRiseNotifiesPersonOnCallNow(t *testing.T) {
	t.Parallel()
	both := fmt.Sprintf(`"schedule_to_role_ids": {"%d": []}`, rota)
	for _, processing := range []bool{false, true} {
		t.Run(fmt.Sprint("acknowledged: ", processing), func(t *testing.T) {
			t.Parallel()
			w := begin(t, halves, escalates(layer(both)))
			w.drift = time.Minute
			w.push("cpu", "Warning") // the time is ten o'clock
			w.notified(newPage("bob"))
			if processing {
				w.do("/incident/ack", `{"incident_ids": [%q]}`, w.incident())
				w.notified(acked("bob"))
			}
			w.pass(3 * time.Hour)
			w.push("cpu", "Critical")
			want := []string{rose("ann")}
			if processing {
				want = append(want, rose("olga"))
			}
			w.notified(want...)
		})
	}
}

const rota = 7000000000033

// halves is a schedule of two shifts a day: Bob until noon, then Ann.
var halves = fmt.Sprintf(`{"schedules": [{"schedule_id": %d, "schedule_name": "Halves", "layers": [
	{"layer_name": "first", "mode": 0, "layer_start": 1767225600, "rotation_unit": "day", "rotation_value": 1, "restrict_mode": 1, "restrict_periods": [{"restrict_start": 0, "restrict_end": 43200}], "groups": [{"group_name": "B", "members": [{"role_id": 0, "person_ids": [%d]}]}]},
	{"layer_name": "second", "mode": 0, "layer_start": 1767225600, "rotation_unit": "day", "rotation_value": 1, "restrict_mode": 1, "restrict_periods": [{"restrict_start": 43200, "restrict_end": 86400}], "groups": [{"group_name": "A", "members": [{"role_id": 0, "person_ids": [%d]}]}]}]}]}`,
	rota, bob, ann)

// TestRiseNotifiesAcknowledgerWithoutStep: Olga is in no step, and acknowledged the incident before Ann's was reached.
func TestRiseNotifiesAcknowledgerWithoutStep(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann)), `"aggr_window": 60`))
	w.push("cpu", "Warning")
	w.do("/incident/ack", `{"incident_ids": [%q]}`, w.incident())
	w.notified()
	w.push("cpu", "Critical")
	w.notified(rose("olga"))
}

// TestRiseOfAcknowledgedIncidentIsPostedToChats: the chats of the reached steps get the rise.
func TestRiseOfAcknowledgedIncidentIsPostedToChats(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann)+", "+chat)))
	w.push("cpu", "Warning")
	w.ack(annKey)
	w.notified(newPage("ann"), chatNew, "ops slack i_ack")
	w.push("cpu", "Critical")
	w.notified(rose("ann"), chatRose)
}

// TestRiseNotifiesPersonMadeResponsible: the person was added by hand, to an incident that no person has acknowledged.
func TestRiseNotifiesPersonMadeResponsible(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann))))
	w.push("cpu", "Warning")
	w.do("/incident/responder/add", `{"incident_id": %q, "person_ids": [%d]}`, w.incident(), cid)
	w.notified(newPage("ann"), "cid@example.com email i_a_rspd")
	w.push("cpu", "Critical")
	w.notified(rose("ann"), rose("cid"))
}

// TestRiseToCriticalEndsQuietHours: one message per target, with the highest severity.
func TestRiseToCriticalEndsQuietHours(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(bob))))
	w.do("/preference/update", `{"person_id": %d, "quiet_hours": [{"start": "00:00", "end": "23:59"}]}`, bob)
	w.push("cpu", "Info")
	w.push("cpu", "Warning")
	w.notified()
	w.push("cpu", "Critical")
	if p := w.last(); !strings.HasPrefix(p.subject, "[Critical] ") {
		t.Errorf("the message after quiet hours begins %q", p.subject)
	}
	w.notified(newPage("bob"))
	w.pass(time.Hour)
	w.notified()
}

// TestRiseInQuietHoursWaits: a rise to Warning waits for the end of quiet hours, as one message.
func TestRiseInQuietHoursWaits(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(bob))))
	w.push("cpu", "Info")
	w.notified(newPage("bob"))
	w.do("/preference/update", `{"person_id": %d, "quiet_hours": [{"start": "09:00", "end": "11:00"}]}`, bob)
	w.push("cpu", "Warning")
	w.notified()
	w.drift = time.Minute
	w.pass(61 * time.Minute)
	w.notified(rose("bob"))
}

// TestTwoRisesAtOnceAreOneMessage: the first message is not sent yet when the second rise comes.
func TestTwoRisesAtOnceAreOneMessage(t *testing.T) {
	t.Parallel()
	for _, acked := range []bool{false, true} {
		t.Run(fmt.Sprint("acknowledged: ", acked), func(t *testing.T) {
			t.Parallel()
			w := begin(t, escalates(layer(persons(ann, bob)+", "+chat)))
			w.push("cpu", "Info")
			id := w.incident()
			if acked {
				w.ack(annKey)
			}
			w.newPages()
			for _, to := range []string{"Warning", "Critical"} {
				w.try(ownKey, "/incident/reset", `{"incident_id": %q, "incident_severity": %q}`, id, to)
			}
			w.settle()
			w.notified(rose("ann"), rose("bob"), chatRose)
		})
	}
}

// TestRiseIsNotRepeatedByAcknowledgement: Bob got the message about the rise before Ann acknowledged by her older message.
func TestRiseIsNotRepeatedByAcknowledgement(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob)+", "+chat)))
	w.push("cpu", "Warning")
	w.newPages()
	w.pass(time.Minute)
	w.fail("ann", later)
	w.push("cpu", "Critical")
	w.notified(rose("bob"), chatRose)
	w.acceptAll()
	w.clock.Add(time.Second)
	w.ack(annKey)
	w.pass(time.Minute)
	w.notified(rose("ann"), acked("bob"), "ops slack i_ack")
}

// TestRiseThatReachesNobodyIsFallbacks: the shift of the only person has ended, and no one is on call.
func TestRiseThatReachesNobodyIsFallbacks(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(night))))
	w.drift = time.Minute
	w.clock.Add(-5 * time.Hour) // five o'clock
	w.push("cpu", "Warning")
	w.notified(newPage("bob"))
	w.pass(2 * time.Hour)
	w.push("cpu", "Critical")
	w.notified(newPage("olga"))
}

// TestRemindersCountFromRise: a Warning has no reminders. A Critical incident reminds 240 minutes after it became Critical.
func TestRemindersCountFromRise(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann))))
	w.drift = time.Minute
	w.push("cpu", "Warning")
	w.pass(3 * time.Hour)
	w.push("cpu", "Critical")
	w.notified(newPage("ann"), rose("ann"))
	w.pass(239 * time.Minute)
	w.notified()
	w.pass(2 * time.Minute)
	w.notified(remind("ann"))
}
