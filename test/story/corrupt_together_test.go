package story

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// One incident of a bundle that cannot be read keeps none of the others from being notified.
func TestCorruptIncidentBlocksNoOtherOfItsBundle(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, prometheus)
	w.fail("ann@", later)
	w.pushTitled(30, allCritical)
	w.pass(2 * time.Minute) // they are tried, and share messages from now on
	w.sql(`UPDATE incident SET body = 'not JSON' WHERE title LIKE '%alert29'`)
	w.acceptAll()
	w.pass(12 * time.Minute)
	if n := w.count(`SELECT count(*) FROM notice WHERE cause = 'page' AND status = 'sent'`); n != 29 {
		t.Errorf("%d notifications are sent, want 29", n)
	}
}

// A bundle is refused. One of its escalations cannot be read: the others go on to the next step all the same, and the
// bundle is not sent again.
func TestCorruptEscalationBlocksNoOtherOfRefusedBundle(t *testing.T) {
	t.Parallel()
	w := begin(t, textAnn(""), prometheus)
	tried := map[string]int{}
	w.answers(func(p page) answer {
		tried[p.key]++
		return later
	})
	w.pushTitled(30, allCritical)
	w.pass(2 * time.Minute)
	w.sql(`UPDATE escalation SET rule = 'not JSON' WHERE incident_id IN (SELECT incident_id FROM incident WHERE title LIKE '%alert29')`)
	w.refuse("ann@", "+1555")
	w.pass(15 * time.Minute)
	if n := w.count(`SELECT count(DISTINCT incident_id) FROM notice WHERE person_id = $1 AND status = 'sent'`, cid); n != 29 {
		t.Errorf("Cid was notified of %d incidents, want 29", n)
	}
}

// An alert of Tocsin's own that cannot be read neither keeps a sent message from being recorded, nor others from ending.
func TestCorruptOwnAlertRepeatsNoMessage(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob))))
	w.refuse()
	w.fail("@example.com", later)
	for range 8 {
		w.push(fmt.Sprint("k", w.clock.Now().Unix()), "Critical")
		w.pass(10 * time.Minute)
	}
	if n := w.count(`SELECT count(*) FROM own_alert`); n < 2 {
		t.Fatalf("%d own alerts", n)
	}
	w.sql(fmt.Sprintf(`UPDATE own_alert SET alert = 'not JSON' WHERE alert_key LIKE '%%p%d%%'`, ann))
	w.sql(`UPDATE notice SET status = 'cancelled', settled_at = 1 WHERE settled_at = 0`)
	w.acceptAll()
	w.newPages()
	w.push("again", "Critical")
	w.drift = time.Minute
	w.pass(30 * time.Minute)
	n := 0
	for _, p := range w.newPages() {
		if p.to == "ann@example.com" && strings.Contains(p.subject, "again") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("Ann was notified %d times", n)
	}
	w.pass(26 * time.Hour)
	if n := w.count(`SELECT count(*) FROM own_alert`); n != 0 {
		t.Errorf("%d own alerts do not end", n)
	}
}

// The settings of a channel cannot be read: its alerts are decided with the defaults, and page.
func TestCorruptChannelPages(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.sql(fmt.Sprintf(`UPDATE channel SET settings = 'not JSON' WHERE channel_id = %d`, shop))
	w.restart()
	w.push("cpu", "Critical")
	w.pass(time.Minute)
	w.notified(newPage("ann"))
	if status, body := w.page("/health/ready"); status != 200 || !strings.Contains(body, `{"kind":"channel","count":1}`) {
		t.Errorf("%d %s", status, body)
	}
}

// A schedule that cannot be read counts as one in which no person is on call: the others of its step are notified.
func TestCorruptScheduleBlocksNoOtherOfItsStep(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(bob)+", "+onCall(day))+","+layer(onCall(day))+","+layer(persons(cid))))
	w.sql(`UPDATE schedule SET layers = 'not JSON'`)
	w.restart()
	w.push("cpu", "Critical")
	w.pass(time.Minute)
	w.notified(newPage("bob"))
	w.pass(30 * time.Minute)
	w.notified(newPage("cid")) // the step of the schedule alone is skipped
}

// Nor does a corrupt alert keep its incident from paging, while silences are looked at for it.
func TestCorruptAlertPages(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann)), `"aggr_window": 60`), rules("silence_rules", `"filters": `+where("env", "test")+`, `+once(time.Hour)))
	w.push("cpu", "Critical", "env=prod")
	w.sql(`UPDATE alert SET labels = 'not JSON'`)
	w.pass(2 * time.Minute)
	w.notified(newPage("ann"))
}

// Nor does it keep other events of its channel from being decided, although it could inhibit them.
func TestCorruptAlertInhibitsNothing(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("inhibit_rules", `"source_filters": `+where("env", "core")+`, "target_filters": `+where("env", "prod")+`, "equals": ["labels.zone"]`))
	w.push("core", "Critical", "env=core", "zone=a")
	w.newPages()
	w.sql(`UPDATE alert SET labels = 'not JSON'`)
	w.push("cpu", "Critical", "env=prod", "zone=b")
	w.notified(newPage("ann"))
}

// A notification that cannot be read does not keep its incident from being acknowledged and closed.
func TestCorruptNotificationKeepsNoIncidentOpen(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob))))
	w.push("cpu", "Critical")
	w.notified(newPage("ann"), newPage("bob"))
	w.sql(fmt.Sprintf(`UPDATE notice SET detail = 'not JSON' WHERE person_id = %d`, ann))
	w.ack(annKey)
	w.push("cpu", "Ok")
	w.notified(acked("bob"), over("ann"), over("bob"))
}
