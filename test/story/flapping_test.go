package story

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// tooOften is in every message about an incident whose alert changes too often.
const tooOften = "changes too often: 4 times in 60 minutes; the next message comes when it gets worse, lasts, or has been quiet for 15 minutes"

// firesAgain returns the message to a responder.
func firesAgain(person string) string { return person + "@example.com email i_flap" }

// flap makes an alert begin and end twice, a minute apart: four changes.
func (w *world) flap(key string) {
	w.t.Helper()
	for range 2 {
		w.push(key, "Critical")
		w.pass(time.Minute)
		w.push(key, "Ok")
		w.pass(time.Minute)
	}
}

// blink makes an alert begin, and end a minute later.
func (w *world) blink(key string) {
	w.t.Helper()
	w.push(key, "Critical")
	w.pass(time.Minute)
	w.push(key, "Ok")
	w.pass(time.Minute)
}

func TestFlappingAlertIsOneIncident(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.flap("cpu")
	w.notified(newPage("ann"), over("ann"), newPage("ann"))
	incident := w.incident()
	w.want(w.do("/incident/info", `{"incident_id": %q}`, incident), "progress", "Triggered")
	w.want(w.do("/incident/info", `{"incident_id": %q}`, incident), "flapping.mute_mins", "15")
	event := w.push("cpu", "Critical") // the first beginning
	if p := w.last(); !strings.Contains(p.text, tooOften) {
		t.Error(p.text)
	}
	w.notified(newPage("ann"))
	w.outcome(event, "grouped")
	w.pass(time.Minute)
	w.push("cpu", "Ok")
	for range 10 {
		w.pass(time.Minute)
		w.restart()
		w.blink("cpu")
	}
	w.notified()
	if why := w.whole("cpu"); !strings.Contains(why, tooOften) || !strings.Contains(why, "Now: the alert is over, and it ends at") {
		t.Error(why)
	}
	alert := w.do("/incident/alert/list", `{"incident_id": %q}`, incident)
	w.want(alert, "total", "1")
	w.want(alert, "items.0.alert_status", "Ok")
	w.want(alert, "items.0.end_time", "0")
	if w.incident() != incident {
		t.Error("another incident was opened")
	}
	// Webhooks are sent the events of feeds.
	w.want(w.do("/alert/feed", `{"alert_id": %q, "types": ["a_close"]}`, alert.get("items.0.alert_id")), "total", "0")
	w.want(w.do("/incident/feed", `{"incident_id": %q, "types": ["i_rslv"]}`, incident), "total", "0")
	w.pass(13 * time.Minute)
	w.notified()
	w.pass(2 * time.Minute)
	w.notified(over("ann"))
	w.want(w.do("/incident/info", `{"incident_id": %q}`, incident), "progress", "Closed")
	w.want(w.do("/incident/info", `{"incident_id": %q}`, incident), "flapping", "")
	w.push("cpu", "Critical")
	if p := w.last(); strings.Contains(p.text, "changes too often") {
		t.Error(p.text)
	}
	w.notified(newPage("ann"))
}

// An outage that follows flapping is always notified: after ten minutes of quiet, or when it lasts.
func TestOutageAfterFlappingIsNotified(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(w *world)
		want []string
	}{
		"back after ten minutes": {func(w *world) { w.pass(10 * time.Minute); w.push("cpu", "Critical"); w.pass(30 * time.Second) }, []string{newPage("ann")}},
		"lasts":                  {func(w *world) { w.push("cpu", "Critical"); w.pass(11 * time.Minute) }, []string{newPage("ann")}},
		"lasts, with a restart":  {func(w *world) { w.push("cpu", "Critical"); w.restart(); w.pass(11 * time.Minute) }, []string{newPage("ann")}},
		"does not last":          {func(w *world) { w.push("cpu", "Critical"); w.pass(9 * time.Minute) }, nil},
		"lasts, and a person acts": {func(w *world) {
			w.push("cpu", "Critical")
			w.pass(time.Minute)
			w.as(annKey, "/incident/comment", `{"incident_ids": [%q], "comment": "looking"}`, w.incident())
			w.pass(15 * time.Minute)
		}, nil},
		"lasts in a disabled channel": {func(w *world) {
			w.do("/channel/disable", `{"channel_id": %d}`, shop)
			w.push("cpu", "Critical")
			w.pass(20 * time.Minute)
			w.notified()
			w.do("/channel/enable", `{"channel_id": %d}`, shop)
			w.pass(time.Minute)
		}, []string{newPage("ann")}},
		"lasts in a silence": {func(w *world) {
			now := w.clock.Now()
			w.do("/channel/silence/rule/create", `{"channel_id": %d, "rule_name": "work", "filters": [[{"key": "alert_key", "oper": "IN", "vals": ["cpu"]}]], "time_filter": {"start_time": %d, "end_time": %d}}`,
				shop, now.Unix(), now.Add(20*time.Minute).Unix())
			w.push("cpu", "Critical")
			w.pass(19 * time.Minute)
			for _, p := range w.newPages() {
				if strings.HasPrefix(p.String(), "ann") {
					t.Errorf("in the silence: %s", p)
				}
			}
			w.pass(2 * time.Minute)
		}, []string{newPage("ann")}},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, notifyAnn)
			w.t = t
			w.flap("cpu")
			w.blink("cpu")
			w.newPages()
			c.do(w)
			w.notified(c.want...)
		})
	}
}

