package story

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// texted is a layer that sends text messages.
func texted(more string, ids ...int) string {
	return fmt.Sprintf(`{"target": {%s, "by": {"critical": ["sms", "email"], "warning": ["sms"], "info": ["sms"]}}%s}`, persons(ids...), more)
}

// bobsPhone lets Bob get text messages.
var bobsPhone = fmt.Sprintf(`UPDATE person SET phone = '+4915100000013', phone_verified = TRUE WHERE person_id = %d`, bob)

// figures returns the figures of the account since the stories begin.
func (w *world) figures() reply {
	w.t.Helper()
	return w.do("/insight/account", `{"start_time": %d, "end_time": %d}`, start.Unix(), start.Unix()+30*86400)
}

// wants compares the figures of the account.
func (w *world) wants(figures string) {
	w.t.Helper()
	r := w.figures()
	for _, f := range strings.Fields(figures) {
		name, value, _ := strings.Cut(f, "=")
		w.want(r, "items.0."+name, value)
	}
}

func TestFiguresOfEscalatedIncident(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(texted(", "+window(10), ann)+","+texted("", bob)))
	w.sql(bobsPhone)
	w.wants("total_incident_cnt=0 mean_seconds_to_ack=0 noise_reduction_pct=0 acknowledgement_pct=0")
	w.push("cpu", "Critical")
	w.pass(time.Minute)
	w.push("cpu", "Critical", "title=CPU at 99 %")
	w.pass(10 * time.Minute)
	w.wants("total_incident_cnt=1 total_incidents_acknowledged=0 total_incidents_closed=0 total_incidents_timeout_escalated=1")
	w.ack(annKey)
	acked := w.clock.Now()
	w.pass(20 * time.Minute)
	w.push("cpu", "Ok")
	w.wants(`total_incident_cnt=1 total_incidents_acknowledged=1 total_incidents_closed=1 total_incidents_auto_closed=1 total_incidents_manually_closed=0
		total_incidents_escalated=1 total_incidents_timeout_escalated=1 total_incidents_manually_escalated=0 total_interruptions=2 total_sleep_interruptions=0
		noise_reduction_pct=66.67 acknowledgement_pct=100 total_alert_cnt=1 total_alert_event_cnt=3`)
	w.wants(fmt.Sprintf("mean_seconds_to_ack=%d total_engaged_seconds=%d mean_seconds_to_close=%d", int(acked.Sub(start).Seconds()),
		int(w.clock.Now().Sub(acked).Seconds()), int(w.clock.Now().Sub(start).Seconds())))
	r := w.do("/insight/responder", `{"start_time": %d, "end_time": %d, "responder_ids": [%d]}`, start.Unix(), start.Unix()+86400, ann)
	w.want(r, "items.0.responder_name", "Ann Day")
	w.want(r, "items.0.total_incidents_acknowledged", "1")
	w.want(r, "items.0.total_interruptions", "1")
	w.want(r, "items.1.responder_name", "")
}

// TestFiguresCountWhoIsDisturbedAtNight: each person is disturbed by their own clock.
func TestFiguresCountWhoIsDisturbedAtNight(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(texted("", ann, bob)))
	w.sql(bobsPhone)
	w.sql(fmt.Sprintf(`UPDATE person SET time_zone = 'Pacific/Auckland' WHERE person_id = %d`, bob)) // 23:00 there
	w.push("cpu", "Critical")
	w.wants("total_interruptions=2 total_sleep_interruptions=1")
	r := w.do("/report/oncall/notifications", `{"start_time": %d, "end_time": %d, "group_by": "person"}`, start.Unix(), start.Unix()+86400)
	w.want(r, "items.0.person_name", "Ann Day")
	w.want(r, "items.0.sleep_cnt", "0")
	w.want(r, "items.0.sms_cnt", "1")
	w.want(r, "items.1.sleep_cnt", "1")
}

// TestFiguresOfStorm: a thousand events of one incident are one incident, and each message that a person gets counts once.
func TestFiguresOfStorm(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(texted(", "+again(3, 1), ann)))
	w.pushMany(shopKey, 0, 60, "checkout")
	w.pass(5 * time.Minute)
	texts := 0
	for _, p := range w.newPages() {
		if strings.Contains(p.String(), " sms ") {
			texts++
		}
	}
	r := w.do("/report/oncall/notifications", `{"start_time": %d, "end_time": %d}`, start.Unix(), start.Unix()+86400)
	w.want(r, "items.0.sms_cnt", fmt.Sprint(texts))
	w.want(w.figures(), "items.0.total_alert_event_cnt", "60")
}

// TestFiguresOfMergedAndReopenedIncidents: alerts of a merged incident count once, with its target; an incident that is
// opened again is not closed.
func TestFiguresOfMergedAndReopenedIncidents(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(texted("", ann)))
	w.push("cpu", "Critical")
	first := w.incident()
	w.pass(time.Minute)
	w.push("disk", "Critical")
	second := w.incident()
	w.as(ownKey, "/incident/merge", `{"source_incident_ids": [%q], "target_incident_id": %q}`, second, first)
	w.wants("total_incident_cnt=2 total_incidents_closed=0 total_incidents_manually_closed=0 total_incidents_merged=1 mean_seconds_to_close=0 total_alert_cnt=2 total_alert_event_cnt=2 noise_reduction_pct=50")
	w.as(annKey, "/incident/resolve", `{"incident_ids": [%q]}`, first)
	w.wants("total_incidents_closed=1 total_incidents_manually_closed=1 total_incidents_merged=1")
	w.as(annKey, "/incident/reopen", `{"incident_ids": [%q]}`, first)
	w.wants("total_incidents_closed=0")
	w.restart()
	w.wants("total_incident_cnt=2 total_incidents_closed=0 total_incidents_merged=1")
}

// TestRemovedIncidentsDoNotCount: what is gone is in no figure of incidents; messages that were sent stay counted.
func TestRemovedIncidentsDoNotCount(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(texted("", ann)))
	w.push("cpu", "Critical")
	w.as(ownKey, "/incident/remove", `{"incident_ids": [%q]}`, w.incident())
	w.wants("total_incident_cnt=0 total_notifications=0")
	r := w.do("/report/oncall/notifications", `{"start_time": %d, "end_time": %d}`, start.Unix(), start.Unix()+86400)
	w.want(r, "items.0.sms_cnt", "1") // it was sent all the same
}

// TestExportArrivesWhole: through everything that stands before the operations.
func TestExportArrivesWhole(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	for n := range 3 {
		w.push(fmt.Sprint("=cpu", n), "Critical")
	}
	answer, err := http.Post(w.http.URL+"/insight/incident/export?app_key="+ownKey, "application/json",
		strings.NewReader(fmt.Sprintf(`{"start_time": %d, "end_time": %d}`, start.Unix(), start.Unix()+86400)))
	w.must(err)
	defer answer.Body.Close()
	rows, err := csv.NewReader(answer.Body).ReadAll()
	if err != nil || len(rows) != 4 || answer.Header.Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Errorf("%v %v %v", err, rows, answer.Header)
	}
	now := w.clock.Now().Unix()
	w.want(w.do("/audit/search", `{"start_time": %d, "end_time": %d, "operations": ["insight:write:export-incident"]}`, now-60, now+60), "total", "1")
}
