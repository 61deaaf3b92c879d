package story

import (
	"fmt"
	"testing"
	"time"
)

// bySeverity notifies by mail, and from Critical on by text message too. Of the persons only Ann has a phone.
const bySeverity = `"by": {"critical": ["email", "sms"], "warning": ["email"], "info": ["email"]}`

// rising is a layer that notifies by bySeverity.
func rising(target string, times ...string) string {
	extra := ""
	for _, m := range times {
		extra += ", " + m
	}
	return fmt.Sprintf(`{"target": {%s, %s}%s}`, target, bySeverity, extra)
}

// ofSeverity is a member of a rule: it matches incidents of a severity.
func ofSeverity(severity string) string {
	return fmt.Sprintf(`"filters": [[{"key": "severity", "oper": "IN", "vals": [%q]}]]`, severity)
}

// rule is an escalation rule of the shop.
func rule(n int, layers string, more ...string) string {
	extra := ""
	for _, m := range more {
		extra += ", " + m
	}
	return fmt.Sprintf(`{"rule_id": "5e5e5e5e5e5e5e5e5e5e5a%02d", "channel_id": %d, "rule_name": "rule %d", "priority": %d, "template_id": "000000000000000000000001", "layers": [%s]%s}`,
		n, shop, n, n, layers, extra)
}

// rulesOf is a section with escalation rules.
func rulesOf(list ...string) string {
	text := ""
	for i, r := range list {
		if i > 0 {
			text += ", "
		}
		text += r
	}
	return `{"escalate_rules": [` + text + `]}`
}

// rose is the message about a rise.
func rose(person string) string { return person + "@example.com email i_r_severity" }

const roseSMS = "+15550100 sms i_r_severity"

// severity sets the severity of the newest incident by hand.
func (w *world) severity(to string) {
	w.t.Helper()
	w.do("/incident/reset", `{"incident_id": %q, "incident_severity": %q}`, w.incident(), to)
}

func TestRiseAddsMethodsOfNewSeverity(t *testing.T) {
	t.Parallel()
	for name, rise := range map[string]func(*world){
		"by the same alert": func(w *world) { w.push("cpu", "Critical") },
		"by hand":           func(w *world) { w.severity("Critical") },
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, escalates(rising(persons(ann, bob), window(10))+","+rising(persons(cid))))
			w.push("cpu", "Warning")
			w.notified(newPage("ann"), newPage("bob"))
			rise(w)
			w.notified(rose("ann"), roseSMS, rose("bob")) // Bob has no phone, and Cid is not notified yet
			w.pass(11 * time.Minute)
			w.notified(newPage("cid"))
			w.push("cpu", "Ok")
			w.notified(over("ann"), over("bob"), over("cid"))
		})
	}
}

func TestRiseByAlertThatJoinsAddsMethods(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService))
	w.as(annKey, "/preference/update", `{"trigger_notify": {"critical": ["email", "sms"], "warning": ["email"], "info": ["email"]}}`)
	w.pushTo(groupKey, "a", "Warning", "service=pay")
	w.notified(newPage("ann"))
	w.pushTo(groupKey, "b", "Critical", "service=pay")
	w.notified(rose("ann"), roseSMS)
	w.pushTo(groupKey, "c", "Critical", "service=pay")
	w.notified()
}

func TestTwoRisesNotifyTwice(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(fmt.Sprintf(`{"target": {%s, "by": {"critical": ["email", "sms", "voice"], "warning": ["email", "sms"], "info": ["email"]}}}`, persons(ann))))
	w.push("cpu", "Info")
	w.push("cpu", "Warning")
	w.push("cpu", "Critical")
	w.notified(newPage("ann"), rose("ann"), roseSMS, rose("ann"), roseSMS, "+15550100 voice i_r_severity")
	w.severity("Info")
	for range 100 {
		w.severity("Warning")
		w.severity("Critical")
	}
	w.notified()
}

