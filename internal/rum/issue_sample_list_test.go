package rum_test

import (
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/core/rumerror"
	"tocsin/internal/core/stack"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
)

func TestIssueSampleList(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	s.Write(func(tx *db.Tx) error {
		issue, many := scriptError(), scriptError()
		many.IssueID, many.ErrorCount = "many", 30
		text := "TypeError: items is undefined\n  at pay @ https://shop.example.com/assets/app.js:1:273"
		older := &rumerror.Error{Type: "TypeError", Message: "items is undefined", Time: 1775961800000, Source: "source"}
		newer := &rumerror.Error{Type: "TypeError", Message: "items is undefined", Time: 1775961839090, Source: "source", Stack: text, Frames: stack.Parse(text),
			Service: "checkout", Version: "1.1.0", Env: "production", URL: "https://shop.example.com/cart", Browser: rumerror.Browser{Name: "Firefox", Version: "150"},
			User: rumerror.User{ID: "u1", Email: "jane@example.com"}, Session: "31dda52d", IP: "203.0.113.7",
			Causes: []rumerror.Cause{{Type: "SyntaxError", Message: "Unexpected token", Stack: text, Frames: stack.Parse(text)}}}
		if err := rum.LoadIssues(tx, apitest.AccountA, []rum.Issue{issue, many}); err != nil {
			return err
		}
		var flood []*rumerror.Error
		for i := range 30 {
			flood = append(flood, &rumerror.Error{Message: fmt.Sprint(i)})
		}
		if err := many.AddSamples(tx, apitest.AccountA, flood, apitest.Now); err != nil {
			return err
		}
		return issue.AddSamples(tx, apitest.AccountA, []*rumerror.Error{older, newer}, apitest.Now)
	})
	err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
		kept, err := db.All(tx, db.Column[int64], `SELECT number FROM rum_sample WHERE account_id = $1 AND issue_id = 'many' ORDER BY number`, apitest.AccountA)
		if len(kept) != rum.MaxSamples || kept[0] != 11 || kept[19] != 30 {
			t.Errorf("kept %v, want 11 to 30", kept)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	first := scriptError().IssueID
	s.Scenarios(t, "/rum/issue/sample/list", []apitest.Scenario{
		{Name: "the newest one", Body: `{"issue_id": "` + first + `", "limit": 1}`, Golden: "rum_issue_sample_list"},
		{Name: "any valid key", Key: apitest.KeyNothing, Body: `{"issue_id": "` + first + `"}`},
		{Name: "no key", Key: "nobody's", Body: `{"issue_id": "` + first + `"}`, Code: "Unauthorized"},
		{Name: "unknown", Body: `{"issue_id": "x"}`, Code: "ResourceNotFound", Says: []string{"issue x"}},
		{Name: "another account's", Key: apitest.KeyB, Body: `{"issue_id": "` + first + `"}`, Code: "ResourceNotFound"},
		{Name: "too many", Body: `{"issue_id": "` + first + `", "limit": 21}`, Code: "InvalidParameter", Says: []string{"limit", "20"}},
		{Name: "missing", Body: `{}`, Code: "InvalidParameter", Says: []string{"issue_id", "required"}},
	})
}
