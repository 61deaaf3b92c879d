package webhook

import (
	"strings"
	"testing"

	"tocsin/internal/platform/db/dbtest"
)

// TestStatementsFollowTheirIndexes asks the engine how it would run each statement: along the index that
// was made for it, between both ends of the window and without sorting. It must be so on an empty
// database without statistics, because that is what every installation starts with.
func TestStatementsFollowTheirIndexes(t *testing.T) {
	t.Parallel()
	plan := dbtest.Plan(t)
	const (
		up   = "(event_time,event_id)>(?,?) AND event_time<?)"
		down = "event_time>? AND (event_time,event_id)<(?,?))"
		span = "event_time>? AND event_time<?)"
	)
	for name, c := range map[string]struct {
		listIndex
		index string
	}{
		"status":    {indexStatus, "delivery_by_status (account_id=? AND status=? AND "},
		"both":      {indexBoth, "delivery_by_both (account_id=? AND <expr>=? AND "},
		"reference": {indexRef, "delivery_by_ref (account_id=? AND ref_id=? AND "},
	} {
		for query, want := range map[string]string{
			c.up:    "SEARCH webhook_delivery USING INDEX " + c.index + up,
			c.down:  "SEARCH webhook_delivery USING INDEX " + c.index + down,
			c.count: "SEARCH webhook_delivery USING COVERING INDEX " + c.index + span,
		} {
			if got := plan(query); got != want {
				t.Errorf("%s: %s\n  is %s\nwant %s", name, query, got, want)
			}
		}
	}
	const key = "sqlite_autoindex_webhook_count_1 (account_id=? AND shape=? AND integration_id=? AND event_type=? AND status=? AND hour"
	const day = "sqlite_autoindex_webhook_count_day_1 (account_id=? AND shape=? AND integration_id=? AND event_type=? AND status=? AND day"
	for query, want := range map[string]string{sumDays: day + ">? AND day<?)", dropDay: day + "=?)", sumCounts: key + ">? AND hour<?)", dropHour: key + "=?)",
		countedIntegrations: "sqlite_autoindex_webhook_count_day_1 (account_id=? AND shape=?)",
		countedTypes:        "sqlite_autoindex_webhook_count_day_1 (account_id=? AND shape=? AND integration_id=?)",
		prunable:            "delivery_by_status (account_id=? AND status=? AND event_time<?)"} {
		if got := plan(query); !strings.Contains(got, want) || strings.Contains(got, "SCAN") || strings.Contains(got, "TEMP") {
			t.Errorf("%s\n  is %s\nwant %s", query, got, want)
		}
	}
}

// Messages are claimed, given up and cancelled along an index of those that are not settled: a million that wait are not
// read, and not sorted.
func TestClaimsFollowTheirIndexes(t *testing.T) {
	t.Parallel()
	plan := dbtest.Plan(t)
	for query, want := range map[string]string{
		queues:    "SEARCH m USING COVERING INDEX webhook_message_due (account_id=? AND integration_id=?)",
		claim:     "SEARCH webhook_message USING INDEX webhook_message_due (account_id=? AND integration_id=? AND due_at<?)",
		oldOnes:   "SEARCH webhook_message USING INDEX webhook_message_age (account_id=? AND integration_id=? AND started_at<?)",
		someOf:    "SEARCH webhook_message USING INDEX webhook_message_due (account_id=? AND integration_id=?)",
		unmatched: "USING COVERING INDEX sqlite_autoindex_webhook_event_1 (account_id>?)",
	} {
		if got := plan(query); !strings.Contains(got, want) || strings.Contains(got, "SCAN webhook_message") || strings.Contains(got, "SCAN m") {
			t.Errorf("%s\n  is %s\nwant %s", query, got, want)
		}
	}
}
