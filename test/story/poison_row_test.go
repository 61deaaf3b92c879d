package story

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestCorruptEscalationBlocksNoOther(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann), window(10))+","+layer(persons(cid))))
	w.push("bad", "Critical")
	w.sql(`UPDATE escalation SET rule = 'not JSON'`)
	w.push("good", "Critical")
	w.notified(newPage("ann"), newPage("ann"))
	w.pass(11 * time.Minute)
	w.notified(newPage("cid"), newPage("olga")) // of good; and of bad, because no one else can be
	w.pass(time.Hour)
	w.notified()
	if why := w.why("bad"); !strings.Contains(why, "So Olga Owner was notified instead: its escalation cannot go on") {
		t.Error(why)
	}
	if status, body := w.page("/health/ready"); status != 503 || !strings.Contains(body, "escalation") {
		t.Errorf("%d %s", status, body)
	}
}

func TestCorruptNotificationBlocksNoOther(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann)), `"aggr_window": 60`))
	w.push("bad", "Critical")
	w.sql(`UPDATE incident SET body = 'not JSON'`)
	w.sql(`INSERT INTO notice (account_id, notice_id, notice_key, incident_id, schedule_id, event, cause, person_id, way, lane, target, reason, detail, status, attempts, due_at, created_at, settled_at, outcome)
		SELECT account_id, '5e5e5e5e5e5e5e5e5e5e5eff', 'k', incident_id, 0, 'i_new', 'page', 0, 'email', 'smtp', '', '', '{}', 'waiting', 0, 1, 1, 0, '' FROM incident`)
	w.push("good", "Critical")
	w.pass(2 * time.Minute)
	w.notified(newPage("ann"))
	w.drift = time.Minute
	w.pass(2 * time.Hour)
	if n := w.count(`SELECT count(*) FROM notice WHERE notice_key = 'k' AND status = 'failed' AND attempts = 10 AND outcome LIKE '%"not_built"%'`); n != 1 {
		t.Error("the notification was not given up after ten attempts")
	}
}

func TestCorruptAlertBlocksNoOther(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("silence_rules", `"filters": `+where("env", "test")+`, `+once(time.Hour)))
	w.push("bad", "Critical", "env=test")
	w.push("good", "Critical", "env=test")
	w.sql(`UPDATE alert SET changes = '{"no": "list"}' WHERE alert_key = 'bad'`)
	w.drift = time.Minute
	w.pass(61 * time.Minute)
	w.notified(newPage("ann"))
	w.sql(`UPDATE alert SET changes = '[]' WHERE alert_key = 'bad'`)
	w.pass(2 * time.Minute)
	w.notified(newPage("ann"))
}

func TestCorruptIncidentBlocksNoOther(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann), window(10))+","+layer(persons(cid))))
	w.push("bad", "Critical")
	w.as(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": 30}`, w.incident())
	w.pass(time.Second)
	w.push("good", "Critical")
	w.as(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": 30}`, w.incident())
	w.sql(`UPDATE incident SET body = 'not JSON' WHERE title LIKE '%bad'`)
	w.notified(newPage("ann"), newPage("ann"))
	w.drift = time.Minute
	w.pass(41 * time.Minute)
	w.notified(newPage("ann"), woken("ann"), newPage("cid")) // the rule begins again
}

// A notification whose address is sealed under a lost key does not keep its incident from being resolved.
func TestLostAddressDoesNotKeepIncidentOpen(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob))))
	w.push("cpu", "Critical")
	w.notified(newPage("ann"), newPage("bob"))
	w.sql(fmt.Sprintf(`UPDATE notice SET target = 'sealed.1.nokey.AAAA' WHERE person_id = %d`, ann))
	w.outcome(w.push("cpu", "Ok"), "recovered")
	w.notified(over("bob"))
}

