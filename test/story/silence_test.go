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

// theSilence names that of silenced.
var theSilence = fmt.Sprintf(`"channel_id": %d, "rule_id": "5e5e5e5e5e5e5e5e5e5e5f00"`, shop)

// lasts gives it another end.
func (w *world) lasts(key string, d time.Duration) {
	w.t.Helper()
	w.as(key, "/channel/silence/rule/update", `{%s, "rule_name": "rule 0", %s}`, theSilence, once(d))
}

func TestWhoeverMadeASilenceIsToldThatItEnds(t *testing.T) {
	w := begin(t)
	w.works(shop, time.Hour)
	for n := range 8 {
		w.push(fmt.Sprint("k", n), "Critical", "env=test")
		w.clock.Add(time.Second)
	}
	w.push("k1", "Ok")
	w.clock.Set(start)
	w.pass(44 * time.Minute)
	w.told()
	w.pass(time.Minute)
	w.says("ann@example.com", "Silence work in Shop ends Sat 21 Nov 12:00 CET: The silence work in channel Shop ends Sat 21 Nov 12:00 CET. "+
		"7 alerts are still active under it and will page then: Trouble with k0; Trouble with k2; Trouble with k3; Trouble with k4; Trouble with k5; and 2 more.")
	w.told(silenceEnds("ann"))
	w.pass(14 * time.Minute)
	w.told()
}

// What holds nothing back surprises nobody, but an alert may come yet.
func TestASilenceThatHoldsNothingBackEndsUntold(t *testing.T) {
	w := begin(t, tellAnn, silenced(time.Hour, ann))
	w.push("cpu", "Critical", "env=test")
	w.push("cpu", "Ok")
	w.pass(50 * time.Minute)
	w.told()
	w.push("mem", "Critical", "env=test")
	w.pass(time.Minute)
	w.says("ann@example.com", "Silence rule 0 in Shop ends Sat 21 Nov 12:00 CET: The silence rule 0 in channel Shop ends Sat 21 Nov 12:00 CET. 1 alert is still active under it and will page then: Trouble with mem.")
	w.told(silenceEnds("ann"))
	w.push("mem", "Ok")
	w.pass(time.Hour)
	w.told()
}

func TestASilenceThatIsNoMoreEndsUntold(t *testing.T) {
	for _, verb := range []string{"disable", "delete"} {
		w := begin(t, silenced(time.Hour, ann)).slow()
		w.push("cpu", "Critical", "env=test")
		w.do("/channel/silence/rule/"+verb, `{%s}`, theSilence)
		w.pass(time.Hour)
		w.told()
	}
}

func TestAProlongedSilenceIsToldBeforeItsNewEnd(t *testing.T) {
	w := begin(t, silenced(time.Hour, ann))
	w.push("cpu", "Critical", "env=test")
	w.pass(44 * time.Minute)
	w.lasts(annKey, 2*time.Hour)
	w.pass(time.Hour)
	w.told()
	w.pass(time.Minute)
	w.told(silenceEnds("ann"))
	w.lasts(annKey, 3*time.Hour)
	w.slow().pass(time.Hour)
	w.told(silenceEnds("ann"))
}

// What waits to be sent is looked at again.
func TestANoticeOfASilenceIsLookedAtWhenItIsSent(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"disabled":  func(w *world) { w.do("/channel/silence/rule/disable", `{%s}`, theSilence) },
		"prolonged": func(w *world) { w.lasts(annKey, 2*time.Hour) },
		"recovered": func(w *world) { w.push("cpu", "Ok") },
		"over":      func(w *world) { w.pass(15 * time.Minute) },
		"hidden": func(w *world) {
			w.sql(fmt.Sprintf(`UPDATE channel SET is_private = 1 WHERE channel_id = %d`, shop))
			w.sql(`UPDATE account SET revision = revision + 1`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, silenced(time.Hour, ann))
			w.push("cpu", "Critical", "env=test")
			w.fail("example.com", later)
			w.pass(45 * time.Minute)
			change(w)
			w.heal()
			w.pass(15 * time.Minute)
			w.told()
			if n := w.count(`SELECT count(*) FROM notice WHERE cause = 'silence' AND status = 'cancelled'`); n != 1 {
				t.Errorf("%d notices were cancelled", n)
			}
		})
	}
}

func TestNoEndIsToldTwice(t *testing.T) {
	w := begin(t, silenced(time.Hour, ann))
	w.as(annKey, "/preference/update", `{"trigger_notify": {"critical": [], "warning": [], "info": ["sms"]}}`)
	w.push("cpu", "Critical", "env=test")
	w.pass(45 * time.Minute)
	w.told("+15550100 sms silence_ends")
	w.restart()
	w.do("/channel/silence/rule/update", `{%s, "rule_name": "renamed by Olga"}`, theSilence)
	w.clock.Add(-30 * time.Minute)
	w.settle()
	w.pass(44 * time.Minute)
	w.told()
}

