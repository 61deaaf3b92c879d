package story

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The shortest story: an alert, the person on call, the end.
func TestOnCallPersonIsNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day))))
	w.push("cpu", "Critical")
	w.notified(newPage("ann"))
	w.push("cpu", "Ok")
	w.notified(over("ann"))
}

func TestNextLayerIsNotifiedWithoutAcknowledgement(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(teams(ops))))
	w.push("cpu", "Critical")
	w.notified(newPage("ann"))
	w.pass(9 * time.Minute)
	w.notified()
	w.pass(time.Minute)
	w.notified(newPage("bob"), newPage("cid"))
}

func TestLayerIsNotifiedRepeatedly(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), again(2, 5), window(30))))
	w.push("cpu", "Critical")
	w.pass(20 * time.Minute)
	w.notified(newPage("ann"), newPage("ann"), newPage("ann"))
}

func TestAcknowledgingStopsEscalation(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(teams(ops))))
	w.push("cpu", "Critical")
	w.notified(newPage("ann"))
	w.ack(annKey)
	w.pass(time.Hour)
	w.notified()
}

func TestForceEscalatesInSpiteOfAcknowledgement(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10), `"force_escalate": true`)+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	w.ack(annKey)
	w.notified(newPage("ann"))
	w.pass(11 * time.Minute)
	w.notified(newPage("cid"))
}

func TestWithdrawingAcknowledgementRestartsEscalation(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	w.ack(annKey)
	w.notified(newPage("ann"))
	w.as(annKey, "/incident/unack", `{"incident_ids": [%q]}`, w.incident())
	w.notified(newPage("ann"))
	w.pass(11 * time.Minute)
	w.notified(newPage("cid"))
}

func TestResolvingByHandStopsEscalation(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	w.as(annKey, "/incident/resolve", `{"incident_ids": [%q]}`, w.incident())
	w.notified(newPage("ann"), over("ann"))
	w.pass(time.Hour)
	w.notified()
}

func TestAlertThatEndsWithinDelayIsNotNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day)), `"aggr_window": 60`))
	w.push("cpu", "Critical")
	w.pass(30 * time.Second)
	w.push("cpu", "Ok")
	w.pass(10 * time.Minute)
	w.notified()
}

func TestDelayIsKept(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day)), `"aggr_window": 60`))
	w.push("cpu", "Critical")
	w.pass(50 * time.Second)
	w.notified()
	w.pass(10 * time.Second)
	w.notified(newPage("ann"))
}

func TestFirstRuleThatMatchesEscalates(t *testing.T) {
	t.Parallel()
	rules := `{"escalate_rules": [
		{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "channel_id": %[1]d, "rule_name": "payments", "priority": 1, "template_id": "000000000000000000000001", "layers": [%[2]s], "filters": [[{"key": "labels.service", "oper": "IN", "vals": ["pay*"]}]]},
		{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e02", "channel_id": %[1]d, "rule_name": "all", "priority": 2, "template_id": "000000000000000000000001", "layers": [%[3]s]}]}`
	w := begin(t, fmt.Sprintf(rules, shop, layer(persons(bob)), layer(persons(cid))))
	w.push("a", "Critical", "service=payments")
	w.notified(newPage("bob"))
	w.push("b", "Critical", "service=cart")
	w.notified(newPage("cid"))
}

func TestRuleHoldsAtItsTimes(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day)), `"time_filters": [{"start": "09:00", "end": "18:00", "repeat": [1, 2, 3, 4, 5]}]`))
	w.push("cpu", "Critical") // a Saturday
	w.notified(newPage("olga"))
	if why := w.why("cpu"); !strings.Contains(why, "is not active at this time") {
		t.Error(why)
	}
}

func TestThatNoRuleMatchesIsSaid(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day)), `"filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]]`))
	w.push("cpu", "Info")
	w.notified()
	if why := w.why("cpu"); !strings.Contains(why, `no escalation rule of the channel matches; on call: severity is "Info", not IN Critical`) {
		t.Error(why)
	}
}

func TestEveryMethodOfRuleIsUsed(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(fmt.Sprintf(`{"target": {%s, "emails": ["noc@example.org"], "by": {"critical": ["sms", "voice"]}, "webhooks": [
		{"type": "slack", "settings": {"token": "%[2]s/slack/ops", "alias": "#ops"}}, {"type": "webhook", "settings": {"url": "%[2]s/webhook/bot"}}]}}`, onCall(day), chats)))
	w.push("cpu", "Critical")
	w.notified("+15550100 sms i_new", "+15550100 voice i_new", "noc@example.org email i_new", "ops slack i_new", "bot webhook i_new")
	w.push("cpu", "Ok") // no one is paged for that
	w.notified("noc@example.org email i_rslv", "ops slack i_rslv", "bot webhook i_rslv")
}

// Escalation delays, gaps and who is woken can be seen before anything happens.
func TestPreviewEqualsEscalation(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), again(1, 2), window(10))+","+layer(onCall(night))+","+layer(teams(ops))))
	r := w.do("/incident/escalation/preview", `{"channel_id": %d}`, shop)
	w.want(r, "steps.2.nobody.0", "nobody is on call in Night")
	w.want(r, "steps.3.count", "2")
	w.push("cpu", "Critical")
	w.pass(time.Hour)
	var want, got []string
	for i := 0; r.get(fmt.Sprintf("steps.%d.at", i)) != ""; i++ {
		for j := 0; r.get(fmt.Sprintf("steps.%d.persons.%d.person_id", i, j)) != ""; j++ {
			want = append(want, r.get(fmt.Sprintf("steps.%d.at", i)))
		}
	}
	for _, p := range w.reached() {
		got = append(got, fmt.Sprint(p.at.Unix()))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("told at %v, previewed %v", got, want)
	}
}

