package story

import (
	"fmt"
	"testing"
	"time"

	"tocsin/internal/app"
)

// While a server is held the severity of an acknowledged incident rises, and reminders pile up: after the release its
// responder is notified once.
func TestReleaseNotifiesOfRise(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann))))
	w.push("cpu", "Warning")
	w.push("disk", "Warning")
	w.ack(annKey)
	disk := w.incident()
	w.as(annKey, "/incident/ack", `{"incident_ids": [%q]}`, w.do("/incident/list", `{"start_time": %d, "end_time": %d}`, start.Unix()-60, start.Unix()+60).get("items.1.incident_id"))
	w.newPages()
	w.change = func(c *app.Config) { c.Hold = true }
	w.restart()
	w.pass(2 * time.Minute)
	w.push("cpu", "Critical")
	w.push("disk", "Critical")
	w.drift = 10 * time.Minute
	w.pass(25 * time.Hour)
	w.as(ownKey, "/incident/resolve", `{"incident_ids": [%q]}`, disk)
	w.notified()
	w.change = func(c *app.Config) { c.Release = true }
	w.restart()
	w.settle()
	w.drift = 10 * time.Second
	w.pass(time.Minute)
	if pages := w.newPages(); len(pages) != 1 || pages[0].to != "ann@example.com" {
		t.Errorf("after the release: %v", pages)
	}
}

// An incident that cannot be read does not keep a server held.
func TestCorruptIncidentDoesNotKeepServerHeld(t *testing.T) {
	t.Parallel()
	w := beginWith(t, func(c *app.Config) { c.Hold = true }, notifyAnn)
	w.push("bad", "Critical")
	w.sql(`UPDATE incident SET body = 'not JSON'`)
	w.push("good", "Critical")
	w.change = func(c *app.Config) { c.Release = true }
	w.restart()
	w.settle()
	w.notified(newPage("ann"))
}

// The severity of an incident is changed by hand over and over while the mail server is down for some minutes: its page
// is not given up.
func TestRisesUseUpNoAttempts(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann))))
	w.fail("ann@", later)
	w.push("cpu", "Warning")
	for range 15 {
		for _, severity := range []string{"Warning", "Critical"} {
			w.do("/incident/reset", `{"incident_id": %q, "incident_severity": %q}`, w.incident(), severity)
		}
		w.pass(10 * time.Second)
	}
	w.acceptAll()
	w.pass(6 * time.Minute)
	w.notified(newPage("ann"))
}

// Reminders of many incidents that are due together are one message to each person.
func TestRemindersShareMessage(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob))), prometheus)
	w.pushTitled(300, allCritical)
	w.drift = time.Minute
	w.pass(5 * time.Minute)
	w.newPages()
	// Those whose first message had to wait may be a minute later: in which order due rows are read is the engine's choice.
	w.sql(`UPDATE follow_up SET since = (SELECT max(since) FROM follow_up), reminded_at = (SELECT max(reminded_at) FROM follow_up),
		next_at = (SELECT max(next_at) FROM follow_up)`)
	w.drift = 10 * time.Minute
	w.pass(3 * time.Hour)
	w.notified()
	w.drift = time.Minute
	w.pass(70 * time.Minute)
	if n := len(w.newPages()); n != 2 {
		t.Errorf("%d messages to two persons", n)
	}
	if n := w.count(`SELECT count(*) FROM notice WHERE cause = 'reminder' AND status = 'sent'`); n != 600 {
		t.Errorf("%d reminders are sent", n)
	}
}

// Snoozes of many incidents end together, and then the incidents: a person gets no more messages than the budget.
func TestSnoozesThatEndTogether(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann)), `"aggr_window": 300`), prometheus)
	w.pushTitled(300, allCritical)
	w.sql(`UPDATE incident SET severity = severity`)
	now := w.clock.Now().Unix()
	for _, page := range []int{1, 2, 3} {
		list := w.do("/incident/list", `{"start_time": %d, "end_time": %d, "limit": 100, "p": %d}`, now-60, now+60, page)
		var ids string
		for n := range 100 {
			ids += fmt.Sprintf(", %q", list.get(fmt.Sprintf("items.%d.incident_id", n)))
		}
		w.as(annKey, "/incident/snooze", `{"incident_ids": [%s], "minutes": 60}`, ids[2:])
	}
	w.drift = time.Minute
	w.pass(59 * time.Minute)
	w.notified()
	w.drift = 10 * time.Second
	w.pass(10 * time.Minute)
	pages := w.newPages()
	for method, n := range inMinute(pages) {
		if n > 10 {
			t.Errorf("%d messages over %s in a minute", n, method)
		}
	}
	// The pages, and the messages about the end of the snoozes to the person who set them.
	if n := w.count(`SELECT count(*) FROM notice WHERE status = 'sent'`); n != 600 || len(pages) > 20 {
		t.Errorf("%d are sent in %d messages", n, len(pages))
	}
}

// A page whose address cannot be opened any more is replaced by the person's other methods, as one that is refused.
func TestLostAddressIsReplaced(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann))))
	w.fail("ann@", later)
	w.push("cpu", "Critical")
	w.sql(`UPDATE notice SET target = 'sealed.1.nokey.AAAA' WHERE settled_at = 0`)
	w.acceptAll()
	w.pass(time.Minute)
	w.notified("+15550100 sms i_new", "+15550100 voice i_new")
}

// A storm is merged into one incident while its bundles wait: the pages of what was merged away are cancelled, and only
// the incident that is left goes on to the next step.
func TestMergeOfTwoStorms(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann), window(30))+","+layer(persons(bob))), prometheus)
	w.pushTitled(60, allCritical)
	now := w.clock.Now().Unix()
	list := w.do("/incident/list", `{"start_time": %d, "end_time": %d, "limit": 100}`, now-60, now+60)
	var ids string
	for n := 1; n < 60; n++ {
		ids += fmt.Sprintf(", %q", list.get(fmt.Sprintf("items.%d.incident_id", n)))
	}
	w.do("/incident/merge", `{"source_incident_ids": [%s], "target_incident_id": %q}`, ids[2:], list.get("items.0.incident_id"))
	w.drift = time.Minute
	w.pass(40 * time.Minute)
	pages := w.newPages()
	last := pages[len(pages)-1]
	if last.to != "bob@example.com" || len(pages) > 21 {
		t.Errorf("%d messages, the last is %s", len(pages), last)
	}
	for _, p := range pages {
		if p.to == "bob@example.com" && p != last {
			t.Errorf("to Bob: %s", p.subject)
		}
	}
}

// While a server is held, an escalation whose last step waits to be sent is not checked every few seconds: thousands of
// open incidents would keep the server busy.
func TestEndedEscalationWaitsForRelease(t *testing.T) {
	t.Parallel()
	w := beginWith(t, func(c *app.Config) { c.Hold = true }, escalates(layer(persons(ann))))
	w.push("cpu", "Critical")
	checks := map[int64]bool{}
	for range 60 {
		w.pass(10 * time.Second)
		checks[w.count(`SELECT next_at FROM escalation`)] = true
	}
	if len(checks) > 20 {
		t.Errorf("%d checks in ten minutes", len(checks))
	}
}