func TestRiseStartsRuleOfNewSeverity(t *testing.T) {
	t.Parallel()
	w := begin(t, rulesOf(
		rule(1, layer(persons(bob), window(5))+","+layer(persons(cid)), ofSeverity("Critical")),
		rule(2, layer(persons(ann), window(5))+","+layer(persons(olga)), ofSeverity("Warning"))))
	w.push("cpu", "Warning")
	w.notified(newPage("ann"))
	w.push("cpu", "Critical")
	w.notified(newPage("bob"), rose("ann")) // Ann's step was reached
	w.pass(6 * time.Minute)
	w.notified(newPage("cid")) // and Olga is not: her rule was replaced
	for range 50 {
		w.severity("Warning")
		w.severity("Critical")
	}
	w.notified()
}

func TestRiseInsideDelayIsInFirstPage(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(rising(persons(ann)), `"aggr_window": 60`))
	w.push("cpu", "Warning")
	w.pass(30 * time.Second)
	w.push("cpu", "Critical")
	w.notified()
	w.pass(40 * time.Second)
	w.notified(newPage("ann"), "+15550100 sms i_new")
}

func TestRiseEndsWaitForQuietHours(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(rising(persons(ann))))
	w.as(annKey, "/preference/update", `{"quiet_hours": [{"start": "00:00", "end": "23:59"}]}`)
	w.push("cpu", "Warning")
	w.notified()
	w.push("cpu", "Critical")
	w.notified(newPage("ann"), roseSMS)
}

// A severity that falls and rises again is no news, but what waits for quiet hours is decided again.
func TestSecondRiseEndsWaitForQuietHoursToo(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(rising(persons(ann), again(1, 5))))
	w.as(annKey, "/preference/update", `{"quiet_hours": [{"start": "00:00", "end": "23:59"}]}`)
	w.push("cpu", "Critical")
	w.notified(newPage("ann"), "+15550100 sms i_new")
	w.severity("Warning")
	w.pass(6 * time.Minute)
	w.notified()
	w.severity("Critical")
	w.notified(newPage("ann"))
}

func TestRiseWaitsForEndOfSilenceOrSnooze(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]func(*world){
		"silence": func(w *world) {
			w.do("/channel/silence/rule/create", `{"channel_id": %d, "rule_name": "work", "filters": %s, "time_filter": {"start_time": %d, "end_time": %d}}`,
				shop, where("env", "test"), start.Unix(), start.Unix()+600)
		},
		"snooze": func(w *world) {
			w.as(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": 10}`, w.incident())
		},
		"channel": func(w *world) { w.do("/channel/disable", `{"channel_id": %d}`, shop) },
	} {
		for _, acked := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", acknowledged: ", acked), func(t *testing.T) {
				w := begin(t, escalates(rising(persons(ann))))
				w.push("cpu", "Warning", "env=test")
				want := []string{roseSMS, rose("ann")}
				if acked {
					w.ack(annKey)
				}
				hold(w)
				w.severity("Critical")
				w.notified(newPage("ann"))
				w.restart()
				w.pass(11 * time.Minute)
				if name == "silence" && !acked { // of an acknowledged incident the end of a silence pages no one else
					want = append(want, "olga@example.com email silence_ends")
				}
				if name == "snooze" { // a snooze ends with a message
					want = append(want, woken("ann"))
					if acked {
						want = append(want, "+15550100 sms i_wake")
					} else { // the rule begins again, for the new severity
						want = []string{newPage("ann"), "+15550100 sms i_new", woken("ann")}
					}
				}
				w.do("/channel/enable", `{"channel_id": %d}`, shop)
				w.notified(want...)
			})
		}
	}
}

// Bob's shift begins at 22:00. The rise reaches Ann, who was notified, and the rule still waits for Bob.
func TestRiseWhileLayerWaitsForShift(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(rising(persons(ann), window(5))+","+rising(onCall(night), `"on_nobody": {"then": "wait"}`)))
	w.push("cpu", "Warning")
	w.pass(10 * time.Minute)
	w.notified(newPage("ann"))
	w.push("cpu", "Critical")
	w.notified(rose("ann"), roseSMS)
	w.drift = 10 * time.Minute
	w.pass(12 * time.Hour)
	w.notified(newPage("bob"))
}

