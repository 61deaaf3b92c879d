package story

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// remind and joined are messages in short.
func remind(person string) string { return person + "@example.com email i_remind" }
func joined(person string) string { return person + "@example.com email i_join" }

// catchUp is how long messages on which no one has to act at once wait for others.
const catchUp = 5 * time.Second

const remindSMS = "+15550100 sms i_remind"

// feed is the words of /alert/explain about a key, in which the feed of its incident is.
func (w *world) inFeed(key, want string) {
	w.t.Helper()
	if words := w.why(key); !strings.Contains(words, want) {
		w.t.Errorf("%q is not in\n%s", want, words)
	}
}

func TestRuleRepeatsItsWholeChain(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann), window(5))+","+layer(persons(bob)), `"repeat": {"times": 2, "interval": 10}`))
	w.push("cpu", "Warning")
	w.pass(6 * time.Minute)
	w.notified(newPage("ann"), newPage("bob")) // bob at 5
	w.pass(8 * time.Minute)
	w.notified()
	w.pass(2 * time.Minute) // ann at 15
	w.notified(newPage("ann"))
	w.pass(5 * time.Minute) // bob at 20
	w.notified(newPage("bob"))
	w.restart()
	w.pass(15 * time.Minute) // 30 and 35
	w.notified(newPage("ann"), newPage("bob"))
	w.inFeed("cpu", "every step of escalation rule on call is done and no person has acknowledged the incident")
	w.drift = time.Minute
	w.pass(3 * time.Hour)
	w.notified()
}

func TestRuleRepeatsUntilAcknowledged(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann)), `"repeat": {"until_acknowledged": true, "interval": 5}`))
	w.push("cpu", "Warning")
	w.drift = time.Minute
	w.pass(61 * time.Minute)
	if n := len(w.newPages()); n != 13 {
		t.Errorf("%d pages in an hour, want 13", n)
	}
	w.jump(10 * time.Hour) // the program did not run: what was missed is one page
	w.pass(10 * time.Second)
	w.notified(newPage("ann"))
	w.ack(annKey)
	w.pass(time.Hour)
	w.notified()
	w.as(annKey, "/incident/unack", `{"incident_ids": [%q]}`, w.incident())
	w.notified(newPage("ann"))
	w.pass(6 * time.Minute)
	w.notified(newPage("ann"))
	w.push("cpu", "Ok")
	w.notified(over("ann"))
	w.pass(time.Hour)
	w.notified()
}

// An acknowledgement between two rounds ends the escalation, also behind a layer with force_escalate.
func TestAcknowledgementEndsRepeat(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann), window(5), `"force_escalate": true`)+","+layer(persons(bob)), `"repeat": {"until_acknowledged": true, "interval": 10}`))
	w.push("cpu", "Warning")
	w.pass(6 * time.Minute)
	w.notified(newPage("ann"), newPage("bob"))
	w.ack(annKey)
	w.pass(time.Hour)
	w.notified(acked("bob"))
}

// In quiet hours repeats do not pile up: one page waits.
func TestRepeatsDoNotPileUpInQuietHours(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob)), `"repeat": {"until_acknowledged": true, "interval": 5}`))
	w.as(annKey, "/preference/update", `{"quiet_hours": [{"start": "11:01", "end": "14:00"}]}`) // in Berlin it is eleven
	w.push("cpu", "Warning")
	w.notified(newPage("ann"), newPage("bob"))
	w.drift = time.Minute
	w.pass(2*time.Hour + 59*time.Minute)
	for _, p := range w.newPages() {
		if p.to != "bob@example.com" {
			t.Errorf("%s in quiet hours", p)
		}
	}
	w.pass(time.Minute)
	for n, p := range w.newPages() {
		if p.to == "ann@example.com" && n > 1 {
			t.Errorf("%s again", p)
		}
	}
}

// When no person is reached the fallback is notified, once, and the chain is repeated: a shift may have begun.
func TestRepeatFindsShiftThatHasBegun(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(night)), `"repeat": {"until_acknowledged": true, "interval": 60}`))
	w.clock.Set(time.Date(2026, 11, 21, 20, 30, 0, 0, time.UTC))
	w.push("cpu", "Warning")
	w.drift = time.Minute
	w.pass(65 * time.Minute)
	w.notified(newPage("olga"))
	w.pass(60 * time.Minute)
	w.notified(newPage("bob"))
}

