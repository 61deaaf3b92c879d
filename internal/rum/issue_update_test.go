package rum_test

import (
	"fmt"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
)

func TestIssueUpdate(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	s.Write(func(tx *db.Tx) error { return rum.LoadIssues(tx, apitest.AccountA, []rum.Issue{scriptError()}) })
	id := scriptError().IssueID
	at := func(rest string) string { return fmt.Sprintf(`{"issue_id": %q%s}`, id, rest) }
	read := func() (i rum.Issue) {
		s.Call(apitest.KeyA, "/rum/issue/info", at("")).Into(&i)
		return i
	}
	want := read()
	becomes := func(change func(i *rum.Issue, now int64)) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, s *apitest.Server, _ apitest.Reply) {
			t.Helper()
			if change != nil {
				now := s.Clock.Now().UnixMilli()
				change(&want, now)
				want.UpdatedAt = now
			}
			if got := read(); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
				t.Errorf("\n%+v, want\n%+v", got, want)
			}
			s.Clock.Add(time.Second)
		}
	}
	status := func(to string) func(*rum.Issue, int64) {
		return func(i *rum.Issue, _ int64) {
			i.Status = to
			i.ResolvedAt = 0
			i.ResolvedBy = 0
		}
	}
	resolved := func(by int64) func(*rum.Issue, int64) {
		return func(i *rum.Issue, now int64) {
			i.Status = "resolved"
			i.ResolvedAt = now
			i.ResolvedBy = by
		}
	}
	s.Scenarios(t, "/rum/issue/update", []apitest.Scenario{
		{Name: "reviewed", Body: at(`, "status": "reviewed"`), Golden: "rum_issue_update", Then: becomes(status("reviewed"))},
		{Name: "resolved, by any valid key", Key: apitest.KeyNothing, Body: at(`, "status": "resolved"`), Then: becomes(resolved(apitest.Stranger))},
		{Name: "resolved already", Body: at(`, "status": "resolved"`), Then: becomes(func(*rum.Issue, int64) {})},
		{Name: "a cause, while it is resolved", Key: apitest.KeyReader, Body: at(`, "suspected_cause": "network.error"`), Then: becomes(func(i *rum.Issue, _ int64) {
			i.SuspectedCause = rum.Cause{Source: "user", Value: "network.error", PersonID: apitest.Reader}
		})},
		{Name: "the same cause again", Body: at(`, "suspected_cause": "network.error", "status": null`), Then: becomes(func(*rum.Issue, int64) {})},
		{Name: "ignored", Body: at(`, "status": "ignored"`), Then: becomes(status("ignored"))},
		{Name: "resolved again", Body: at(`, "status": "resolved"`), Then: becomes(resolved(apitest.OwnerA))},
		{Name: "back", Body: at(`, "status": "for_review", "suspected_cause": "unknown"`), Then: becomes(func(i *rum.Issue, now int64) {
			status("for_review")(i, now)
			i.SuspectedCause = rum.Cause{Source: "user", Value: "unknown", PersonID: apitest.OwnerA}
		})},
		{Name: "nothing", Body: at(``), Then: becomes(func(*rum.Issue, int64) {})},
		{Name: "empty is absent", Body: at(`, "status": "", "suspected_cause": ""`), Then: becomes(func(*rum.Issue, int64) {})},
		{Name: "unknown status", Body: at(`, "status": "open"`), Code: "InvalidParameter", Says: []string{"status", "open", "for_review"}, Then: becomes(nil)},
		{Name: "unknown cause", Body: at(`, "suspected_cause": "me"`), Code: "InvalidParameter", Says: []string{"suspected_cause", "me"}},
		{Name: "a cause as an object", Body: at(`, "suspected_cause": {"value": "unknown"}`), Code: "InvalidParameter", Says: []string{"suspected_cause", "string"}},
		{Name: "another account", Key: apitest.KeyB, Body: at(``), Code: "ResourceNotFound"},
		{Name: "unknown", Body: `{"issue_id": "x"}`, Code: "ResourceNotFound", Says: []string{"issue x"}},
		{Name: "missing", Body: `{"status": "resolved"}`, Code: "InvalidParameter", Says: []string{"issue_id", "required"}, Then: becomes(nil)},
	})
	s.Read(func(tx *db.Tx) error {
		n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM audit_log l JOIN audit_touched t ON t.audit_id = l.audit_id
			WHERE l.operation = 'issue:write:update' AND t.kind = 'issue' AND t.object_id = $1 AND t.object_name = 'Script error.'`, id)
		if n != 10 {
			t.Errorf("%d entries of the audit log are about the issue, want 10", n)
		}
		return err
	})
}
