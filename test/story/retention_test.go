package story

import (
	"context"
	"fmt"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
)

// yearly keeps incidents and alerts for a year.
func yearly(c *app.Config) { c.IncidentDays = 365 }

// past counts the rows that are left, and those that refer to deleted rows.
func (w *world) past() (left string) {
	w.t.Helper()
	for _, table := range []string{"incident", "alert", "incident_assignment", "escalation"} {
		left += fmt.Sprintf("%s %d, ", table, w.count(`SELECT count(*) FROM `+table))
	}
	lost := w.count(`SELECT count(*) FROM feed WHERE ref_id NOT IN (SELECT incident_id FROM incident) AND ref_id NOT IN (SELECT alert_id FROM alert)`) +
		w.count(`SELECT count(*) FROM alert WHERE incident_id <> '' AND incident_id NOT IN (SELECT incident_id FROM incident)`)
	return left + fmt.Sprintf("lost %d", lost)
}

// TestClosedIncidentIsDeletedAfterItsTime: with its alerts, feeds and all other rows, and without a notification.
func TestClosedIncidentIsDeletedAfterItsTime(t *testing.T) {
	t.Parallel()
	r := receive(t, always(204))
	w := beginWith(t, yearly, notifyAnn, hooks("incident", at(r)), rules("silence_rules", `"filters": `+where("env", "test")+`, `+once(time.Hour)))
	w.do("/channel/update", `{"channel_id": %d, "reminder": {"critical": 0}}`, shop)
	first := w.push("cpu", "Critical")
	one := w.incident()
	w.ack(annKey)
	w.push("disk", "Critical")
	w.do("/incident/merge", `{"source_incident_ids": [%q], "target_incident_id": %q}`, w.incident(), one)
	w.do("/incident/resolve", `{"incident_ids": [%q]}`, one)
	w.push("noise", "Critical", "env=test") // an alert of no incident
	w.push("noise", "Ok", "env=test")
	w.push("open", "Critical")
	w.push("heard", "Critical") // its incident is closed half a year later
	late := w.incident()
	w.clock.Add(180 * 24 * time.Hour)
	w.settle()
	w.do("/incident/resolve", `{"incident_ids": [%q]}`, late)
	w.newPages()
	w.settle()
	r.calls()

	w.clock.Add(184 * 24 * time.Hour) // 364 days
	w.settle()
	if got := w.past(); got != "incident 4, alert 5, incident_assignment 4, escalation 4, lost 0" {
		t.Errorf("before a year there are %s", got)
	}
	w.clock.Add(2 * 24 * time.Hour)
	w.settle()
	if got := w.past(); got != "incident 2, alert 2, incident_assignment 2, escalation 2, lost 0" {
		t.Errorf("after a year there are %s", got)
	}
	w.notified(newPage("olga")) // the fallback, as no person acknowledged
	if got := r.calls(); len(got) > 0 {
		t.Errorf("webhooks were told of %d changes", len(got))
	}
	if e := w.try(ownKey, "/incident/info", `{"incident_id": %q}`, one); e.Status != 404 {
		t.Error(e)
	}
	w.outcome(first, "opened") // the verdict of the event has its own retention
	w.want(w.do("/incident/info", `{"incident_id": %q}`, late), "progress", "Closed")
	f, err := accountfile.Export(context.Background(), w.app.DB, w.app.Keyring, account, true)
	w.must(err)
	w.must(accountfile.Import(context.Background(), w.app.DB, w.app.Keyring, f, w.clock.Now(), true))

	w.clock.Add(180 * 24 * time.Hour)
	w.settle()
	if got := w.past(); got != "incident 1, alert 1, incident_assignment 1, escalation 0, lost 0" {
		t.Errorf("an open incident stays, with its alert: %s", got)
	}
}