func TestSilenceStopsRepeat(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann)), `"repeat": {"until_acknowledged": true, "interval": 10}`))
	w.push("cpu", "Critical", "env=test")
	w.notified(newPage("ann"))
	w.do("/channel/silence/rule/create", `{"channel_id": %d, "rule_name": "work", "filters": %s, "time_filter": {"start_time": %d, "end_time": %d}}`,
		shop, where("env", "test"), start.Unix(), start.Unix()+3*3600)
	w.drift = time.Minute
	w.pass(2 * time.Hour)
	w.notified()
	w.pass(time.Hour + 2*time.Minute)
	w.notified("olga@example.com email silence_ends", newPage("ann"))
}

func TestIncidentThatNobodyAcknowledgedRemindsLastStep(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann), window(5))+","+rising(persons(bob))))
	w.push("cpu", "Critical")
	w.pass(6 * time.Minute)
	w.notified(newPage("ann"), newPage("bob"))
	w.inFeed("cpu", "no person has acknowledged the incident")
	w.drift = time.Minute
	w.pass(3*time.Hour + 50*time.Minute)
	w.notified()
	w.pass(10 * time.Minute)
	w.pass(catchUp)
	w.notified(remind("bob"))
	w.jump(20 * time.Hour) // missed reminders are one
	w.pass(catchUp)
	w.pass(catchUp)
	w.notified(newPage("olga"), remind("bob"))
	w.pass(time.Hour)
	w.notified()
	w.ack(annKey)
	w.pass(59 * time.Minute)
	w.notified(acked("bob"), acked("olga"))
	w.pass(2 * time.Minute) // an acknowledged incident reminds the persons who acknowledged
	w.pass(catchUp)
	w.notified(remind("ann"))
	w.push("cpu", "Ok")
	w.notified(over("ann"), over("bob"), over("olga"))
	w.pass(9 * time.Hour)
	w.notified()
}

func TestForgottenIncidentRemindsItsResponders(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(rising(persons(ann))))
	w.do("/channel/update", `{"channel_id": %d, "reminder": {"critical": 240, "warning": 0, "withdraw": {"critical": 0}}}`, shop)
	w.push("cpu", "Critical")
	w.push("disk", "Warning")
	w.notified(newPage("ann"), "+15550100 sms i_new", newPage("ann"))
	now := w.clock.Now().Unix()
	for n := range 2 {
		w.as(annKey, "/incident/ack", `{"incident_ids": [%q]}`, w.do("/incident/list", `{"start_time": %d, "end_time": %d}`, now-60, now+60).get(fmt.Sprintf("items.%d.incident_id", n)))
	}
	w.drift = time.Minute
	w.pass(4*time.Hour - time.Minute)
	w.notified()
	w.pass(time.Minute)
	w.pass(catchUp)
	w.notified(remind("ann"), remindSMS)
	w.restart()
	w.pass(4 * time.Hour)
	w.pass(catchUp)
	w.notified(remind("ann"), remindSMS)
}

func TestRemindersAreConfiguredBySeverity(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann))))
	w.do("/channel/update", `{"channel_id": %d, "reminder": {"critical": 0, "warning": 30}}`, shop)
	w.push("cpu", "Critical")
	w.push("disk", "Warning")
	w.notified(newPage("ann"), newPage("ann"))
	w.drift = time.Minute
	w.pass(31 * time.Minute)
	w.pass(catchUp)
	w.notified(remind("ann"))
	w.pass(5*time.Hour + catchUp)
	if n := len(w.newPages()); n != 10 {
		t.Errorf("%d reminders in five hours, want 10", n)
	}
}

