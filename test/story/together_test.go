package story

import (
	"testing"
	"time"

	"tocsin/internal/app"
)

// While a server is held the severity of an acknowledged incident rises, and reminders pile up: after the release its
// responder is notified once.
func TestAReleaseNotifiesOfARise(t *testing.T) {
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
func TestACorruptIncidentDoesNotKeepAServerHeld(t *testing.T) {
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
