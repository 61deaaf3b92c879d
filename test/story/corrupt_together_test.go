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