func TestRiseAfterLastStepIsNews(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(rising(persons(ann))))
	w.push("cpu", "Warning")
	w.pass(time.Hour)
	w.notified(newPage("ann"))
	w.push("cpu", "Critical")
	w.notified(rose("ann"), roseSMS)
}

// The rule was changed, disabled or deleted since: the escalation goes on with the rule as it was, unless another matches.
func TestRiseWhenRuleHasChanged(t *testing.T) {
	t.Parallel()
	key := fmt.Sprintf(`{"channel_id": %d, "rule_id": "5e5e5e5e5e5e5e5e5e5e5a01"}`, shop)
	for name, change := range map[string]func(*world){
		"disabled": func(w *world) { w.do("/channel/escalate/rule/disable", "%s", key) },
		"deleted":  func(w *world) { w.do("/channel/escalate/rule/delete", "%s", key) },
		"other layers": func(w *world) {
			w.do("/channel/escalate/rule/update", `{"channel_id": %d, "rule_id": "5e5e5e5e5e5e5e5e5e5e5a01", "rule_name": "r", "template_id": "000000000000000000000001", "layers": [%s]}`, shop, layer(persons(cid)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, rulesOf(rule(1, rising(persons(ann)))))
			w.push("cpu", "Warning")
			change(w)
			w.push("cpu", "Critical")
			w.notified(newPage("ann"), rose("ann"), roseSMS)
		})
	}
}

func TestFallNotifiesNobodyAndCancelsNothing(t *testing.T) {
	t.Parallel()
	w := begin(t, rulesOf(rule(1, rising(persons(ann), window(5))+","+rising(persons(bob)), ofSeverity("Critical")), rule(2, layer(persons(cid)), ofSeverity("Warning"))))
	w.push("cpu", "Critical")
	w.notified(newPage("ann"), "+15550100 sms i_new")
	w.severity("Warning")
	w.notified()
	w.pass(6 * time.Minute)
	w.notified(newPage("bob"))
}

func TestRiseOfAcknowledgedIncidentNotifiesItsResponders(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(rising(persons(ann, bob), window(30))+","+rising(persons(cid))))
	w.push("cpu", "Info")
	w.ack(annKey)
	w.notified(newPage("ann"), newPage("bob"), acked("bob"))
	w.push("cpu", "Warning")
	w.notified(rose("ann"), rose("bob"))
	w.push("cpu", "Critical")
	w.notified(rose("ann"), roseSMS, rose("bob"))
	for range 100 {
		w.severity("Warning")
		w.severity("Critical")
	}
	w.notified()
}

// A person who acknowledged a Warning is notified when it becomes Critical, whatever it was before.
func TestRiseAfterAcknowledgementIsNewsAgain(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(rising(persons(ann))))
	w.push("cpu", "Critical")
	w.severity("Warning")
	w.ack(annKey)
	w.notified(newPage("ann"), "+15550100 sms i_new")
	w.severity("Critical")
	w.notified(rose("ann"), roseSMS)
}

// An incident that a person assigned by hand has no rule; those who were assigned are notified.
func TestRiseOfAssignedIncidentNotifiesAssigned(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.do("/incident/create", `{"incident_severity": "Warning", "title": "Smoke", "channel_id": %d, "assigned_to": {"person_ids": [%d]}}`, shop, cid)
	w.notified("cid@example.com email i_assign")
	w.severity("Critical")
	w.notified(rose("cid"))
	w.severity("Warning")
	w.severity("Critical")
	w.notified()
}

