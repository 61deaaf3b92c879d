package story

import (
	"testing"
	"time"
)

// One incident of a bundle that cannot be read keeps none of the others from being notified.
func TestACorruptIncidentBlocksNoOtherOfItsBundle(t *testing.T) {
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
func TestACorruptEscalationBlocksNoOtherOfARefusedBundle(t *testing.T) {
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
