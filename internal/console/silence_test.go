package console_test

import (
	"context"
	"net/http"
	"regexp"
	"testing"
	"time"

	"tocsin/internal/platform/db"
)

// identifying sets which labels identify the alerts of the tests, as an Alertmanager does.
func (w *world) identifying(names string) {
	w.t.Helper()
	w.must(w.app.DB.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE alert SET identifying = $1`, names)
		return err
	}))
}

// TestSilenceInOneTap silences an incident and an alert for a time or until the morning, without a form.
func TestSilenceInOneTap(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(`{"title_rule": "Disk of a", "event_status": "Warning", "alert_key": "disk-a"}`)
	ann := w.signIn(annKey)
	for _, list := range []string{"/incidents", "/alerts"} {
		at := ann.get(list + "?q=Disk").link(list + "/")
		ann.get(at).shows(`action="`+at+`/silence"`, `value="30"`, `value="120"`, "Until 09:00", `data-key="s"`)
		made := ann.post(at+"/silence", "minutes", "morning").shows("Silenced until", "Sun 22 Nov, 09:00", "Undo")
		rule := regexp.MustCompile(`name="rule" value="([0-9a-f]{24})"`).FindStringSubmatch(made.body)[1]
		ann.post(at+"/silence/undo", "rule", rule).shows("Ended the silence")
	}
	w.signIn(readerKey).get(ann.get("/alerts?q=Disk").link("/alerts/")).shows("!Until 09:00")
}

// TestSilenceForm silences an alert with two taps, counts the alerts of a choice, and ends the silence with one tap.
func TestSilenceForm(t *testing.T) {
	t.Parallel()
	w := begin(t)
	for _, host := range []string{"a", "b"} {
		w.push(`{"title_rule": "Disk of ` + host + `", "event_status": "Warning", "alert_key": "disk-` + host + `", "labels": {"alertname": "DiskFull", "host": "` + host + `", "summary": "3% left"}}`)
	}
	w.identifying("alertname,host")
	ann := w.signIn(annKey)
	alert := ann.get("/alerts?q=Disk+of+a").link("/alerts/")
	ann.get(alert).shows(`href="` + alert + `/silence"`)
	ann.get(alert+"/silence").shows("Disk of a", "up to Warning", `value="Disk of a"`, `<option value="60" selected`, "<dd>1</dd>", "<dd>2</dd>", "!3% left", `value="alertname" checked`, `value="host"`)
	ann.post(alert+"/silence", "do", "preview", "by", "labels", "minutes", "30", "label", "host").shows(`value="host" checked`, `<option value="30" selected`, "<dd>1</dd>", "!<dd>2</dd>")
	ann.post(alert+"/silence", "do", "preview", "by", "labels", "minutes", "30").shows("Tick at least one label.")
	ann.post(alert+"/silence", "by", "labels", "minutes", "30").showsWith(http.StatusBadRequest, "labels")
	page := ann.post(alert+"/silence", "by", "labels", "minutes", "60", "label", "alertname", "name", "Disks").shows("Silenced until", "by Ann Day", "Disks", "Silenced for 1 h, up to Warning", "Undo")
	rule := regexp.MustCompile(`name="rule" value="([0-9a-f]{24})"`).FindStringSubmatch(page.body)[1]
	incident := ann.get("/incidents?q=Disk+of+a").link("/incidents/")
	ann.get(incident).shows("by Ann Day", "Undo", incident+"/silence")
	ann.post(alert+"/silence/undo", "rule", rule).shows("Ended the silence", "!Undo")
	ann.get(incident+"/silence").shows("The alerts of this incident", "<dd>1</dd>")
	ann.post(incident+"/silence", "by", "key", "minutes", "15").shows("Silenced until", "Undo")
	w.clock.Add(16 * time.Minute)
	ann.get(incident).shows("!Undo")

	w.identifying("")
	ann.get(alert+"/silence").shows("does not name the labels", `!name="label"`)
	w.signIn(readerKey).get(alert).shows("!" + alert + "/silence")
	w.signIn(readerKey).get(alert + "/silence").showsWith(http.StatusForbidden)
}