// TestActiveAlertKeepsItsIncident: closed or not, and an open incident keeps alerts that have ended.
func TestActiveAlertKeepsItsIncident(t *testing.T) {
	t.Parallel()
	w := beginWith(t, yearly)
	w.push("cpu", "Critical")
	w.do("/incident/resolve", `{"incident_ids": [%q]}`, w.incident())
	w.sql(`UPDATE alert SET end_time = 0`) // as an account file may have it
	w.do("/incident/create", `{"incident_severity": "Info", "title": "by hand", "channel_id": %d}`, shop)
	open := w.incident()
	w.push("disk", "Critical")
	alert := w.do("/alert/list", `{"start_time": %d, "end_time": %d, "alert_keys": ["disk"]}`, start.Unix()-10, start.Unix()+86400).get("items.0.alert_id")
	w.do("/alert/merge", `{"alert_ids": [%q], "incident_id": %q}`, alert, open)
	w.push("disk", "Ok")
	w.sql(`UPDATE incident SET progress = 'Processing', closed_at = 0 WHERE incident_id = '` + open + `'`)
	w.clock.Add(800 * 24 * time.Hour)
	w.settle()
	if got := w.past(); got != "incident 2, alert 2, incident_assignment 0, escalation 0, lost 0" { // that which disk opened is gone
		t.Errorf("after two years there are %s", got)
	}
}

// TestNothingIsDeletedThatIsKeptForEver: 0 days keep all.
func TestNothingIsDeletedThatIsKeptForEver(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push("cpu", "Critical")
	w.push("cpu", "Ok")
	before := w.past()
	w.clock.Add(800 * 24 * time.Hour)
	w.settle()
	if got := w.past(); got != before {
		t.Errorf("there are %s\nwant %s", got, before)
	}
}

// TestStormIsDeletedInBatches: it has more alerts than one transaction deletes.
func TestStormIsDeletedInBatches(t *testing.T) {
	t.Parallel()
	w := beginWith(t, yearly, notifyAnn)
	w.push("cpu", "Critical")
	w.push("cpu", "Ok")
	w.push("lone", "Critical")
	w.push("lone", "Ok")
	w.sql(`UPDATE alert SET incident_id = '' WHERE alert_key = 'lone'`)
	for _, key := range []string{"cpu", "lone"} {
		w.sql(`INSERT INTO alert (` + alertColumns + `, alert_id) WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
			SELECT ` + alertColumns + `, substr(alert_id, 1, 8) || CAST(1000000000000000 + i + 65536 * length(alert_key) AS TEXT) FROM alert, n WHERE alert_key = '` + key + `'`)
	}
	w.clock.Add(366 * 24 * time.Hour)
	w.settle()
	if got := w.past(); got != "incident 0, alert 0, incident_assignment 0, escalation 0, lost 0" {
		t.Errorf("there are %s", got)
	}
}

const alertColumns = `account_id, channel_id, incident_id, integration_id, integration_name, integration_type, integration_ref_id, alert_key, title, title_rule, description, alert_severity, alert_status,
	start_time, last_time, end_time, event_cnt, ever_muted, responder_name, responder_email, labels, images, created_at, updated_at, deleted_at`

// TestDroppedEventIsDeletedWithItsVerdict: after its own retention; events that were not dropped stay.
func TestDroppedEventIsDeletedWithItsVerdict(t *testing.T) {
	t.Parallel()
	w := beginWith(t, func(c *app.Config) { c.EventDays, c.DroppedDays = 180, 30 }, rules("drop_rules", `"filters": `+where("env", "test")))
	dropped, taken := w.push("noise", "Critical", "env=test"), w.push("cpu", "Critical")
	w.outcome(dropped, "dropped")
	w.clock.Add(31 * 24 * time.Hour)
	w.settle()
	if r := w.try(ownKey, "/alert/explain", `{"event_id": %q}`, dropped); r.Status != 404 {
		t.Error(r)
	}
	w.outcome(taken, "opened")
	if n := w.count(`SELECT count(*) FROM event`); n != 1 {
		t.Errorf("%d events are kept", n)
	}
}
