package story

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func silenceEnds(person string) string { return person + "@example.com email silence_ends" }

// silenced is a section with a silence of the shop's tests from now on, which a person made.
func silenced(d time.Duration, person int, more ...string) string {
	members := fmt.Sprintf(`"updated_by": %d, "filters": %s, %s`, person, where("env", "test"), once(d))
	for _, m := range more {
		members += ", " + m
	}
	return rules("silence_rules", members)
}

// theSilence identifies the silence of silenced.
var theSilence = fmt.Sprintf(`"channel_id": %d, "rule_id": "5e5e5e5e5e5e5e5e5e5e5f00"`, shop)

// lasts sets another end for theSilence.
func (w *world) lasts(key string, d time.Duration) {
	w.t.Helper()
	w.as(key, "/channel/silence/rule/update", `{%s, "rule_name": "rule 0", %s}`, theSilence, once(d))
}

func TestPersonWhoMadeSilenceIsNotifiedOfItsEnd(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.works(shop, time.Hour)
	for n := range 8 {
		w.push(fmt.Sprint("k", n), "Critical", "env=test")
		w.clock.Add(time.Second)
	}
	w.push("k1", "Ok")
	w.clock.Set(start)
	w.pass(44 * time.Minute)
	w.notified()
	w.pass(time.Minute)
	w.hasText("ann@example.com", "Silence work in Shop ends Sat 21 Nov 12:00 CET: The silence work in channel Shop ends Sat 21 Nov 12:00 CET. "+
		"7 alerts are still active under it and will page then: Trouble with k0; Trouble with k2; Trouble with k3; Trouble with k4; Trouble with k5; and 2 more.")
	w.notified(silenceEnds("ann"))
	w.pass(14 * time.Minute)
	w.notified()
}

// The end of a silence without alerts surprises no one, but an alert may still come.
func TestSilenceWithoutAlertsEndsWithoutNotification(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, silenced(time.Hour, ann))
	w.push("cpu", "Critical", "env=test")
	w.push("cpu", "Ok")
	w.pass(50 * time.Minute)
	w.notified()
	w.push("mem", "Critical", "env=test")
	w.pass(time.Minute)
	w.hasText("ann@example.com", "Silence rule 0 in Shop ends Sat 21 Nov 12:00 CET: The silence rule 0 in channel Shop ends Sat 21 Nov 12:00 CET. 1 alert is still active under it and will page then: Trouble with mem.")
	w.notified(silenceEnds("ann"))
	w.push("mem", "Ok")
	w.pass(time.Hour)
	w.notified()
}

func TestDeletedSilenceEndsWithoutNotification(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"disable", "delete"} {
		w := begin(t, silenced(time.Hour, ann)).slow()
		w.push("cpu", "Critical", "env=test")
		w.do("/channel/silence/rule/"+verb, `{%s}`, theSilence)
		w.pass(time.Hour)
		w.notified(newPage("olga")) // the channel has no rule
	}
}

func TestProlongedSilenceIsNotifiedBeforeItsNewEnd(t *testing.T) {
	t.Parallel()
	w := begin(t, silenced(time.Hour, ann))
	w.push("cpu", "Critical", "env=test")
	w.pass(44 * time.Minute)
	w.lasts(annKey, 2*time.Hour)
	w.pass(time.Hour)
	w.notified()
	w.pass(time.Minute)
	w.notified(silenceEnds("ann"))
	w.lasts(annKey, 3*time.Hour)
	w.slow().pass(time.Hour)
	w.notified(silenceEnds("ann"))
}

