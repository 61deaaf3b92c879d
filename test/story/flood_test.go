package story

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/engine/notify"
)

// More incidents than one transaction decides or escalates, all at once, with corrupt rows among them: each of the others
// notifies its person once, and its verdicts and feed entries are numbered without a gap.
func TestFloodWithCorruptEscalationsNotifiesEachOnce(t *testing.T) {
	t.Parallel()
	const incidents = 130
	each := func(c *app.Config) { c.Budget = notify.Budget{Urgent: 1000, Other: 1000} } // a message for each
	w := beginWith(t, each, escalates(layer(persons(ann)), `"aggr_window": 60`))
	events := make([]string, incidents)
	for i := range events {
		events[i] = fmt.Sprintf(`{"title_rule": "Trouble %03d", "event_status": "Critical", "alert_key": "k%d"}`, i, i)
	}
	if r := w.post("/event/push/alert/standard?integration_key="+shopKey, "["+strings.Join(events, ",")+"]"); r.Error != nil {
		t.Fatal(r)
	}
	w.settle()
	w.notified()
	w.sql(`UPDATE escalation SET rule = 'not JSON' WHERE incident_id IN (SELECT incident_id FROM incident WHERE title IN ('Trouble 000', 'Trouble 059', 'Trouble 099'))`)
	w.pass(2 * time.Minute)
	pages := map[string]int{}
	for _, p := range w.newPages() {
		pages[p.String()+" "+p.subject]++
		if p.event != "i_new" {
			t.Errorf("%s of %s", p, p.subject)
		}
	}
	owner := 0
	for page, n := range pages {
		if n != 1 {
			t.Errorf("%s was sent %d times", page, n)
		}
		if strings.HasPrefix(page, "olga") {
			owner++
		}
	}
	if len(pages) != incidents || owner != 3 {
		t.Errorf("%d pages, %d of them to the owner; want %d and 3", len(pages), owner, incidents)
	}
	const gaps = `SELECT count(*) FROM (SELECT ref_id FROM feed GROUP BY account_id, ref_id HAVING count(*) <> max(feed_id)) AS x`
	if n := w.count(gaps); n != 0 {
		t.Errorf("%d feeds have gaps", n)
	}
}
