package rum_test

import (
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
)

func TestIssueInfo(t *testing.T) {
	t.Parallel()
	s, keyring := start(t)
	s.Write(func(tx *db.Tx) error {
		back := scriptError()
		back.IssueID = "back"
		back.IsCrash = true
		back.Age = 48
		back.Versions = nil
		back.Regression = &rum.Regression{RegressedAt: 1775961839090, RegressedAtVersion: "1.1.0", ResolvedAt: 1775000000000}
		back.SuspectedCause = rum.Cause{Source: "user", Value: "network.error", PersonID: apitest.Reader}
		done := scriptError()
		done.IssueID = "done"
		done.ApplicationID = app().ApplicationID
		done.Status = "resolved"
		done.ResolvedAt = 1775961914595
		done.ResolvedBy = apitest.Reader
		if err := rum.LoadApplications(tx, keyring, apitest.AccountA, []rum.Application{web(), app()}); err != nil {
			return err
		}
		return rum.LoadIssues(tx, apitest.AccountA, []rum.Issue{scriptError(), back, done})
	})
	body := func(id string) string { return `{"issue_id": "` + id + `"}` }
	first := scriptError().IssueID
	s.Scenarios(t, "/rum/issue/info", []apitest.Scenario{
		{Name: "in full", Body: body(first), Golden: "rum_issue_info"},
		{Name: "came back, with an age of its own", Body: body("back"), Golden: "rum_issue_info_regression"},
		{Name: "any valid key", Key: apitest.KeyNothing, Body: body(first)},
		{Name: "of a private application", Body: body("done")},
		{Name: "of a private application of others", Key: apitest.KeyNothing, Body: body("done"), Code: "AccessDenied", Says: []string{"private"}},
		{Name: "no key", Key: "nobody's", Body: body(first), Code: "Unauthorized"},
		{Name: "unknown", Body: body("x"), Code: "ResourceNotFound", Says: []string{"issue x"}},
		{Name: "ids are case-sensitive", Body: body(strings.ToLower(first)), Code: "ResourceNotFound"},
		{Name: "another account's", Key: apitest.KeyB, Body: body(first), Code: "ResourceNotFound"},
		{Name: "empty", Body: body(""), Code: "InvalidParameter", Says: []string{"issue_id", "at least 1 character"}},
		{Name: "a number", Body: `{"issue_id": 5}`, Code: "InvalidParameter", Says: []string{"issue_id", "string"}},
		{Name: "missing", Body: `{}`, Code: "InvalidParameter", Says: []string{"issue_id", "required"}},
		{Name: "malformed", Body: `{"issue_id"}`, Code: "InvalidParameter"},
	})
}