// A waiting notification is checked again before it is sent.
func TestSilenceNotificationIsCheckedWhenItIsSent(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world){
		"disabled":  func(w *world) { w.do("/channel/silence/rule/disable", `{%s}`, theSilence) },
		"prolonged": func(w *world) { w.lasts(annKey, 2*time.Hour) },
		"recovered": func(w *world) { w.push("cpu", "Ok") },
		"over":      func(w *world) { w.pass(15 * time.Minute) },
		"hidden":    func(w *world) { w.do("/channel/update", `{"channel_id": %d, "is_private": true}`, shop) },
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, silenced(time.Hour, ann))
			w.push("cpu", "Critical", "env=test")
			w.fail("example.com", later)
			w.pass(45 * time.Minute)
			change(w)
			w.acceptAll()
			w.pass(15 * time.Minute)
			for _, p := range w.newPages() {
				if p.String() != newPage("olga") { // the channel has no rule
					t.Errorf("%s was sent", p)
				}
			}
			if n := w.count(`SELECT count(*) FROM notice WHERE cause = 'silence' AND status = 'cancelled'`); n != 1 {
				t.Errorf("%d notices were cancelled", n)
			}
		})
	}
}

func TestNoEndIsNotifiedTwice(t *testing.T) {
	t.Parallel()
	w := begin(t, silenced(time.Hour, ann))
	w.as(annKey, "/preference/update", `{"trigger_notify": {"critical": [], "warning": [], "info": ["sms"]}}`)
	w.push("cpu", "Critical", "env=test")
	w.pass(45 * time.Minute)
	w.notified("+15550100 sms silence_ends")
	w.restart()
	w.do("/channel/silence/rule/update", `{%s, "rule_name": "renamed by Olga"}`, theSilence)
	w.clock.Add(-30 * time.Minute)
	w.settle()
	w.pass(44 * time.Minute)
	w.notified()
}

func TestAfterStandstillSilenceIsNotifiedUnlessItHasEnded(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, silenced(time.Hour, bob))
	w.push("cpu", "Critical", "env=test")
	w.standstill(55 * time.Minute)
	w.notified(silenceEnds("bob"))

	w = begin(t, notifyAnn, silenced(time.Hour, bob))
	w.push("cpu", "Critical", "env=test")
	w.standstill(61 * time.Minute)
	w.notified(newPage("ann"))
}

func TestShortSilenceIsNotifiedAfterHalfItsTime(t *testing.T) {
	t.Parallel()
	w := begin(t, silenced(10*time.Minute, ann))
	w.push("cpu", "Critical", "env=test")
	w.pass(5*time.Minute - 10*time.Second)
	w.notified()
	w.pass(10 * time.Second)
	w.notified(silenceEnds("ann"))
}

func TestOwnerIsNotifiedWhereNoOneElseMayBe(t *testing.T) {
	t.Parallel()
	private := fmt.Sprintf(`UPDATE channel SET is_private = TRUE, team_id = %d WHERE channel_id = %d`, ops, shop)
	for name, c := range map[string]struct {
		maker        int
		change, told string
	}{
		"nobody is known": {0, "", "olga"},
		"has left":        {bob, fmt.Sprintf(`UPDATE person SET status = 'deleted' WHERE person_id = %d`, bob), "olga"},
		"may not read it": {ann, private, "olga"},
		"is in the team":  {bob, private, "bob"},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, silenced(time.Hour, c.maker)).slow()
			if c.change != "" {
				w.sql(c.change)
			}
			w.push("cpu", "Critical", "env=test")
			w.pass(45 * time.Minute)
			w.notified(silenceEnds(c.told))
		})
	}
}

func TestEndOfRecurringSilenceIsNotNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, rules("silence_rules", `"filters": `+where("env", "test")+`, "time_filters": [{"start": "09:00", "end": "11:00", "repeat": [6]}]`)).slow()
	w.push("cpu", "Critical", "env=test")
	w.pass(55 * time.Minute)
	w.notified()
}

func TestPersonChoosesMethodOfSilenceNotification(t *testing.T) {
	t.Parallel()
	w := begin(t, silenced(time.Hour, ann)).slow()
	w.as(annKey, "/preference/update", `{"trigger_notify": {"critical": ["email"], "warning": ["email"], "info": ["sms"]}, "quiet_hours": [{"start": "11:00", "end": "11:50"}]}`)
	w.push("cpu", "Critical", "env=test")
	w.pass(45 * time.Minute)
	w.notified()
	w.pass(5 * time.Minute)
	w.notified("+15550100 sms silence_ends")
}