// Alerts that change together in one incident notify once each time. No alert relies on another alert that did not notify.
func TestFlappingAlertsOfOneIncidentNotifyOnce(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.do("/channel/update", `{"channel_id": %d, "group": {"method": "p", "equals": [["labels.cluster"]]}}`, shop)
	both := func(status string) {
		w.push("a", status, "cluster=eu")
		w.push("b", status, "cluster=eu")
		w.pass(time.Minute)
	}
	for range 2 {
		both("Critical")
		both("Ok")
	}
	w.newPages()
	both("Critical")
	w.notified(newPage("ann"))
	both("Ok")
	both("Critical")
	w.notified()
	w.pass(10 * time.Minute)
	w.notified(newPage("ann"))
	both("Ok")
	w.pass(13 * time.Minute)
	w.notified()
	w.pass(2 * time.Minute)
	w.notified(over("ann"))
	if n := w.count(`SELECT count(*) FROM incident WHERE progress <> 'Closed'`); n != 0 {
		t.Errorf("%d incidents are open", n)
	}
}

// An acknowledgement holds over changes. Only its responders are notified of an alert that lasts.
func TestFlappingIncidentStaysAcknowledged(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann), window(5))+","+layer(persons(bob))))
	w.flap("cpu")
	w.ack(annKey)
	w.newPages()
	w.push("cpu", "Critical")
	if p := w.last(); !strings.Contains(p.text, tooOften) || !strings.Contains(p.text, "it fires again") {
		t.Error(p.text)
	}
	w.notified(firesAgain("ann"))
	w.pass(time.Minute)
	w.push("cpu", "Ok")
	w.pass(time.Minute)
	w.push("cpu", "Critical")
	w.want(w.do("/incident/info", `{"incident_id": %q}`, w.incident()), "progress", "Processing")
	w.pass(9 * time.Minute)
	w.notified()
	w.pass(2 * time.Minute)
	w.notified(firesAgain("ann"))
	w.pass(20 * time.Minute)
	w.notified()
}

// Steps run only while the alert fires: the clock of the escalation stands still meanwhile.
func TestStepsRunWhileFlappingAlertFires(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann), window(5))+","+layer(persons(bob))))
	w.flap("cpu")
	w.newPages()
	w.push("cpu", "Critical")
	w.notified(newPage("ann"))
	for range 2 { // two minutes of the five
		w.pass(time.Minute)
		w.push("cpu", "Ok")
		w.pass(7 * time.Minute)
		w.push("cpu", "Critical")
	}
	w.notified()
	w.pass(2*time.Minute + 30*time.Second)
	w.notified()
	w.pass(time.Minute)
	w.notified(newPage("bob"))
}

func TestFlappingAlertThatGetsWorseIsNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(rising(persons(ann))))
	for range 2 {
		w.push("cpu", "Warning")
		w.pass(time.Minute)
		w.push("cpu", "Ok")
		w.pass(time.Minute)
	}
	w.push("cpu", "Warning")
	w.pass(time.Minute)
	w.push("cpu", "Ok")
	w.pass(time.Minute)
	w.newPages()
	w.push("cpu", "Critical")
	w.pass(time.Minute)
	if pages := w.newPages(); len(pages) == 0 {
		t.Error("no one was notified that it is Critical")
	}
	w.push("cpu", "Ok")
	w.pass(time.Minute)
	w.push("cpu", "Critical")
	w.pass(time.Minute)
	w.notified()
}

func TestResolvingByHandEndsFlapping(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.flap("cpu")
	w.push("cpu", "Critical")
	w.newPages()
	w.do("/incident/resolve", `{"incident_ids": [%q]}`, w.incident())
	w.newPages()
	w.push("cpu", "Critical")
	if p := w.last(); strings.Contains(p.text, "changes too often") {
		t.Error(p.text)
	}
	w.notified(newPage("ann"))
	w.push("cpu", "Ok")
	w.notified(over("ann"))
}