func TestAfterAStandstillASilenceIsToldUnlessItHasEnded(t *testing.T) {
	w := begin(t, tellAnn, silenced(time.Hour, bob))
	w.push("cpu", "Critical", "env=test")
	w.standstill(55 * time.Minute)
	w.told(silenceEnds("bob"))

	w = begin(t, tellAnn, silenced(time.Hour, bob))
	w.push("cpu", "Critical", "env=test")
	w.standstill(61 * time.Minute)
	w.told(newPage("ann"))
}

func TestAShortSilenceIsToldHalfWay(t *testing.T) {
	w := begin(t, silenced(10*time.Minute, ann))
	w.push("cpu", "Critical", "env=test")
	w.pass(5*time.Minute - 10*time.Second)
	w.told()
	w.pass(10 * time.Second)
	w.told(silenceEnds("ann"))
}

func TestTheOwnerIsToldWhereNobodyElseMayBe(t *testing.T) {
	private := fmt.Sprintf(`UPDATE channel SET is_private = 1, team_id = %d WHERE channel_id = %d`, ops, shop)
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
			w.told(silenceEnds(c.told))
		})
	}
}

func TestTheEndOfARecurringSilenceIsNotTold(t *testing.T) {
	w := begin(t, rules("silence_rules", `"filters": `+where("env", "test")+`, "time_filters": [{"start": "09:00", "end": "11:00", "repeat": [6]}]`)).slow()
	w.push("cpu", "Critical", "env=test")
	w.pass(55 * time.Minute)
	w.told()
}

func TestThePersonChoosesHowToBeToldOfASilence(t *testing.T) {
	w := begin(t, silenced(time.Hour, ann)).slow()
	w.as(annKey, "/preference/update", `{"trigger_notify": {"critical": ["email"], "warning": ["email"], "info": ["sms"]}, "quiet_hours": [{"start": "11:00", "end": "11:50"}]}`)
	w.push("cpu", "Critical", "env=test")
	w.pass(45 * time.Minute)
	w.told()
	w.pass(5 * time.Minute)
	w.told("+15550100 sms silence_ends")
}

// Of what was open before it a silence holds back the pages that are due by its end.
func TestASilenceHoldsBackEscalations(t *testing.T) {
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical", "env=test")
	w.told(newPage("ann"))
	w.works(shop, 8*time.Minute)
	w.pass(8 * time.Minute)
	w.told() // the next page is due later anyway
	w.works(shop, 30*time.Minute)
	w.pass(15 * time.Minute)
	w.told(silenceEnds("ann"))
	w.pass(15 * time.Minute)
	w.told(newPage("cid"))
}

// Of an incident that is not silenced as a whole nothing is held back.
func TestASilenceOfSomeAlertsHoldsBackNoEscalation(t *testing.T) {
	const groups = 7000000000043
	w := begin(t, strings.Replace(grouped(byService), layer(onCall(day)), layer(onCall(day), window(20))+","+layer(persons(cid)), 1))
	w.pushTo(groupKey, "cpu", "Critical", "env=test", "service=s")
	w.pushTo(groupKey, "mem", "Critical", "env=prod", "service=s")
	w.told(newPage("ann"))
	w.works(groups, 30*time.Minute)
	w.pass(15 * time.Minute)
	w.told()
	w.pass(15 * time.Minute)
	w.told(newPage("cid"))
}

// works lets Ann silence a channel's tests from now on.
func (w *world) works(channel int, d time.Duration) {
	w.t.Helper()
	now := w.clock.Now()
	w.as(annKey, "/channel/silence/rule/create", `{"channel_id": %d, "rule_name": "work", "filters": %s, "time_filter": {"start_time": %d, "end_time": %d}}`, channel, where("env", "test"), now.Unix(), now.Add(d).Unix())
}

func TestASilenceThatAnotherOutlivesHoldsNothingBack(t *testing.T) {
	w := begin(t, rules("silence_rules",
		fmt.Sprintf(`"updated_by": %d, "filters": %s, %s`, ann, where("env", "test"), once(time.Hour)),
		fmt.Sprintf(`"updated_by": %d, "filters": %s, %s`, bob, where("env", "test"), once(2*time.Hour)),
		fmt.Sprintf(`"updated_by": %d, "filters": %s, %s`, cid, where("env", "prod"), once(2*time.Hour)))).slow()
	w.push("cpu", "Critical", "env=test")
	w.pass(100 * time.Minute)
	w.told()
	w.pass(5 * time.Minute)
	w.told(silenceEnds("bob"))
}
