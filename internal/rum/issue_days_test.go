package rum_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/core/rumerror"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
)

const daysPath = "/rum/issue/days"

// counted is what /rum/issue/days returns.
type counted struct {
	Zone  string `json:"time_zone"`
	Users int64  `json:"user_count"`
	Items []struct {
		Date     string `json:"date"`
		Errors   int64  `json:"error_count"`
		Sessions int64  `json:"session_count"`
		Users    int64  `json:"user_count"`
	} `json:"items"`
}

// errorsOf returns errors of users from one number to another.
func errorsOf(from, to int) (list []*rumerror.Error) {
	for i := from; i < to; i++ {
		list = append(list, &rumerror.Error{Message: "x", User: rumerror.User{ID: fmt.Sprint(i)}})
	}
	return list
}

func TestIssueDays(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	issue, quiet := scriptError(), scriptError()
	quiet.IssueID = "quiet"
	at := func(days int) time.Time { return apitest.Now.AddDate(0, 0, days) }
	s.Write(func(tx *db.Tx) error {
		if err := rum.LoadIssues(tx, apitest.AccountA, []rum.Issue{issue, quiet}); err != nil {
			return err
		}
		anonymous := []*rumerror.Error{{Message: "x"}, {Message: "x", User: rumerror.User{Email: "jane@example.com"}}}
		for _, c := range []struct {
			days     int
			errors   []*rumerror.Error
			sessions int64
		}{{-100, errorsOf(0, 5), 5}, {-29, errorsOf(0, 3), 2}, {-1, errorsOf(0, 2), 1}, {-1, errorsOf(1, 4), 0}, {0, anonymous, 1}, {0, errorsOf(0, 400), 9}} {
			if err := issue.CountDay(tx, apitest.AccountA, at(c.days), c.errors, c.sessions); err != nil {
				return err
			}
		}
		return nil
	})
	read := func(body string) (c counted) {
		s.Call(apitest.KeyA, daysPath, body).Into(&c)
		return c
	}
	id := issue.IssueID
	got := read(`{"issue_id": "` + id + `"}`)
	if len(got.Items) != 30 || got.Zone == "" {
		t.Fatalf("%+v", got)
	}
	first := got.Items[0]
	before := got.Items[28]
	last := got.Items[29]
	if first.Date != at(-29).Format(time.DateOnly) || first.Errors != 3 || first.Sessions != 2 || first.Users != 3 {
		t.Errorf("the first day is %+v", first)
	}
	if before.Errors != 5 || before.Sessions != 1 || before.Users != 4 {
		t.Errorf("two batches of a day, with users in both, are %+v", before)
	}
	if last.Errors != 402 || last.Sessions != 10 || last.Users < 300 || last.Users > 500 || got.Users != last.Users {
		t.Errorf("today is %+v, all users are %d", last, got.Users)
	}
	if one := read(`{"issue_id": "` + id + `", "days": 1}`); len(one.Items) != 1 || one.Items[0] != last {
		t.Errorf("one day is %+v", one)
	}
	if most := read(`{"issue_id": "` + id + `", "days": 90}`); len(most.Items) != 90 || most.Items[0].Errors != 0 {
		t.Errorf("90 days are %+v", most)
	}
	s.Scenarios(t, daysPath, []apitest.Scenario{
		{Name: "in full", Body: `{"issue_id": "` + id + `", "days": 2}`, Golden: "rum_issue_days"},
		{Name: "any valid key", Key: apitest.KeyNothing, Body: `{"issue_id": "quiet", "days": 1}`},
		{Name: "no key", Key: "nobody's", Body: `{"issue_id": "` + id + `"}`, Code: "Unauthorized"},
		{Name: "unknown", Body: `{"issue_id": "x"}`, Code: "ResourceNotFound", Says: []string{"issue x"}},
		{Name: "another account's", Key: apitest.KeyB, Body: `{"issue_id": "` + id + `"}`, Code: "ResourceNotFound"},
		{Name: "no day", Body: `{"issue_id": "` + id + `", "days": -1}`, Code: "InvalidParameter", Says: []string{"days", "1"}},
		{Name: "too many", Body: `{"issue_id": "` + id + `", "days": 91}`, Code: "InvalidParameter", Says: []string{"days", "90"}},
		{Name: "missing", Body: `{}`, Code: "InvalidParameter", Says: []string{"issue_id", "required"}},
	})
	s.Exec(`UPDATE rum_day SET users = 'not a sketch' WHERE day = $1`, last.Date)
	if torn := read(`{"issue_id": "` + id + `"}`); torn.Items[29].Errors != 402 || torn.Items[29].Users != 0 || torn.Users != 4 {
		t.Errorf("without the users of a day: %+v", torn.Items[29])
	}
}

// TestDaysBeginAtAccountsMidnight asks on both sides of it.
func TestDaysBeginAtAccountsMidnight(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	s.Exec(`UPDATE account SET time_zone = 'Pacific/Auckland' WHERE account_id = $1`, apitest.AccountA)
	zone, err := time.LoadLocation("Pacific/Auckland")
	if err != nil {
		t.Fatal(err)
	}
	issue := scriptError()
	s.Write(func(tx *db.Tx) error { return rum.LoadIssues(tx, apitest.AccountA, []rum.Issue{issue}) })
	y, m, d := s.Clock.Now().In(zone).Date()
	midnight := time.Date(y, m, d+1, 0, 0, 0, 0, zone)
	for range 2 {
		s.Clock.Add(midnight.Add(-time.Second).Sub(s.Clock.Now()))
		s.Write(func(tx *db.Tx) error {
			return issue.CountDay(tx, apitest.AccountA, s.Clock.Now().In(zone), errorsOf(0, 1), 1)
		})
		var c counted
		s.Call(apitest.KeyA, daysPath, `{"issue_id": "`+issue.IssueID+`", "days": 1}`).Into(&c)
		if len(c.Items) != 1 || c.Items[0].Errors != 1 || c.Zone != zone.String() {
			t.Errorf("before midnight: %+v", c)
		}
		s.Clock.Add(time.Second)
		s.Call(apitest.KeyA, daysPath, `{"issue_id": "`+issue.IssueID+`", "days": 2}`).Into(&c)
		if len(c.Items) != 2 || c.Items[0].Errors != 1 || c.Items[1].Errors != 0 || c.Users != 1 {
			b, _ := json.Marshal(c)
			t.Errorf("after midnight: %s", b)
		}
		midnight = midnight.AddDate(0, 0, 1)
	}
}