// A silence stops the pages of incidents that were open before it, if they are due before its end.
func TestSilenceHoldsBackEscalations(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical", "env=test")
	w.notified(newPage("ann"))
	w.works(shop, 8*time.Minute)
	w.pass(8 * time.Minute)
	w.notified() // the next page is due later anyway
	w.works(shop, 30*time.Minute)
	w.pass(15 * time.Minute)
	w.notified(silenceEnds("ann"))
	w.pass(15 * time.Minute)
	w.notified(newPage("cid"))
}

// An incident of which only some alerts are silenced is escalated.
func TestSilenceOfSomeAlertsHoldsBackNoEscalation(t *testing.T) {
	t.Parallel()
	const groups = 7000000000043
	w := begin(t, strings.Replace(grouped(byService), layer(onCall(day)), layer(onCall(day), window(20))+","+layer(persons(cid)), 1))
	w.pushTo(groupKey, "cpu", "Critical", "env=test", "service=s")
	w.pushTo(groupKey, "mem", "Critical", "env=prod", "service=s")
	w.notified(newPage("ann"))
	w.works(groups, 30*time.Minute)
	w.pass(15 * time.Minute)
	w.notified()
	w.pass(15 * time.Minute)
	w.notified(newPage("cid"))
}

// An escalation that silences hold back goes on at once when an alert joins that none of them matches, by itself or by
// a person's hand.
func TestAlertThatIsNotSilencedReleasesEscalation(t *testing.T) {
	t.Parallel()
	const groups = 7000000000043
	for name, change := range map[string]func(w *world, incident string) (also []string){
		"joins": func(w *world, _ string) []string {
			w.pushTo(groupKey, "mem", "Critical", "env=prod", "service=s")
			return nil
		},
		"moved": func(w *world, incident string) []string {
			w.pushTo(groupKey, "disk", "Info", "env=prod", "service=other")
			w.notified(newPage("ann"))
			now := w.clock.Now().Unix()
			alert := w.do("/alert/list", `{"start_time": %d, "end_time": %d, "alert_keys": ["disk"]}`, now-86400, now+3600).get("items.0.alert_id")
			w.do("/alert/merge", `{"alert_ids": [%q], "incident_id": %q}`, alert, incident)
			return []string{merged("ann")} // the incident that lost its alert is merged
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, strings.Replace(grouped(byService), layer(onCall(day)), layer(onCall(day), window(10))+","+layer(persons(cid)), 1))
			w.pushTo(groupKey, "cpu", "Critical", "env=test", "service=s")
			incident := w.incident()
			w.notified(newPage("ann"))
			w.works(groups, time.Hour)
			w.pass(12 * time.Minute)
			w.notified()
			also := change(w, incident)
			w.settle()
			w.notified(append(also, newPage("cid"))...)
			w.pass(5 * time.Minute)
			w.notified()
		})
	}
}

// works makes Ann silence a channel's tests from now on.
func (w *world) works(channel int, d time.Duration) {
	w.t.Helper()
	now := w.clock.Now()
	w.as(annKey, "/channel/silence/rule/create", `{"channel_id": %d, "rule_name": "work", "filters": %s, "time_filter": {"start_time": %d, "end_time": %d}}`, channel, where("env", "test"), now.Unix(), now.Add(d).Unix())
}

func TestSilenceThatAnotherOutlivesHoldsNothingBack(t *testing.T) {
	t.Parallel()
	w := begin(t, rules("silence_rules",
		fmt.Sprintf(`"updated_by": %d, "filters": %s, %s`, ann, where("env", "test"), once(time.Hour)),
		fmt.Sprintf(`"updated_by": %d, "filters": %s, %s`, bob, where("env", "test"), once(2*time.Hour)),
		fmt.Sprintf(`"updated_by": %d, "filters": %s, %s`, cid, where("env", "prod"), once(2*time.Hour)))).slow()
	w.push("cpu", "Critical", "env=test")
	w.pass(100 * time.Minute)
	w.notified()
	w.pass(5 * time.Minute)
	w.notified(silenceEnds("bob"))
}