// An incident that no rule takes notifies the fallback again, too.
func TestFlappingWithoutRuleReachesFallback(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.flap("cpu")
	w.pass(time.Minute)
	w.newPages()
	w.push("cpu", "Critical")
	w.pass(10 * time.Second)
	if pages := w.newPages(); len(pages) != 1 || !strings.HasPrefix(pages[0].String(), "olga@example.com") {
		t.Errorf("the first beginning: %v", pages)
	}
	w.blink("cpu")
	w.pass(time.Minute)
	w.push("cpu", "Critical")
	w.pass(11 * time.Minute)
	if pages := w.newPages(); len(pages) != 1 {
		t.Errorf("when it lasts: %v", pages)
	}
}

// A flapping alert that is merged into another incident belongs to that incident from then on.
func TestMergedFlappingAlertKeepsItsState(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("disk", "Critical")
	target := w.incident()
	w.pass(time.Minute)
	w.flap("cpu")
	source := w.incident()
	w.do("/incident/merge", `{"source_incident_ids": [%q], "target_incident_id": %q}`, source, target)
	w.want(w.do("/incident/info", `{"incident_id": %q}`, target), "flapping.max_changes", "4")
	w.want(w.do("/incident/info", `{"incident_id": %q}`, source), "flapping", "")
	w.newPages()
	w.push("cpu", "Critical") // another alert of the incident fires anyway
	w.notified()
	w.push("cpu", "Ok")
	w.push("disk", "Ok")
	w.want(w.do("/incident/info", `{"incident_id": %q}`, target), "progress", "Triggered")
	w.pass(16 * time.Minute)
	w.want(w.do("/incident/info", `{"incident_id": %q}`, target), "progress", "Closed")
	w.notified(over("ann"))
}

// Alerts that an older version muted for flapping are notified after the upgrade. The import of an account file of that
// version notifies of such alerts, too.
func TestAlertsMutedByOlderVersionComeOut(t *testing.T) {
	t.Parallel()
	old := func(muted string) string {
		return fmt.Sprintf(`{"alerts": [{"alert_id": "5e5e5e5e5e5e5e5e5e5e5e01", "account_id": %d, "channel_id": %d, "integration_id": %d,
			"title": "Shop is down", "alert_key": "shop", "alert_severity": "Critical", "alert_status": "Critical", "start_time": %d, "last_time": %d,
			"event_cnt": 1, "muted": %q, "muted_until": %d}]}`, account, shop, sink, start.Unix()-60, start.Unix()-60, muted, start.Unix()+7200)
	}
	w := begin(t, notifyAnn, old("flapping"))
	w.pass(10 * time.Second)
	w.notified(newPage("ann"))

	w = begin(t, notifyAnn, old("silenced"))
	w.sql(fmt.Sprintf(`UPDATE alert SET muted = 'flapping', muted_by = '', muted_until = %[1]d, flapping_until = %[1]d`, start.Unix()+7200))
	migration, err := os.ReadFile("../../internal/platform/db/migrations/0100_flapping.sql")
	w.must(err)
	for _, statement := range strings.Split(string(migration), ";") {
		if at := strings.Index(statement, "UPDATE alert"); at >= 0 {
			w.sql(statement[at:])
		}
	}
	w.pass(10 * time.Second)
	w.notified(newPage("ann"))
}

// Events of a disabled channel are kept. An Ok ends its incident, and enabling the channel opens incidents for active
// alerts.
func TestDisabledChannelLosesNothing(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("cpu", "Critical")
	before := w.incident()
	w.notified(newPage("ann"))
	w.do("/channel/disable", `{"channel_id": %d}`, shop)
	w.outcome(w.push("disk", "Critical"), "channel_disabled")
	w.outcome(w.push("net", "Warning"), "channel_disabled")
	w.outcome(w.push("net", "Ok"), "recovered")
	w.notified()
	list := w.do("/incident/untold/list", `{}`)
	w.want(list, "items.0.state", "by_choice")
	w.want(list, "items.0.by_choice", "its channel is disabled")
	w.want(list, "items.0.title", "Trouble with disk")
	if why := w.why("disk"); !strings.Contains(why, "was held back in channel Shop") || !strings.Contains(why, "Now: the channel of the alert is disabled") {
		t.Error(why)
	}
	w.push("cpu", "Ok")
	w.want(w.do("/incident/info", `{"incident_id": %q}`, before), "progress", "Closed")
	w.notified(over("ann"))
	w.restart()
	w.drift = time.Minute
	w.pass(3 * time.Hour)
	w.notified()
	w.do("/channel/enable", `{"channel_id": %d}`, shop)
	w.notified(newPage("ann"))
	w.want(w.do("/incident/info", `{"incident_id": %q}`, w.incident()), "title", "Trouble with disk")
	w.want(w.do("/incident/untold/list", `{}`), "total", "0")
}