func TestLostChatTokenDoesNotStopPages(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(fmt.Sprintf(`{"target": {%s, %s, "webhooks": [{"type": "slack", "settings": {"token": "T", "alias": "#ops"}}]}}`, onCall(day), by), `"aggr_window": 60`))
	w.push("cpu", "Critical")
	w.sql(`UPDATE escalation SET rule = replace(rule, '"token":"', '"token":"sealed.1.nokey.')`)
	w.pass(2 * time.Minute)
	w.notified(newPage("ann"))
	if why := w.why("cpu"); !strings.Contains(why, "over slack: failed, its address cannot be opened") {
		t.Error(why)
	}
}

// Contacts of one person that cannot be opened stop neither the pages of others nor an e-mail to that person.
func TestLostContactsDoNotStopPages(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob))))
	w.as(annKey, "/preference/update", `{"trigger_notify": {"critical": ["ntfy"], "warning": [], "info": []}, "contacts": {"ntfy": "https://ntfy.example.com/ann"}}`)
	w.sql(`UPDATE object SET body = replace(body, '"ntfy":"', '"ntfy":"broken') WHERE kind = 'preference'`)
	w.push("cpu", "Critical")
	w.notified(newPage("ann"), newPage("bob"))
}

// An escalation that starts again uses the rule as it is now: the stored copy may be sealed under a lost key.
func TestRestartedEscalationUsesItsCurrentRule(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(fmt.Sprintf(`{"target": {"webhooks": [{"type": "slack", "settings": {"token": "%s/slack/ops", "alias": "#ops"}}]}}`, chats)))
	w.push("cpu", "Critical")
	w.ack(annKey)
	w.notified("ops slack i_new", "ops slack i_ack")
	w.sql(`UPDATE escalation SET rule = replace(rule, '"token":"', '"token":"sealed.1.nokey.')`)
	w.as(annKey, "/incident/unack", `{"incident_ids": [%q]}`, w.incident())
	w.notified("ops slack i_new")
}

func TestCorruptWebhookBlocksNoOther(t *testing.T) {
	t.Parallel()
	first, second := receive(t, nil), receive(t, nil)
	w := begin(t, hooks("alert", at(first), at(second)))
	w.push("cpu", "Critical")
	first.events(t, "a_new")
	second.events(t, "a_new")
	w.sql(fmt.Sprintf(`UPDATE object SET body = '{"settings": "none"}' WHERE kind = 'integration' AND id = '%d'`, hook))
	w.sql(`UPDATE account SET revision = revision + 1`) // what was read of it before does not count
	w.push("cpu", "Warning")
	w.pass(time.Minute)
	second.events(t, "a_update")
	first.events(t)
}

// The same after a restart and in every list: a row of configuration that cannot be decoded is left out and reported
// until it is repaired.
func TestCorruptRowOfConfigurationIsSkippedAndReported(t *testing.T) {
	t.Parallel()
	first, second := receive(t, nil), receive(t, nil)
	w := begin(t, hooks("alert", at(first), at(second)))
	w.sql(fmt.Sprintf(`UPDATE object SET body = '{"settings": "none"}' WHERE kind = 'integration' AND id = '%d'`, hook))
	w.restart()
	w.push("cpu", "Critical")
	w.settle()
	second.events(t, "a_new")
	first.events(t)
	if status, body := w.page("/health/ready"); status != 200 || !strings.Contains(body, `"unreadable":[{"kind":"integration","count":1}]`) {
		t.Errorf("%d %s", status, body)
	}
	if _, body := w.page("/metrics"); !strings.Contains(body, `tocsin_unreadable_objects{kind="integration"} 1`) {
		t.Error("the metric does not count it")
	}
	w.do("/integration/list", `{}`)
	w.sql(fmt.Sprintf(`DELETE FROM object WHERE kind = 'integration' AND id = '%d'`, hook))
	if status, body := w.page("/health/ready"); status != 200 || strings.Contains(body, "unreadable") {
		t.Errorf("%d %s", status, body)
	}
}

// A corrupt rule holds up neither the decisions nor the escalations of its channel.
func TestCorruptRuleBlocksNoOther(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("silence_rules", `"filters": `+where("env", "test")+`, `+once(time.Hour)))
	w.sql(`UPDATE object SET body = 'not JSON' WHERE kind = 'silence_rule'`)
	w.restart()
	w.push("cpu", "Critical", "env=prod")
	w.notified(newPage("ann"))
}
