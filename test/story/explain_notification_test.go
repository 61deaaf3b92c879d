package story

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"tocsin/internal/app"
)

// bothExplain wants texts in this order in the explanation of the newest incident, and of the newest alert of a key.
func (w *world) bothExplain(key string, want ...string) {
	w.t.Helper()
	inOrder(w.t, w.words(w.incidentExplained(ownKey)), want...)
	inOrder(w.t, w.why(key), want...)
}

// without wants a text in neither explanation.
func (w *world) without(key, text string) {
	w.t.Helper()
	for _, all := range []string{w.words(w.incidentExplained(ownKey)), w.why(key)} {
		if strings.Contains(all, text) {
			w.t.Errorf("%q is in\n%s", text, all)
		}
	}
}

func TestExplainSaysThatServerIsHeld(t *testing.T) {
	t.Parallel()
	w := beginWith(t, func(c *app.Config) { c.Hold = true }, daysThenCid())
	w.push("cpu", "Critical")
	w.pass(time.Minute)
	const now = "Now: the server is held. It sends nothing until tocsin release."
	w.bothExplain("cpu", "Ann Day (on call in Day, A) over email: waiting, because the server is held.", "Next: step 2 (Cid Ops)", now)
	for _, r := range []reply{w.incidentExplained(ownKey), w.explained("cpu")} {
		w.want(r, "summary", "Nobody was reached yet: the server is held, and sends nothing until tocsin release.")
		if strings.Contains(r.String(), w.dir) {
			t.Errorf("the reply names a folder of the server: %s", r)
		}
	}
	w.release()
	w.pass(time.Minute)
	w.bothExplain("cpu", "over email: sent.")
	w.without("cpu", "held")
}

func TestExplainRiseUnderSameRule(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(rising(persons(ann, bob), window(10))+","+rising(persons(cid))))
	w.push("cpu", "Warning")
	w.pass(time.Minute)
	w.push("cpu", "Critical")
	w.bothExplain("cpu", "10:01:00 (UTC): Event", "So the severity of the incident rose.",
		"10:01:00 (UTC): The severity of the incident was changed from Warning to Critical. So everyone of the steps that were notified is notified by the methods for Critical.",
		"10:01:00 (UTC): Message about the severity to Ann Day (named by the rule, and its severity rose to Critical) over sms: sent.", "Next: step 2 (Cid Ops) at Sat 21 Nov 10:10")
	w.without("cpu", "nobody new was notified")
	w.pass(time.Minute)
	w.severity("Warning")
	w.severity("Critical")
	w.bothExplain("cpu", "changed from Warning to Critical.", "changed from Critical to Warning by Olga Owner. A lower severity notifies nobody and cancels nothing.",
		"changed from Warning to Critical by Olga Owner. So nobody is notified: its persons were notified of that severity before.")
}

func TestExplainRiseToAnotherRule(t *testing.T) {
	t.Parallel()
	w := begin(t, rulesOf(
		rule(1, layer(persons(bob), window(5))+","+layer(persons(cid)), ofSeverity("Critical")),
		rule(2, layer(persons(ann), window(5)), ofSeverity("Warning"))))
	w.push("cpu", "Warning")
	w.pass(time.Minute)
	w.push("cpu", "Critical")
	w.bothExplain("cpu", "was changed from Warning to Critical. So rule rule 1 (5e5e5e5e5e5e5e5e5e5e5a01) replaces rule rule 2 (5e5e5e5e5e5e5e5e5e5e5a02), and starts at its first step.",
		"Notification to Bob Night (named by the rule) over email: sent.")
	w.push("disk", "Info") // no rule is for it
	w.push("disk", "Critical")
	w.bothExplain("disk", "So no rule notified a person: no escalation rule of the channel matches", "So rule rule 1 (5e5e5e5e5e5e5e5e5e5e5a01) starts at its first step.", "Notification to Bob Night")
}