func TestRemindersStop(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*world){
		"when the incident is resolved": func(w *world) { w.push("cpu", "Ok", "env=test") },
		"in a silence": func(w *world) {
			w.do("/channel/silence/rule/create", `{"channel_id": %d, "rule_name": "work", "filters": %s, "time_filter": {"start_time": %d, "end_time": %d}}`,
				shop, where("env", "test"), start.Unix(), start.Unix()+30*3600)
		},
		"in a disabled channel": func(w *world) { w.do("/channel/disable", `{"channel_id": %d}`, shop) },
		"in a snooze": func(w *world) {
			w.as(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": 1440}`, w.incident())
		},
	} {
		for _, acked := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", acknowledged: ", acked), func(t *testing.T) {
				w := begin(t, escalates(layer(persons(ann))))
				w.push("cpu", "Critical", "env=test")
				if acked {
					w.ack(annKey)
				}
				stop(w)
				w.newPages()
				w.drift = 10 * time.Minute
				w.pass(23 * time.Hour)
				w.notified()
			})
		}
	}
}

// In quiet hours one reminder waits.
func TestRemindersAreHeldInQuietHours(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann))))
	w.do("/channel/update", `{"channel_id": %d, "reminder": {"warning": 30}}`, shop)
	w.as(annKey, "/preference/update", `{"quiet_hours": [{"start": "11:01", "end": "14:00"}]}`) // in Berlin it is eleven
	w.push("cpu", "Warning")
	w.notified(newPage("ann"))
	w.drift = time.Minute
	w.pass(2*time.Hour + 59*time.Minute)
	w.notified()
	w.pass(time.Minute)
	w.pass(catchUp)
	w.notified(remind("ann"))
}

func TestAlertsThatJoinAcknowledgedIncidentAreOneMessage(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService))
	w.as(annKey, "/preference/update", `{"trigger_notify": {"critical": ["email", "sms"], "warning": ["email", "sms"], "info": ["email"]}}`)
	w.do("/channel/update", `{"channel_id": 7000000000043, "reminder": {"critical": 0}}`)
	w.pushTo(groupKey, "first", "Critical", "service=pay")
	w.notified(newPage("ann"), "+15550100 sms i_new")
	w.pushTo(groupKey, "second", "Critical", "service=pay") // it is not acknowledged yet: its next message lists it
	w.ack(annKey)
	w.notified()
	for n := range 30 {
		w.pushTo(groupKey, fmt.Sprint("pod", n), "Critical", "service=pay")
	}
	w.notified()
	w.restart()
	w.pass(5 * time.Minute)
	w.pass(catchUp)
	w.notified(joined("ann"))
	w.pass(time.Hour)
	w.notified()
	w.pushTo(groupKey, "late", "Critical", "service=pay")
	w.pass(6 * time.Minute)
	w.pass(catchUp)
	w.notified(joined("ann"))
	w.inFeed("late", "its responders get one message about the alerts that join")
}

// In an incident that is not acknowledged, the next repeat shows the alerts that have joined.
func TestRepeatShowsAlertsThatHaveJoined(t *testing.T) {
	t.Parallel()
	w := begin(t, fmt.Sprintf(`{"channels": [{"channel_id": 7000000000043, "channel_name": "Grouped", "group": {%s}}],
		"integrations": [{"integration_id": 7000000000053, "integration_name": "g", "integration_type": "standard", "channel_id": 7000000000043, "integration_key": %q}],
		"escalate_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e09", "channel_id": 7000000000043, "rule_name": "on call", "template_id": "000000000000000000000001", "layers": [%s]}]}`,
		byService, groupKey, layer(onCall(day), again(1, 5))))
	w.pushTo(groupKey, "first", "Warning", "service=pay")
	w.pushTo(groupKey, "second", "Warning", "service=pay")
	w.pushTo(groupKey, "third", "Warning", "service=pay")
	w.notified(newPage("ann"))
	w.pass(5 * time.Minute)
	if text := w.last().text; !strings.Contains(text, "3 alerts") {
		t.Error(text)
	}
	w.notified(newPage("ann"))
}

