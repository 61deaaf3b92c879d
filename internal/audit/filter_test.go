package audit

import (
	"strings"
	"testing"

	"tocsin/internal/platform/db/dbtest"
)

// TestStatementsFollowTheirIndexes checks the query plan of each statement: it must use the index that was made for it,
// count without reading rows, and not sort. This must hold on an empty database without statistics, because every
// installation starts with one.
func TestStatementsFollowTheirIndexes(t *testing.T) {
	plan := dbtest.Plan(t)
	const window = "created_at>? AND (created_at,audit_id)<(?,?))"
	for _, c := range []struct {
		along
		covering, index string
	}{
		{byTime, "COVERING ", "INDEX audit_by_time (account_id=? AND " + window},
		{byPerson, "COVERING ", "INDEX audit_by_person (account_id=? AND person_id=? AND " + window},
		{byOperation, "COVERING ", "INDEX audit_by_operation (account_id=? AND operation=? AND " + window},
		{byRequest, "", "INDEX audit_by_request (account_id=? AND request_id=? AND " + window}, // a call has few entries
	} {
		for query, want := range map[string]string{c.page: c.index, c.count: c.covering + c.index} {
			if got := plan(query); got != "SEARCH audit_log USING "+want {
				t.Errorf("%s\n  is %s\nwant %s", query, got, want)
			}
		}
	}
	// Entries of a resource are found by the key of audit_touched and looked up by their own.
	const resource = "SEARCH t USING COVERING INDEX sqlite_autoindex_audit_touched_1 (account_id=? AND kind=? AND object_id=? AND created_at>? AND (created_at,audit_id)<(?,?)); " +
		"SEARCH l USING INDEX sqlite_autoindex_audit_log_1 (account_id=? AND audit_id=?)"
	for _, query := range []string{byResource.page, byResource.count} {
		if got := plan(query); got != resource {
			t.Errorf("%s\n  is %s\nwant %s", query, got, resource)
		}
	}
	if got := plan(touched); !strings.HasPrefix(got, "SEARCH audit_touched USING INDEX audit_touched_of (account_id=? AND audit_id=?)") {
		t.Errorf("%s\n  is %s", touched, got)
	}
	if got := plan(channelsOf); got != "SEARCH audit_channel USING COVERING INDEX sqlite_autoindex_audit_channel_1 (account_id=? AND audit_id=?)" {
		t.Errorf("%s\n  is %s", channelsOf, got)
	}
	if got := plan(prunable); !strings.Contains(got, "audit_by_time (account_id=? AND created_at<?)") || strings.Contains(got, "SCAN") {
		t.Errorf("%s\n  is %s", prunable, got)
	}
}