func TestExplainRiseOfAcknowledgedIncident(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(rising(persons(ann))))
	w.push("cpu", "Warning")
	w.pass(2 * time.Minute)
	w.ack(annKey)
	w.pass(2 * time.Minute)
	w.push("cpu", "Critical")
	w.bothExplain("cpu", "Ann Day acknowledged", "was changed from Warning to Critical. So its responders are notified.",
		"Message about the severity to Ann Day (named by the rule, and its severity rose to Critical) over email: sent.",
		"Next: a reminder to those who have acknowledged it at Sat 21 Nov 11:04 (UTC), if it is still open then.")
	w.bothExplain("cpu", "Message about the severity to Ann Day (named by the rule, and its severity rose to Critical) over sms: sent.")
}

// What waited for quiet hours is decided again at the rise, and its reason is that it waited.
func TestExplainRiseThatEndsWait(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(rising(persons(ann))))
	w.as(annKey, "/preference/update", `{"quiet_hours": [{"start": "00:00", "end": "23:59"}]}`)
	w.push("cpu", "Warning")
	w.bothExplain("cpu", "Ann Day (named by the rule; it waits for the end of quiet hours) over email: waiting until")
	w.pass(time.Minute)
	w.push("cpu", "Critical")
	w.bothExplain("cpu", "was changed from Warning to Critical", "Ann Day (named by the rule; it waited for the end of quiet hours) over email: sent.")
}

// An alert that joins an open incident is in its next message, one that joins an acknowledged one in a message of its own.
func TestExplainAlertsThatJoin(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService))
	w.pushTo(groupKey, "first", "Warning", "service=pay")
	w.pass(time.Minute)
	w.pushTo(groupKey, "open", "Warning", "service=pay")
	w.bothExplain("open", "10:01:00 (UTC): Event", "so it joins incident", "So nobody was notified at that moment: the next message about the incident includes this alert.")
	w.pass(time.Minute)
	w.ack(annKey)
	w.pass(time.Minute)
	w.pushTo(groupKey, "second", "Warning", "service=pay")
	w.pass(time.Minute)
	w.pushTo(groupKey, "third", "Warning", "service=pay")
	const told = "So nobody was notified at that moment: its responders get one message about the alerts that join, at Sat 21 Nov 10:08 (UTC)."
	inOrder(t, w.words(w.incidentExplained(ownKey)), "10:03:00 (UTC): Event", told, "10:03:00 (UTC): Alerts join")
	w.bothExplain("third", "10:03:00 (UTC): Alerts join the incident, first Trouble with second (pay). Its responders get one message about them at Sat 21 Nov 10:08 (UTC).",
		"10:04:00 (UTC): Event", told, "Next: one message to its responders about the alerts that joined, at Sat 21 Nov 10:08 (UTC).")
	w.newPages()
	w.pass(4*time.Minute - time.Second)
	w.notified()
	w.pass(time.Second)
	w.bothExplain("third", "Message about joined alerts to Ann Day (responsible, and alerts have joined since the last message: 2) over email: waiting until Sat 21 Nov 10:08")
	w.pass(5 * time.Second) // reminders and the like wait for each other
	w.notified(joined("ann"))
	w.bothExplain("third", "10:04:00 (UTC): Event", "10:08:05 (UTC): Message about joined alerts to Ann Day (responsible, and alerts have joined since the last message: 2) over email: sent.")
	w.bothExplain("third", "Next: a reminder to those who have acknowledged it at Sat 21 Nov 18:02 (UTC), if it is still open then.")
	w.pass(2*time.Minute - 5*time.Second)
	w.pushTo(groupKey, "second", "Warning", "service=pay", "title=Worse")
	w.bothExplain("second", `Event "Worse (pay)"`, "So nobody was notified again: the incident was open already.")
	w.pushTo(groupKey, "fourth", "Critical", "service=pay")
	w.bothExplain("fourth", "So the severity of the incident rose.", "So its responders are notified.",
		"Alerts join the incident, first Trouble with fourth (pay). The message about the severity shows them.",
		"Message about the severity to Ann Day", "Next: a reminder to those who have acknowledged it at Sat 21 Nov 11:10 (UTC), if it is still open then.")
}

