package notify

import (
	"strings"
	"testing"

	"tocsin/internal/platform/db/dbtest"
)

// Notifications are claimed along the index of their queues: the rows of one queue are not read for another.
func TestClaimsFollowTheirIndexes(t *testing.T) {
	t.Parallel()
	plan := dbtest.Plan(t)
	for query, want := range map[string]string{
		queues:   "SEARCH notice USING COVERING INDEX notice_queue (lane=? AND account_id=? AND urgency=?)",
		dueTried: "SEARCH notice USING INDEX notice_tried (account_id=? AND recipient=? AND lane=?)",
		makeWait: "SEARCH notice USING INDEX notice_recipient (account_id=? AND recipient=? AND lane=? AND urgency>? AND urgency<?)",
		underWay: "SCAN notice USING COVERING INDEX notice_sending",
		nextDue:  "SEARCH notice USING INDEX notice_queue (lane=? AND account_id=? AND urgency=? AND due_at<?)",
	} {
		if got := plan(query); !strings.Contains(got, want) || strings.Contains(got, "SCAN notice;") || strings.Contains(got, "SCAN n;") {
			t.Errorf("%s\n  is %s\nwant %s", query, got, want)
		}
	}
}
