package notify

import (
	"context"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
)

// Notifications are claimed along the index of their queues: the rows of one queue are not read for another.
func TestClaimsFollowTheirIndexes(t *testing.T) {
	d := apitest.OpenDB(t)
	for query, want := range map[string]string{
		nextQueue: "USING COVERING INDEX notice_queue ((lane,account_id,urgency)>(?,?,?))",
		dueTried:  "SEARCH notice USING INDEX notice_tried (account_id=? AND recipient=? AND lane=?)",
		makeWait:  "SEARCH notice USING INDEX notice_recipient (account_id=? AND recipient=? AND lane=? AND urgency>? AND urgency<?)",
		nextDue:   "SEARCH notice USING INDEX notice_queue (lane=? AND account_id=? AND urgency=? AND due_at<?)",
	} {
		var steps []string
		err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
			steps, err = db.All(tx, func(scan db.Scan) (step string, err error) {
				var id, parent, unused int
				return step, scan(&id, &parent, &unused, &step)
			}, "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "$"))...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(steps, "; "); !strings.Contains(got, want) || strings.Contains(got, "SCAN notice;") || strings.Contains(got, "SCAN n;") {
			t.Errorf("%s\n  is %s\nwant %s", query, got, want)
		}
	}
}