func TestExplainRepeatsAndReminders(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann), window(5))+","+layer(persons(bob), again(1, 1)), `"repeat": {"times": 1, "interval": 10}`))
	w.push("cpu", "Critical")
	w.pass(5 * time.Minute)
	w.bothExplain("cpu", "Next: step 2 (Bob Night) again at Sat 21 Nov 10:06 (UTC)")
	w.pass(2 * time.Minute)
	w.bothExplain("cpu", "10:06:00 (UTC): Repeated notification to Bob Night", "Next: step 1 (Ann Day) again at Sat 21 Nov 10:16 (UTC), if nobody acknowledges before.")
	w.drift = time.Minute
	w.pass(20 * time.Minute)
	const next = "Next: a reminder to everyone of its last step at Sat 21 Nov 14:22 (UTC), if nobody acknowledges before."
	w.bothExplain("cpu", "Repeated notification to Ann Day", "Repeated notification to Bob Night", "The escalation ended: every step of escalation rule on call is done and no person has acknowledged the incident.",
		"Now: every step was taken, and nobody has acknowledged.", next)
	w.newPages()
	w.pass(start.Add(4*time.Hour + 22*time.Minute - time.Second).Sub(w.clock.Now()))
	w.notified()
	w.pass(time.Second)
	w.notified()
	w.pass(5 * time.Second)
	w.notified(remind("bob"))
	w.bothExplain("cpu", "14:22:05 (UTC): Reminder to Bob Night (named by the rule, and no person has acknowledged the incident) over email: sent.", "Next: a reminder to everyone of its last step at Sat 21 Nov 18:22")
	w.as(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": 300}`, w.incident())
	w.bothExplain("cpu", "Now: it is snoozed until Sat 21 Nov 19:22 (UTC).", "Next: a reminder to everyone of its last step at Sat 21 Nov 19:22 (UTC)")
}

func TestExplainBundle(t *testing.T) {
	t.Parallel()
	w := begin(t, byPhone, prometheus)
	w.pushTitled(4, allCritical)
	w.pass(time.Second)
	w.pushTitled(60, allCritical) // the first four are known
	w.pass(time.Second)
	w.push("last", "Critical")
	const waits = "Ann Day (named by the rule) over sms: waiting until Sat 21 Nov 10:01:00 (UTC): it waits to share a message with others: 5 in a minute are the limit."
	w.bothExplain("last", waits)
	for _, r := range []reply{w.incidentExplained(ownKey), w.explained("last")} {
		w.want(r, "summary", "Nobody was reached yet: Ann Day over email waits until Sat 21 Nov 10:01 (UTC). It waits to share a message with others: 10 in a minute are the limit.")
	}
	w.push("very last", "Critical")
	w.pass(time.Minute)
	w.bothExplain("last", "Notification to Ann Day (named by the rule) over voice: sent in a bundle of 58.")
	w.bothExplain("very last", "over sms: sent in a bundle of 2.")
	if why := w.why("alert50"); !strings.Contains(why, "over sms: sent in a bundle of 56.") {
		t.Error(why)
	}
}

func TestExplainRefusedMethod(t *testing.T) {
	t.Parallel()
	w := begin(t, textAnn(""))
	w.refuse("sms")
	w.push("cpu", "Critical")
	w.bothExplain("cpu", "Notification to Ann Day (named by the rule) over sms: failed, it answered 403 Forbidden. So it was tried over email instead.",
		"Notification to Ann Day (named by the rule; sms refused it) over email: sent.")
	w.refuse("ann@", "+1555")
	w.push("disk", "Critical")
	w.pass(10 * time.Second)
	w.bothExplain("disk", "over sms: failed, it answered 403 Forbidden. So it was tried over email instead.",
		"Ann Day (named by the rule; sms refused it) over email: failed, ", ". So it was tried over voice instead.",
		"Ann Day (named by the rule; sms refused it; email refused it) over voice: failed, it answered 403 Forbidden. No other method of Ann Day is left, so Ann Day counts as absent.",
		"Step 1 of rule on call (5e5e5e5e5e5e5e5e5e5e5e01) had no person to notify: Ann Day cannot be reached: every method refused the page. So the step after it follows at once.",
		"Notification to Cid Ops")
}