// The acknowledgement comes while the pages of the rise wait to be sent: the responders learn of the rise all the same.
func TestRiseAndAcknowledgementRace(t *testing.T) {
	t.Parallel()
	for name, race := range map[string]func(w *world, id string){
		"the rise first": func(w *world, id string) {
			w.try(ownKey, "/incident/reset", `{"incident_id": %q, "incident_severity": "Critical"}`, id)
			w.try(annKey, "/incident/ack", `{"incident_ids": [%q]}`, id)
		},
		"the acknowledgement first": func(w *world, id string) {
			w.try(annKey, "/incident/ack", `{"incident_ids": [%q]}`, id)
			w.try(ownKey, "/incident/reset", `{"incident_id": %q, "incident_severity": "Critical"}`, id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, escalates(rising(persons(ann, bob))))
			w.push("cpu", "Warning")
			w.notified(newPage("ann"), newPage("bob"))
			race(w, w.incident())
			w.settle()
			w.notified(rose("ann"), roseSMS, rose("bob"), acked("bob"))
		})
	}
}

// A person who acknowledges after a notification of the rise knows of it.
func TestAcknowledgementAfterRiseIsEndOfIt(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(rising(persons(ann, bob))))
	w.push("cpu", "Warning")
	w.push("cpu", "Critical")
	w.notified(newPage("ann"), newPage("bob"), rose("ann"), rose("bob"), roseSMS)
	w.ack(annKey)
	w.notified(acked("bob"))
}

// Cid, who was not notified, acknowledges at once and learns of the rise. Bob was paged with the new severity and gets no second message.
func TestPageOfNewSeverityIsMessageOfRise(t *testing.T) {
	t.Parallel()
	w := begin(t, cidActs, rulesOf(
		rule(1, layer(persons(bob)), ofSeverity("Critical"), `"aggr_window": 10`),
		rule(2, layer(persons(ann)), ofSeverity("Warning"))))
	w.push("cpu", "Warning")
	w.push("cpu", "Critical")
	w.pass(10 * time.Second)
	w.notified(newPage("ann"), rose("ann"), newPage("bob"))
	w.ack(cidKey)
	w.notified(rose("cid"), acked("ann"), acked("bob"))
}

// A process that ends between the rise and its notification is replaced by one that notifies.
func TestRiseSurvivesRestart(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(rising(persons(ann))))
	w.push("cpu", "Warning")
	id := w.incident()
	w.try(ownKey, "/incident/reset", `{"incident_id": %q, "incident_severity": "Critical"}`, id)
	w.restart()
	w.settle()
	w.notified(newPage("ann"), rose("ann"), roseSMS)
}

// A layer that names chats and addresses only: they are notified of the rise, once.
func TestRiseIsPostedToChatsWithoutPersons(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(fmt.Sprintf(`{"target": {"emails": ["noc@example.org"], "webhooks": [{"type": "slack", "settings": {"token": "%s/slack/ops"}}]}}`, chats)))
	w.push("cpu", "Warning")
	w.notified("noc@example.org email i_new", "ops slack i_new")
	w.push("cpu", "Critical")
	w.notified("noc@example.org email i_r_severity", "ops slack i_r_severity")
	w.severity("Info")
	w.severity("Critical")
	w.notified()
}

// The fallback that is notified because no one else was reached is notified of the rise at once, by all methods.
func TestRiseReachesFallback(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(night))))
	w.do("/preference/update", `{"trigger_notify": {"critical": ["email", "ntfy"], "warning": ["email"], "info": []}, "contacts": {"ntfy": "`+chats+`/ntfy/olga"}}`)
	w.push("cpu", "Warning")
	w.pass(16 * time.Minute)
	w.notified(newPage("olga"))
	w.push("cpu", "Critical")
	w.notified("olga ntfy i_r_severity", newPage("olga"))
}

// Incidents that were acknowledged before there were follow-ups: reminders count from the upgrade.
func TestFollowUpsOfOlderVersion(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann))))
	w.push("cpu", "Critical")
	w.ack(annKey)
	w.notified(newPage("ann"))
	w.clock.Add(10 * 24 * time.Hour)
	w.sql(`UPDATE follow_up SET next_at = 1, since = 0, reminded_at = 0`)
	w.settle()
	w.notified()
	w.drift = time.Minute
	w.pass(59 * time.Minute)
	w.notified()
	w.pass(2 * time.Minute)
	w.notified(remind("ann"))
}