// As many rules as a channel may have, a chain without an end at the smallest interval, and an outage of half an hour: what was missed is one message by each method.
func TestHostileRulesDoNotFlood(t *testing.T) {
	t.Parallel()
	var list []string
	for n := range 199 {
		list = append(list, fmt.Sprintf(`{"rule_id": "5e5e5e5e5e5e5e5e5e5e%04d", "channel_id": %d, "rule_name": "r%d", "priority": 1, "template_id": "000000000000000000000001", "layers": [%s], "filters": [[{"key": "title", "oper": "IN", "vals": ["x%d"]}]]}`,
			n, shop, n, layer(persons(bob)), n))
	}
	list = append(list, fmt.Sprintf(`{"rule_id": "5e5e5e5e5e5e5e5e5e5e9999", "channel_id": %d, "rule_name": "last", "priority": 2, "template_id": "000000000000000000000001", "layers": [%s], "repeat": {"until_acknowledged": true, "interval": 5}}`,
		shop, rising(persons(ann))))
	w := begin(t, rulesOf(list...))
	w.push("cpu", "Warning")
	w.push("disk", "Warning")
	w.push("cpu", "Critical")
	w.notified(newPage("ann"), newPage("ann"), rose("ann"), roseSMS)
	w.pass(10 * time.Second)
	w.jump(30 * time.Minute)
	w.pass(10 * time.Second) // late notifications share a message
	w.notified(newPage("ann"), "+15550100 sms i_new")
	w.jump(time.Minute)
	w.notified()
}

func TestIntervalOfJoinedAlertsIsConfigured(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService))
	w.do("/channel/update", `{"channel_id": 7000000000043, "joined_interval": 60, "reminder": {"critical": 0}}`)
	w.pushTo(groupKey, "first", "Critical", "service=pay")
	w.ack(annKey)
	w.notified(newPage("ann"))
	w.drift = time.Minute
	for n := range 59 { // an alert a minute is one message an hour
		w.pushTo(groupKey, fmt.Sprint("pod", n), "Critical", "service=pay")
		w.pass(time.Minute)
	}
	w.notified()
	w.pass(2 * time.Minute)
	w.pass(catchUp)
	w.notified(joined("ann"))
}

// A rise comes at once and takes the joined alerts with it.
func TestRiseByJoinedAlertIsToldAtOnce(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService))
	w.pushTo(groupKey, "first", "Warning", "service=pay")
	w.ack(annKey)
	w.notified(newPage("ann"))
	w.pushTo(groupKey, "second", "Warning", "service=pay")
	w.pushTo(groupKey, "third", "Critical", "service=pay")
	w.notified(rose("ann"))
	w.pass(time.Hour)
	w.notified()
}

// A storm into an acknowledged incident is one message per interval, whatever its size.
func TestStormIntoAcknowledgedIncidentIsOneMessage(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService))
	w.pushTo(groupKey, "first", "Critical", "service=pay")
	w.ack(annKey)
	w.notified(newPage("ann"))
	for batch := range 4 {
		w.pushMany(groupKey, batch*500, 500, "pay")
	}
	w.pass(6 * time.Minute)
	w.pass(time.Hour)
	n := 0
	for _, p := range w.newPages() {
		if p.event == "i_join" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d messages, want 1", n)
	}
}

// pushMany sends n alerts of a service in one push, numbered from first on.
func (w *world) pushMany(key string, first, n int, service string) {
	w.t.Helper()
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"title_rule": "Trouble", "event_status": "Critical", "alert_key": "many-%d", "labels": {"service": %q}}`, first+i, service))
	}
	if r := w.post("/event/push/alert/standard?integration_key="+key, "["+strings.Join(list, ",")+"]"); r.Error != nil {
		w.t.Fatal(r)
	}
	w.settle()
}

// A follow-up that cannot be sent, as its rule cannot be read, blocks no other, and is retried until it can.
func TestFollowUpThatFailsBlocksNoOther(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("cpu", "Critical")
	broken := w.incident()
	w.ack(annKey)
	w.clock.Add(time.Second)
	w.push("disk", "Critical")
	w.ack(annKey)
	w.notified(newPage("ann"), newPage("ann"))
	w.sql(fmt.Sprintf(`UPDATE escalation SET rule = 'x' || rule WHERE incident_id = '%s'`, broken))
	w.jump(4*time.Hour + time.Minute)
	w.pass(catchUp)
	w.notified(remind("ann"))
	if n := w.count(`SELECT count(*) FROM follow_up WHERE failed_at > 0`); n != 1 {
		t.Errorf("%d follow-ups are marked as failing, want 1", n)
	}
	w.sql(fmt.Sprintf(`UPDATE escalation SET rule = substr(rule, 2) WHERE incident_id = '%s'`, broken))
	w.jump(2 * time.Minute)
	w.pass(catchUp)
	w.notified(remind("ann"))
}
