package story

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"tocsin/internal/platform/db"
)

// spoil changes the database behind the program's back, as a broken disk or a fault of ours would.
func (w *world) spoil(query string) {
	w.t.Helper()
	w.must(w.app.DB.Write(context.Background(), func(tx *db.Tx) error { _, err := tx.Exec(query); return err }))
}

func TestAnEscalationThatCannotBeReadHoldsUpNoOther(t *testing.T) {
	w := begin(t, escalates(layer(persons(ann), window(10))+","+layer(persons(cid))))
	w.push("bad", "Critical")
	w.spoil(`UPDATE escalation SET rule = 'not JSON'`)
	w.push("good", "Critical")
	w.told(newPage("ann"), newPage("ann"))
	w.pass(11 * time.Minute)
	w.told(newPage("cid"), newPage("olga")) // of good; and of bad, because nobody else can be
	w.pass(time.Hour)
	w.told()
	if why := w.why("bad"); !strings.Contains(why, "its escalation cannot go on") {
		t.Error(why)
	}
	if status, body := w.page("/health/ready"); status != 503 || !strings.Contains(body, "escalation") {
		t.Errorf("%d %s", status, body)
	}
}

func TestANoticeThatCannotBeMadeHoldsUpNoOther(t *testing.T) {
	w := begin(t, escalates(layer(persons(ann)), `"aggr_window": 60`))
	w.push("bad", "Critical")
	w.spoil(`UPDATE incident SET body = 'not JSON'`)
	w.spoil(`INSERT INTO notice (account_id, notice_id, notice_key, incident_id, schedule_id, event, cause, person_id, way, lane, target, reason, detail, status, attempts, due_at, created_at, settled_at, outcome)
		SELECT account_id, '5e5e5e5e5e5e5e5e5e5e5eff', 'k', incident_id, 0, 'i_new', 'page', 0, 'email', 'smtp', '', '', '{}', 'waiting', 0, 1, 1, 0, '' FROM incident`)
	w.push("good", "Critical")
	w.pass(2 * time.Minute)
	w.told(newPage("ann"))
	w.drift = time.Minute
	w.pass(2 * time.Hour)
	if n := w.count(`SELECT count(*) FROM notice WHERE notice_key = 'k' AND status = 'failed' AND attempts = 10 AND outcome LIKE '%log%'`); n != 1 {
		t.Error("the notice was not given up after ten attempts")
	}
}

func TestAnAlertThatCannotBeReadHoldsUpNoOther(t *testing.T) {
	w := begin(t, tellAnn, rules("silence_rules", `"filters": `+where("env", "test")+`, `+once(time.Hour)))
	w.push("bad", "Critical", "env=test")
	w.push("good", "Critical", "env=test")
	w.spoil(`UPDATE alert SET changes = '{"no": "list"}' WHERE alert_key = 'bad'`)
	w.drift = time.Minute
	w.pass(61 * time.Minute)
	w.told(newPage("ann"))
	w.spoil(`UPDATE alert SET changes = '[]' WHERE alert_key = 'bad'`)
	w.pass(2 * time.Minute)
	w.told(newPage("ann"))
}

