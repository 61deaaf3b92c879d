package story

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// textAnn is a rule that texts Ann; then is what it does when she cannot be reached. Its second step mails Cid.
func textAnn(then string) string {
	return escalates(fmt.Sprintf(`{"target": {"person_ids": [%d], "by": {"critical": ["sms"], "warning": ["sms"], "info": ["sms"]}}, "escalate_window": 30%s}`, ann, then) + "," + layer(persons(cid)))
}

// refuse makes receivers refuse for good: those whose address or method contains one of some texts.
func (w *world) refuse(parts ...string) {
	w.answers(func(p page) answer {
		for _, part := range parts {
			if strings.Contains(p.to, part) || strings.Contains(p.method, part) {
				return never
			}
		}
		return taken
	})
}

// A method that refuses for good is replaced at once by the person's other methods: the preferred ones first, then all.
func TestRefusedMethodIsReplacedByOthers(t *testing.T) {
	t.Parallel()
	w := begin(t, textAnn(""))
	w.refuse("sms")
	w.push("cpu", "Critical")
	w.notified(newPage("ann")) // an e-mail is what she prefers
	if why := w.why("cpu"); !strings.Contains(why, "sms refused it") {
		t.Error(why)
	}
	w.refuse("sms", "ann@")
	w.push("disk", "Critical")
	w.notified("+15550100 voice i_new")
	w.pass(20 * time.Minute)
	w.notified()
}

// A person whose every method refuses counts as absent: the step decides what happens then, at once.
func TestRefusedPersonIsAbsent(t *testing.T) {
	t.Parallel()
	for then, want := range map[string]string{
		"":                                newPage("cid"),
		`, "on_nobody": {"then": "skip"}`: newPage("cid"),
		fmt.Sprintf(`, "on_nobody": {"then": "fallback", "person_id": %d}`, bob): newPage("bob"),
	} {
		w := begin(t, textAnn(then))
		w.refuse("ann@", "+1555")
		w.push("cpu", "Critical")
		w.pass(10 * time.Second)
		w.notified(want)
		if why := w.why("cpu"); !strings.Contains(why, "Ann Day cannot be reached: every method refused") {
			t.Error(why)
		}
	}
}

// A fallback whose every method refuses is skipped, and the next step takes over.
func TestRefusedFallbackIsSkipped(t *testing.T) {
	t.Parallel()
	w := begin(t, textAnn(fmt.Sprintf(`, "on_nobody": {"then": "fallback", "person_id": %d}`, bob)))
	w.refuse("ann@", "+1555", "bob@")
	w.push("cpu", "Critical")
	w.pass(10 * time.Second)
	w.notified(newPage("cid"))
}

// One of two persons is refused: the other is notified once, and the next step comes when it is due.
func TestRefusedPersonBesideAnother(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob), window(10))+","+layer(persons(cid))))
	w.refuse("ann@", "+1555")
	w.push("cpu", "Critical")
	w.pass(5 * time.Minute)
	w.notified(newPage("bob"))
	w.pass(6 * time.Minute)
	w.notified(newPage("cid"))
}

// A storm to a person whose mailbox refuses is bundled over the other methods as well, and each incident gets on.
func TestRefusedStorm(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, prometheus)
	w.refuse("ann@")
	w.pushTitled(100, allCritical)
	w.pass(5 * time.Minute)
	for method, n := range inMinute(w.newPages()) {
		if n > 5 {
			t.Errorf("%d messages over %s in a minute", n, method)
		}
	}
	if n := w.count(`SELECT count(*) FROM notice WHERE status = 'sent' AND way IN ('voice', 'sms')`); n != 200 {
		t.Errorf("%d notifications are sent", n)
	}
}

// A target that fails for an hour is an alert of Tocsin's own: the owner is notified once, and when it is over.
func TestTargetThatFailsForHour(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob))))
	w.fail("ann@", later)
	for range 10 {
		w.push(fmt.Sprint("k", w.clock.Now().Unix()), "Critical")
		w.pass(10 * time.Minute)
	}
	own := func(subject string) (n int) {
		for _, p := range w.newPages() {
			if p.to == "olga@example.com" && p.subject == subject {
				n++
			}
		}
		return n
	}
	const failing = "Notifications to Ann Day over email have failed for more than an hour"
	if n := own(failing); n != 1 {
		t.Errorf("the owner was notified %d times", n)
	}
	w.acceptAll()
	w.push("again", "Critical")
	w.pass(time.Minute)
	if n := own("Over: " + failing); n != 1 {
		t.Errorf("the owner was notified %d times of the end", n)
	}
}
