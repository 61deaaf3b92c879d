package webhook

import (
	"context"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
)

// TestStatementsFollowTheirIndexes asks the engine how it would run each statement: along the index that
// was made for it, between both ends of the window and without sorting. It must be so on an empty
// database without statistics, because that is what every installation starts with.
func TestStatementsFollowTheirIndexes(t *testing.T) {
	d := apitest.OpenDB(t)
	const (
		up   = "(event_time,event_id)>(?,?) AND event_time<?)"
		down = "event_time>? AND (event_time,event_id)<(?,?))"
		span = "event_time>? AND event_time<?)"
	)
	for name, c := range map[string]struct {
		listIndex
		index string
	}{
		"status":      {indexStatus, "delivery_by_status (account_id=? AND status=? AND "},
		"integration": {indexIntegration, "delivery_by_integration (account_id=? AND integration_id=? AND status=? AND "},
		"type":        {indexType, "delivery_by_type (account_id=? AND event_type=? AND status=? AND "},
		"both":        {indexBoth, "delivery_by_both (account_id=? AND <expr>=? AND "},
		"reference":   {indexRef, "delivery_by_ref (account_id=? AND ref_id=? AND "},
	} {
		for query, want := range map[string]string{
			c.up:    "SEARCH webhook_delivery USING INDEX " + c.index + up,
			c.down:  "SEARCH webhook_delivery USING INDEX " + c.index + down,
			c.count: "SEARCH webhook_delivery USING COVERING INDEX " + c.index + span,
		} {
			if got := plan(t, d, query); got != want {
				t.Errorf("%s: %s\n  is %s\nwant %s", name, query, got, want)
			}
		}
	}
	const key = "sqlite_autoindex_webhook_count_1 (account_id=? AND shape=? AND integration_id=? AND event_type=? AND status=? AND hour"
	const day = "sqlite_autoindex_webhook_count_day_1 (account_id=? AND shape=? AND integration_id=? AND event_type=? AND status=? AND day"
	for query, want := range map[string]string{sumDays: day + ">? AND day<?)", dropDay: day + "=?)", sumCounts: key + ">? AND hour<?)", dropCounts: key + "=?)", prunable: "delivery_by_status (account_id=? AND status=? AND event_time<?)"} {
		if got := plan(t, d, query); !strings.Contains(got, want) || strings.Contains(got, "SCAN") || strings.Contains(got, "TEMP") {
			t.Errorf("%s\n  is %s\nwant %s", query, got, want)
		}
	}
}

// plan returns how the engine would run a query, its steps in one line.
func plan(t *testing.T, d *db.DB, query string) string {
	t.Helper()
	args := make([]any, strings.Count(query, "$")) // some are named twice; those left over are ignored
	var steps []string
	err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
		steps, err = db.All(tx, func(scan db.Scan) (step string, err error) {
			var id, parent, unused int
			return step, scan(&id, &parent, &unused, &step)
		}, "EXPLAIN QUERY PLAN "+query, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(steps, "; ")
}

// Messages are claimed, given up and cancelled along an index of those that are not settled: a million that wait are not
// read, and not sorted.
func TestClaimsFollowTheirIndexes(t *testing.T) {
	d := apitest.OpenDB(t)
	for query, want := range map[string]string{
		queues:    "SEARCH m USING COVERING INDEX webhook_message_due (account_id=? AND integration_id=?)",
		claim:     "SEARCH webhook_message USING INDEX webhook_message_due (account_id=? AND integration_id=? AND due_at<?)",
		oldOnes:   "SEARCH webhook_message USING INDEX webhook_message_age (account_id=? AND integration_id=? AND started_at<?)",
		someOf:    "SEARCH webhook_message USING INDEX webhook_message_due (account_id=? AND integration_id=?)",
		unmatched: "USING COVERING INDEX sqlite_autoindex_webhook_event_1 (account_id=?)",
	} {
		if got := plan(t, d, query); !strings.Contains(got, want) || strings.Contains(got, "SCAN webhook_message") || strings.Contains(got, "SCAN m") {
			t.Errorf("%s\n  is %s\nwant %s", query, got, want)
		}
	}
}