func TestAnIncidentThatCannotBeReadHoldsUpNoOther(t *testing.T) {
	w := begin(t, escalates(layer(persons(ann), window(10))+","+layer(persons(cid))))
	w.push("bad", "Critical")
	w.as(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": 30}`, w.incident())
	w.pass(time.Second)
	w.push("good", "Critical")
	w.as(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": 30}`, w.incident())
	w.spoil(`UPDATE incident SET body = 'not JSON' WHERE title LIKE '%bad'`)
	w.told(newPage("ann"), newPage("ann"))
	w.drift = time.Minute
	w.pass(41 * time.Minute)
	w.told(newPage("cid"))
}

// An address that cannot be opened, because the key it was sealed under is lost, keeps nothing open.
func TestAnAddressThatCannotBeOpenedKeepsNoIncidentOpen(t *testing.T) {
	w := begin(t, escalates(layer(persons(ann, bob))))
	w.push("cpu", "Critical")
	w.told(newPage("ann"), newPage("bob"))
	w.spoil(fmt.Sprintf(`UPDATE notice SET target = 'sealed.1.nokey.AAAA' WHERE person_id = %d`, ann))
	w.outcome(w.push("cpu", "Ok"), "recovered")
	w.told(over("bob"))
}

func TestAChatThatCannotBeOpenedKeepsNobodyFromBeingPaged(t *testing.T) {
	w := begin(t, escalates(fmt.Sprintf(`{"target": {%s, %s, "webhooks": [{"type": "slack", "settings": {"token": "T", "alias": "#ops"}}]}}`, onCall(day), by), `"aggr_window": 60`))
	w.push("cpu", "Critical")
	w.spoil(`UPDATE escalation SET rule = replace(rule, '"token":"', '"token":"sealed.1.nokey.')`)
	w.pass(2 * time.Minute)
	w.told(newPage("ann"))
	if why := w.why("cpu"); !strings.Contains(why, "over slack: failed, its address cannot be opened") {
		t.Error(why)
	}
}

// Nor do the contacts of one person keep another from being told, or that person from getting a mail.
func TestContactsThatCannotBeOpenedKeepNobodyFromBeingPaged(t *testing.T) {
	w := begin(t, escalates(layer(persons(ann, bob))))
	w.as(annKey, "/preference/update", `{"trigger_notify": {"critical": ["ntfy"], "warning": [], "info": []}, "contacts": {"ntfy": "https://ntfy.example.com/ann"}}`)
	w.spoil(`UPDATE object SET body = replace(body, '"ntfy":"', '"ntfy":"broken') WHERE kind = 'preference'`)
	w.push("cpu", "Critical")
	w.told(newPage("ann"), newPage("bob"))
}

// An incident that somebody else still takes care of is not escalated anew.
func TestOneOfTwoAcknowledgementsTakenBackChangesNothing(t *testing.T) {
	w := begin(t, escalates(layer(onCall(day), window(10), `"force_escalate": true`)+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	w.pass(11 * time.Minute)
	w.told(newPage("ann"), newPage("cid"))
	w.ack(annKey)
	w.ack(ownKey)
	w.as(annKey, "/incident/unack", `{"incident_ids": [%q]}`, w.incident())
	w.pass(time.Hour)
	w.told()
}

func TestReopeningFindsTheRuleThatIsThereNow(t *testing.T) {
	w := begin(t)
	w.push("cpu", "Critical")
	w.as(annKey, "/incident/resolve", `{"incident_ids": [%q]}`, w.incident())
	w.do("/channel/escalate/rule/create", `{"channel_id": %d, "rule_name": "late", "template_id": "000000000000000000000001", "layers": [%s]}`, shop, layer(onCall(day)))
	w.as(annKey, "/incident/reopen", `{"incident_ids": [%q]}`, w.incident())
	w.told(newPage("ann"))
}

func TestReopeningTellsWhomItWasAssignedTo(t *testing.T) {
	w := begin(t)
	w.do("/incident/create", `{"incident_severity": "Critical", "title": "Smoke", "channel_id": %d, "assigned_to": {"person_ids": [%d]}}`, shop, cid)
	w.told("cid@example.com email i_assign")
	w.do("/incident/resolve", `{"incident_ids": [%q]}`, w.incident())
	w.told("cid@example.com email i_rslv")
	w.do("/incident/reopen", `{"incident_ids": [%q]}`, w.incident())
	w.told("cid@example.com email i_reopen")
}

// An escalation that begins anew follows its rule as it is now: what was kept of it then may be sealed under a key
// that is gone.
func TestAnEscalationBeginsAnewWithItsRuleAsItIsNow(t *testing.T) {
	w := begin(t, escalates(fmt.Sprintf(`{"target": {"webhooks": [{"type": "slack", "settings": {"token": "%s/slack/ops", "alias": "#ops"}}]}}`, chats)))
	w.push("cpu", "Critical")
	w.ack(annKey)
	w.told("ops slack i_new")
	w.spoil(`UPDATE escalation SET rule = replace(rule, '"token":"', '"token":"sealed.1.nokey.')`)
	w.as(annKey, "/incident/unack", `{"incident_ids": [%q]}`, w.incident())
	w.told("ops slack i_new")
}

func TestAnAlertThatGetsWorseFindsItsRule(t *testing.T) {
	w := begin(t, escalates(layer(onCall(day)), `"filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]]`))
	w.push("cpu", "Warning")
	w.told()
	w.push("cpu", "Critical")
	w.told(newPage("ann"))
	w.push("cpu", "Critical", "title=Trouble with cpu", "x=y")
	w.told()
}

func TestAnIncidentThatAPersonCallsWorseFindsItsRule(t *testing.T) {
	w := begin(t, escalates(layer(onCall(day)), `"filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]]`))
	w.push("cpu", "Warning")
	w.do("/incident/reset", `{"incident_id": %q, "incident_severity": "Critical"}`, w.incident())
	w.told(newPage("ann"))
}

func TestAnIncidentThatTakesAWorseOneInFindsItsRule(t *testing.T) {
	w := begin(t, escalates(layer(onCall(day)), `"filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]]`))
	w.push("a", "Warning")
	mild := w.incident()
	w.pass(10 * time.Second)
	w.push("b", "Critical")
	w.told(newPage("ann"))
	w.do("/incident/merge", `{"source_incident_ids": [%q], "target_incident_id": %q}`, w.incident(), mild)
	w.told(over("ann"), newPage("ann"))
}

// Bob's turn ends between the first page and the second: the next layer takes over, and is not passed over.
func TestALayerThatIsLeftByEverybodyHandsOver(t *testing.T) {
	w := begin(t, escalates(layer(onCall(night), again(3, 5), window(30))+","+layer(persons(cid), again(1, 5), window(20))+","+layer(persons(olga))))
	w.clock.Set(time.Date(2026, 11, 21, 5, 57, 0, 0, time.UTC))
	w.push("cpu", "Critical")
	w.told(newPage("bob"))
	w.pass(4 * time.Minute)
	w.told()
	w.pass(time.Minute) // 6:02
	w.told(newPage("cid"))
	w.pass(5 * time.Minute)
	w.told(newPage("cid"))
	w.pass(14 * time.Minute)
	w.told()
	w.pass(time.Minute) // twenty minutes after the second layer's turn
	w.told(newPage("olga"))
	if why := w.why("cpu"); !strings.Contains(why, "nobody is on call in Night) and did: skip") {
		t.Error(why)
	}
}

func TestTheFallbackIsToldAgain(t *testing.T) {
	w := begin(t, escalates(layer(onCall(night), again(2, 5), window(30), fmt.Sprintf(`"on_nobody": {"then": "fallback", "person_id": %d}`, cid))+","+layer(persons(bob))))
	w.push("cpu", "Critical")
	w.pass(29 * time.Minute)
	w.told(newPage("cid"), newPage("cid"), newPage("cid"))
	w.pass(2 * time.Minute)
	w.told(newPage("bob"))
}

func TestTheFallbackIsToldAfterAStandstill(t *testing.T) {
	w := begin(t, escalates(layer(onCall(night), again(3, 1), window(30), fmt.Sprintf(`"on_nobody": {"then": "fallback", "person_id": %d}`, cid)), `"aggr_window": 60`))
	w.push("cpu", "Critical")
	w.jump(3*time.Minute + 30*time.Second) // two of its steps are overtaken
	w.told(newPage("cid"))
}

// A layer that is to wait for the next turn does so although nobody looked in time.
func TestALayerWaitsAfterAStandstill(t *testing.T) {
	w := begin(t, escalates(layer(onCall(night), `"on_nobody": {"then": "wait"}`), `"aggr_window": 60`))
	w.push("cpu", "Critical")
	w.jump(11*time.Hour + 30*time.Minute) // 21:30, and the turn begins at 22:00
	w.told()
	w.drift = time.Minute
	w.pass(29 * time.Minute)
	w.told()
	w.pass(2 * time.Minute)
	w.told(newPage("bob"))
}

// After maintenance the layers take their turns as they would have, and not all at once.
func TestAfterASilenceAnEscalationGoesOnWhereItWas(t *testing.T) {
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(persons(bob), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical", "env=test")
	w.told(newPage("ann"))
	w.do("/channel/silence/rule/create", `{"channel_id": %d, "rule_name": "work", "filters": %s, "time_filter": {"start_time": %d, "end_time": %d}}`, shop, where("env", "test"), start.Unix(), start.Unix()+3*3600)
	w.drift = time.Minute
	w.pass(2 * time.Hour)
	for range 3 { // whatever else is configured
		w.do("/channel/update", `{"channel_id": %d, "description": "x"}`, mail)
	}
	w.pass(time.Hour)
	w.told(newPage("bob"), "olga@example.com email silence_ends")
	w.pass(9 * time.Minute)
	w.told()
	w.pass(time.Minute)
	w.told(newPage("cid"))
	if why := w.why("cpu"); strings.Count(why, "silence rule work holds its alerts") != 1 {
		t.Error(why)
	}
}

// Who cannot be reached at all is nobody to wait for.
func TestALayerThatCannotBeReachedIsSkipped(t *testing.T) {
	w := begin(t, escalates(layer(persons(dee), window(30))+","+layer(persons(cid))))
	r := w.do("/incident/escalation/preview", `{"channel_id": %d}`, shop)
	w.want(r, "steps.0.then", "skip")
	w.want(r, "steps.1.minute", "0")
	w.push("cpu", "Critical")
	w.told(newPage("cid"))
	if why := w.why("cpu"); !strings.Contains(why, "Dee Mute cannot be reached: no e-mail address") {
		t.Error(why)
	}
}

func TestTheFallbackIsToldOfALayerThatCannotBeReached(t *testing.T) {
	w := begin(t, escalates(layer(persons(dee), window(30), fmt.Sprintf(`"on_nobody": {"then": "fallback", "person_id": %d}`, cid))+","+layer(persons(bob))))
	w.push("cpu", "Critical")
	w.told(newPage("cid"))
}

// Whoever snoozes an incident does not have the owner woken.
func TestTheOwnerIsNotToldOfWhatIsSnoozed(t *testing.T) {
	w := begin(t, tellAnn)
	w.as(annKey, "/preference/update", `{"quiet_hours": [{"start": "10:00", "end": "23:00", "but": ["Info"]}]}`)
	w.push("cpu", "Critical")
	w.do("/incident/snooze", `{"incident_ids": [%q], "minutes": 30}`, w.incident())
	w.pass(29 * time.Minute)
	w.told()
	w.pass(2 * time.Minute)
	w.told(newPage("olga"))
}

// jump lets time pass in which nothing is looked at: a machine that slept, or no process.
func (w *world) jump(d time.Duration) {
	w.t.Helper()
	w.clock.Add(d)
	w.settle()
}

// Acknowledging an incident does not take from somebody what was put into their hands.
func TestAnAcknowledgementLeavesWhatWasAssigned(t *testing.T) {
	w := begin(t)
	w.do("/preference/update", `{"person_id": %d, "quiet_hours": [{"start": "09:00", "end": "11:00", "but": ["Info"]}]}`, cid)
	w.push("cpu", "Critical")
	w.as(annKey, "/incident/assign", `{"incident_id": %q, "assigned_to": {"person_ids": [%d]}}`, w.incident(), cid)
	w.ack(annKey)
	w.told()
	w.drift = time.Minute
	w.pass(61 * time.Minute)
	w.told("cid@example.com email i_assign")
}

// alertmanager sends an alert that has been firing since a moment.
func (w *world) alertmanager(status, name string, since time.Time, labels string) {
	w.t.Helper()
	r := w.post("/event/push/alert/prometheus?integration_key="+groupKey, fmt.Sprintf(`{"alerts": [{"status": %q, "fingerprint": %q, "startsAt": %q, "endsAt": %q, "labels": {"alertname": %q, "severity": "critical"%s}}]}`,
		status, name, since.Format(time.RFC3339), w.clock.Now().Format(time.RFC3339), name, labels))
	if r.Error != nil {
		w.t.Fatal(r)
	}
	w.settle()
}

// Two Alertmanagers do not agree to the second when an alert began.
func TestAnAlertThatBeganEarlierThanItsPredecessorIsOne(t *testing.T) {
	w := begin(t, grouped(`"method": "n"`))
	w.alertmanager("firing", "cpu", start.Add(-3*time.Second), "")
	w.as(annKey, "/incident/resolve", `{"incident_ids": [%q]}`, w.incident())
	w.told(newPage("ann"), over("ann"))
	w.pass(time.Minute)
	for range 3 {
		w.alertmanager("firing", "cpu", start.Add(-7*time.Second), "")
		w.pass(time.Minute)
	}
	w.told(newPage("ann"))
	w.alertmanager("resolved", "cpu", start.Add(-7*time.Second), "")
	w.told(over("ann"))
}

func TestAClockThatIsSetBackDoesNotMakeOneAlertMany(t *testing.T) {
	w := begin(t, tellAnn)
	w.push("cpu", "Critical")
	w.push("cpu", "Ok")
	w.told(newPage("ann"), over("ann"))
	w.clock.Set(start.Add(-time.Hour))
	for range 3 {
		w.push("cpu", "Critical")
		w.pass(time.Minute)
	}
	w.told(newPage("ann"))
	w.push("cpu", "Ok")
	w.told(over("ann"))
}

// What burned before it reached us is not resolved for being old.
func TestAnOldAlertIsNotResolvedAtOnce(t *testing.T) {
	w := begin(t, grouped(`"method": "n"`))
	w.do("/channel/update", `{"channel_id": 7000000000043, "auto_resolve_timeout": 3600, "auto_resolve_mode": "trigger"}`)
	w.alertmanager("firing", "cpu", start.Add(-2*time.Hour), "")
	w.drift = time.Minute
	w.pass(59 * time.Minute)
	w.told(newPage("ann"))
	w.pass(2 * time.Minute)
	w.told(over("ann"))
}

// Alerts that arrive together are grouped although they are old.
func TestOldAlertsThatArriveTogetherAreOneIncident(t *testing.T) {
	w := begin(t, grouped(byService+`, "time_window": 10`))
	for n := range 4 {
		w.alertmanager("firing", fmt.Sprint("pod", n), start.Add(-time.Duration(2+n)*time.Hour), `, "service": "pay"`)
	}
	w.told(newPage("ann"))
}

func TestWhatIsOpenedAgainIsNotResolvedAtOnce(t *testing.T) {
	w := begin(t, tellAnn)
	w.do("/channel/update", `{"channel_id": %d, "auto_resolve_timeout": 3600, "auto_resolve_mode": "trigger"}`, shop)
	w.push("cpu", "Critical")
	w.drift = time.Minute
	w.pass(61 * time.Minute)
	w.told(newPage("ann"), over("ann"))
	w.as(annKey, "/incident/reopen", `{"incident_ids": [%q]}`, w.incident())
	w.pass(59 * time.Minute)
	w.told(newPage("ann"))
	w.pass(2 * time.Minute)
	w.told(over("ann"))
}

// Quiet hours of who never said where they live are by the account's clock.
func TestQuietHoursAreByTheAccountsClock(t *testing.T) {
	w := begin(t, `{"account": {"account_id": 7000000000001, "account_name": "Story", "time_zone": "Asia/Shanghai", "owner_id": 7000000000011}}`, escalates(layer(persons(bob))))
	w.do("/preference/update", `{"person_id": %d, "quiet_hours": [{"start": "17:00", "end": "19:00"}]}`, bob)
	w.push("disk", "Warning") // it is 18:00
	w.told()
	w.drift = time.Minute
	w.pass(time.Hour)
	w.told(newPage("bob"))
}

// The end of something is no reason to disturb anybody either.
func TestTheEndIsToldAfterQuietHours(t *testing.T) {
	w := begin(t, tellAnn)
	w.as(annKey, "/preference/update", `{"quiet_hours": [{"start": "12:00", "end": "14:00"}]}`) // in Berlin it is eleven
	w.push("disk", "Warning")
	w.told(newPage("ann"))
	w.drift = time.Minute
	w.pass(90 * time.Minute)
	w.push("disk", "Ok")
	w.told()
	w.pass(89 * time.Minute)
	w.told()
	w.pass(time.Minute)
	w.told(over("ann"))
}

// Two alerts of which each would inhibit the other are not both kept from people.
func TestTwoAlertsDoNotInhibitEachOther(t *testing.T) {
	const each = `"source_filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]], "target_filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]], "equals": ["labels.cluster"]`
	w := begin(t, tellAnn, rules("inhibit_rules", each), rules("silence_rules", `"filters": `+where("cluster", "eu")+`, `+once(5*time.Minute)))
	for _, key := range []string{"a", "b", "c"} {
		w.push(key, "Critical", "cluster=eu")
	}
	w.told()
	w.pass(5*time.Minute + 10*time.Second)
	w.told(newPage("ann"), "olga@example.com email silence_ends")
}

func (w *world) beats() int {
	w.t.Helper()
	answer, err := http.Get(w.http.URL + "/event/push/heartbeat?integration_key=" + beatKey)
	w.must(err)
	answer.Body.Close()
	return answer.StatusCode
}

// A sign of life that could not be stored as a whole is not half stored.
func TestASignOfLifeIsTakenWholeOrNotAtAll(t *testing.T) {
	w := begin(t, tellAnn, heartbeats())
	w.beat()
	w.pass(6 * time.Minute)
	w.told(newPage("ann"))
	w.spoil(`CREATE TRIGGER full BEFORE INSERT ON event BEGIN SELECT RAISE(FAIL, 'full'); END`)
	if status := w.beats(); status < 500 {
		t.Errorf("answered %d", status)
	}
	w.spoil(`DROP TRIGGER full`)
	w.beat()
	w.told(over("ann"))
}

func TestAHeartbeatThatIsEnabledAgainHasItsInterval(t *testing.T) {
	w := begin(t, tellAnn, heartbeats())
	w.beat()
	w.do("/integration/disable", `{"integration_id": 7000000000054}`)
	w.drift = time.Minute
	w.pass(24 * time.Hour)
	w.do("/integration/enable", `{"integration_id": 7000000000054}`)
	w.pass(5 * time.Minute)
	w.told()
	w.pass(2 * time.Minute)
	w.told(newPage("ann"))
}

// Signs of life that could not reach a server that was down are not missed by it.
func TestAServerThatWasDownListensFirst(t *testing.T) {
	w := begin(t, tellAnn, heartbeats())
	w.beat()
	w.standstill(24 * time.Hour)
	w.pass(4 * time.Minute)
	w.beat()
	w.pass(4 * time.Minute)
	w.told()
	w.standstill(24 * time.Hour)
	w.pass(6 * time.Minute)
	w.told(newPage("ann"))
}

func TestExplainingTellsNothingOfPrivateChannels(t *testing.T) {
	w := begin(t, tellAnn, `{"channels": [{"channel_id": 7000000000044, "channel_name": "Secret", "is_private": true}]}`)
	w.push("cpu", "Critical")
	mine := w.incident()
	w.pass(10 * time.Second)
	secret := w.do("/incident/create", `{"incident_severity": "Critical", "title": "The merger leaked", "channel_id": 7000000000044}`).get("incident_id")
	w.do("/incident/merge", `{"source_incident_ids": [%q], "target_incident_id": %q}`, mine, secret)
	w.push("cpu", "Critical", "title=Trouble with cpu", "a=b")
	w.push("cpu", "Warning")
	alert := w.do("/alert/list", `{"start_time": %d, "end_time": %d}`, start.Unix()-10, start.Unix()+100).get("items.0.alert_id")
	if r := w.do("/alert/explain", `{"alert_id": %q}`, alert); !strings.Contains(r.String(), "The merger leaked") {
		t.Errorf("the owner is not told: %s", r)
	}
	if r := w.as(annKey, "/alert/explain", `{"alert_id": %q}`, alert); strings.Contains(r.String(), "The merger leaked") || r.get("verdicts.0.outcome") != "opened" {
		t.Errorf("Ann is told: %s", r)
	}
}

func TestAlertsAreFoundByTheirOwnKeysOnly(t *testing.T) {
	w := begin(t)
	for _, key := range []string{"host_1", "host-1", "HOST_1", "%"} {
		w.push(key, "Critical")
	}
	r := w.do("/alert/list", `{"start_time": %d, "end_time": %d, "alert_keys": ["host-1"]}`, start.Unix()-10, start.Unix()+100)
	w.want(r, "total", "1")
	w.want(r, "items.0.alert_key", "host-1")
}

func TestAWebhookThatCannotBeReadHoldsUpNoOther(t *testing.T) {
	first, second := receive(t, nil), receive(t, nil)
	w := begin(t, hooks("alert", at(first), at(second)))
	w.push("cpu", "Critical")
	first.events(t, "a_new")
	second.events(t, "a_new")
	w.spoil(fmt.Sprintf(`UPDATE object SET body = '{"settings": "none"}' WHERE kind = 'integration' AND id = '%d'`, hook))
	w.push("cpu", "Warning")
	w.pass(time.Minute)
	second.events(t, "a_update")
	first.events(t)
}

// What was kept from people stays so while its channel is disabled.
func TestADisabledChannelOpensNothing(t *testing.T) {
	w := begin(t, tellAnn, rules("silence_rules", `"filters": `+where("env", "test")+`, `+once(5*time.Minute)))
	w.push("cpu", "Critical", "env=test")
	w.do("/channel/disable", `{"channel_id": %d}`, shop)
	w.pass(time.Hour)
	for _, p := range w.look() {
		if p.event == "i_new" {
			t.Errorf("told %s", p)
		}
	}
	w.do("/channel/enable", `{"channel_id": %d}`, shop)
	w.told(newPage("ann"))
}

func TestAlertsTellNothingOfPrivateChannels(t *testing.T) {
	w := begin(t, `{"channels": [{"channel_id": 7000000000044, "channel_name": "Secret", "is_private": true}]}`)
	w.push("cpu", "Critical")
	mine := w.incident()
	secret := w.do("/incident/create", `{"incident_severity": "Critical", "title": "The merger leaked", "channel_id": 7000000000044}`).get("incident_id")
	w.do("/incident/merge", `{"source_incident_ids": [%q], "target_incident_id": %q}`, mine, secret)
	list := fmt.Sprintf(`{"start_time": %d, "end_time": %d}`, start.Unix()-10, start.Unix()+100)
	alert := w.do("/alert/list", "%s", list).get("items.0.alert_id")
	for path, body := range map[string]string{"/alert/list": list, "/alert/info": fmt.Sprintf(`{"alert_id": %q}`, alert), "/alert/list-by-ids": fmt.Sprintf(`{"alert_ids": [%q]}`, alert)} {
		if r := w.do(path, "%s", body); !strings.Contains(r.String(), "The merger leaked") {
			t.Errorf("%s: the owner is not told: %s", path, r)
		}
		if r := w.as(annKey, path, "%s", body); strings.Contains(r.String(), "The merger leaked") || !strings.Contains(r.String(), secret) {
			t.Errorf("%s: Ann is told %s", path, r)
		}
	}
}