// One of two methods is refused while the other took the message: nothing else is tried.
func TestExplainRefusedMethodBesideAnother(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(fmt.Sprintf(`{"target": {"person_ids": [%d], "by": {"critical": ["email", "sms"], "warning": ["sms"], "info": ["sms"]}}}`, ann)))
	w.refuse("sms")
	w.push("cpu", "Critical")
	w.bothExplain("cpu", "over sms: failed, it answered 403 Forbidden.")
	w.without("cpu", "instead")
	w.without("cpu", "absent")
}

// Each of two rises is explained by what followed from it, not from the other.
func TestExplainTwoRises(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(rising(persons(ann), window(10))+","+rising(persons(cid))))
	w.push("cpu", "Info")
	w.pass(time.Minute)
	w.push("cpu", "Warning")
	w.pass(time.Minute)
	w.push("cpu", "Critical")
	w.bothExplain("cpu", "was changed from Info to Warning. So everyone of the steps that were notified is notified by the methods for Warning.",
		"was changed from Warning to Critical. So everyone of the steps that were notified is notified by the methods for Critical.")
}

var nextMessage = regexp.MustCompile(`Next: (a reminder|one message) .* (Sat 21|Sun 22) Nov (\d\d:\d\d) \(UTC\)`)

// What explain calls the next message is stored at that moment, and sent five seconds later, with random settings; none
// is sent before it. All else happens at full minutes, as the sentences have no seconds.
func TestWhatExplainCallsNextMessageIsSentNext(t *testing.T) {
	t.Parallel()
	const seed = 20261122
	rng := rand.New(rand.NewPCG(seed, 2))
	kinds := map[string]int{}
	for range 5 {
		w := begin(t, strings.Replace(grouped(byService), layer(onCall(day)), patient(layer(onCall(day))), 1))
		w.drift = time.Minute
		w.do("/channel/update", `{"channel_id": 7000000000043, "joined_interval": %d, "reminder": {"critical": %d, "withdraw": {"critical": 0}}}`, 1+rng.IntN(30), 15+rng.IntN(60))
		w.pushTo(groupKey, "first", "Critical", "service=pay")
		w.pass(time.Minute)
		if rng.IntN(3) > 0 {
			w.ack(annKey)
		}
		for n := range 6 {
			w.pass(time.Duration(rng.IntN(4)) * time.Minute)
			if rng.IntN(2) == 0 {
				w.pushTo(groupKey, fmt.Sprint("joins", n), "Critical", "service=pay")
			}
			w.newPages()
			all := w.words(w.incidentExplained(ownKey))
			next := nextMessage.FindStringSubmatch(all)
			if next == nil {
				t.Fatalf("no message is next in\n%s", all)
			}
			at, err := time.Parse("2006 Mon 2 Jan 15:04", "2026 "+next[2]+" Nov "+next[3])
			w.must(err)
			w.pass(at.Sub(w.clock.Now()) - time.Second)
			w.notified()
			w.pass(time.Second)
			w.pass(5 * time.Second)
			want := map[string]string{"a reminder": remind("ann"), "one message": joined("ann")}[next[1]]
			w.notified(want)
			if kinds[next[1]]++; t.Failed() {
				t.Fatalf("it was called next in\n%s", all)
			}
			w.pass(55 * time.Second)
		}
	}
	if kinds["a reminder"] < 5 || kinds["one message"] < 5 {
		t.Errorf("the cases are lopsided: %v", kinds)
	}
}