// An alert with no one on call never stays without notification.

func TestLayerWithNoOneOnCallIsSkippedAtOnce(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(night), window(30))+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	w.notified(newPage("cid"))
}

func TestLayerWithNoOneOnCallWaitsForNextShift(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(night), window(30), `"on_nobody": {"then": "wait"}`)+","+layer(persons(cid))))
	w.drift = time.Minute
	w.push("cpu", "Critical")
	w.notified()
	w.pass(12*time.Hour - time.Minute) // until 21:59
	w.notified()
	w.pass(time.Minute)
	w.notified(newPage("bob"))
	w.pass(30 * time.Minute)
	w.notified(newPage("cid"))
}

func TestLayerWithNoOneOnCallNotifiesFallback(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(night), fmt.Sprintf(`"on_nobody": {"then": "fallback", "person_id": %d}`, cid))))
	w.push("cpu", "Critical")
	w.notified(newPage("cid"))
}

func TestOwnerIsNotifiedWhenNoOneElseIs(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(night))+","+layer(teams(empty))))
	w.push("cpu", "Critical")
	w.pass(time.Minute)
	w.notified(newPage("olga"))
	if why := w.why("cpu"); !strings.Contains(why, "no person was reached") || !strings.Contains(why, "nobody is on call in Night") || !strings.Contains(why, "team nobody has no members") {
		t.Error(why)
	}
}

func TestUnreachablePersonIsExplainedAndOwnerNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(dee))))
	w.push("cpu", "Critical")
	w.pass(time.Minute)
	w.notified(newPage("olga"))
	if why := w.why("cpu"); !strings.Contains(why, "Dee Mute cannot be reached: no e-mail address") {
		t.Error(why)
	}
}

func TestDisabledScheduleHasNoOneOnCall(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day))+","+layer(persons(cid))))
	w.do("/schedule/update", `{"schedule_id": %d, "schedule_name": "Day", "status": 1}`, day)
	w.push("cpu", "Critical")
	w.notified(newPage("cid"))
}

func TestPersonOfOverrideIsPaged(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day))))
	w.do("/schedule/update", `{"schedule_id": %d, "schedule_name": "Day", "layers": [
		{"layer_name": "always", "mode": 0, "layer_start": 1767225600, "rotation_unit": "day", "rotation_value": 1, "groups": [{"group_name": "A", "members": [{"role_id": 0, "person_ids": [%d]}]}]},
		{"layer_name": "cover", "mode": 1, "layer_start": %d, "layer_end": %d, "groups": [{"group_name": "C", "members": [{"role_id": 0, "person_ids": [%d]}]}]}]}`, day, ann, start.Unix()-60, start.Unix()+3600, cid)
	w.push("cpu", "Critical")
	w.notified(newPage("cid"))
}

func TestShiftAtTimeOfStepIsPaged(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann), window(30))+","+layer(onCall(night))))
	w.clock.Set(start.Add(11*time.Hour + 45*time.Minute)) // 21:45: the second layer is notified at 22:15
	w.push("cpu", "Critical")
	w.pass(30 * time.Minute)
	w.notified(newPage("ann"), newPage("bob"))
}

func TestOnlyRoleThatIsMeantIsPaged(t *testing.T) {
	t.Parallel()
	schedules := fmt.Sprintf(`{"schedules": [{"schedule_id": 7000000000033, "schedule_name": "Two", "layers": [{"layer_name": "x", "mode": 0, "layer_start": 1767225600, "rotation_unit": "day", "rotation_value": 1,
		"groups": [{"group_name": "A", "members": [{"role_id": 0, "person_ids": [%d]}, {"role_id": 1, "person_ids": [%d]}]}]}]}]}`, ann, cid)
	w := begin(t, schedules, escalates(layer(`"schedule_to_role_ids": {"7000000000033": [1]}`)))
	w.push("cpu", "Critical")
	w.notified(newPage("cid"))
}

// A day that becomes a day off pages the person of the layer for days off at once, also after a restart, and the person
// of the other layer again when it is a working day after all.
func TestDayOffPagesPersonForDaysOff(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day))))
	cal := w.do("/calendar/create", `{"cal_name": "Holidays", "timezone": "UTC", "workdays": [0, 1, 2, 3, 4, 5, 6]}`).get("cal_id")
	rotation := `{"layer_name": "x", "mode": 0, "layer_start": 1767225600, "rotation_unit": "day", "rotation_value": 1, %q: [%q],
		"groups": [{"group_name": "G", "members": [{"role_id": 0, "person_ids": [%d]}]}]}`
	w.do("/schedule/update", `{"schedule_id": %d, "layers": [%s, %s]}`, day,
		fmt.Sprintf(rotation, "skip_cal_ids", cal, ann), fmt.Sprintf(rotation, "only_cal_ids", cal, cid))
	w.push("cpu", "Critical")
	w.notified(newPage("ann"))
	event := w.do("/calendar/event/upsert", `{"cal_id": %q, "summary": "Holiday", "start_at": %q, "end_at": %q, "is_off": true}`, cal,
		start.AddDate(0, 0, -1).Format(time.DateOnly), start.AddDate(0, 0, 2).Format(time.DateOnly)).get("event_id")
	w.push("disk", "Critical")
	w.notified(newPage("cid"))
	w.restart()
	w.push("fan", "Critical")
	w.notified(newPage("cid"))
	w.do("/calendar/event/delete", `{"cal_id": %q, "event_id": %q}`, cal, event)
	w.push("net", "Critical")
	w.notified(newPage("ann"))
}
