package rum_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
)

// TestIssueListAgainstModel reads random lists of issues page by page and compares them with a selection made in
// memory.
func TestIssueListAgainstModel(t *testing.T) {
	t.Parallel()
	const seed = 3
	s, keyring := start(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	const day = 86_400_000
	begin := apitest.Now.UnixMilli()
	var all []rum.Issue
	for i := range 120 {
		r := randomIssue(rng, i)
		r.CreatedAt = begin + rng.Int64N(10)*day
		r.FirstSeen.Timestamp = r.CreatedAt
		r.UpdatedAt = r.CreatedAt + rng.Int64N(5)
		r.SessionCount = rng.Int64N(4)
		r.LastSeen.Timestamp = r.CreatedAt + rng.Int64N(5)*day
		r.ApplicationID, r.ErrorCount = []string{"one", "One", "o_e", "two"}[rng.IntN(4)], rng.Int64N(4)
		r.SuspectedCause.Source, r.SuspectedCause.Value = "auto", one(rng, "unknown", "network.error")
		all = append(all, r)
	}
	s.Write(func(tx *db.Tx) error {
		hush, ours := app(), app()
		hush.ApplicationID = "o_e"
		ours.ApplicationID = "two"
		ours.CreatedBy = apitest.Stranger
		ours.ClientToken = ""
		return errors.Join(rum.LoadIssues(tx, apitest.AccountA, all), rum.LoadApplications(tx, keyring, apitest.AccountA, []rum.Application{hush, ours}))
	})
	for n := range 80 {
		from := begin + rng.Int64N(8)*day
		to := from + 1 + rng.Int64N(5)*day
		in := map[string]any{"start_time": from, "end_time": to}
		keep := func(i rum.Issue) bool { return from <= i.CreatedAt && i.CreatedAt < to }
		if rng.IntN(2) == 0 {
			in["by_intersection"] = true
			keep = func(i rum.Issue) bool { return i.CreatedAt < to && i.LastSeen.Timestamp >= from }
		}
		tests := []func(rum.Issue) bool{keep}
		reader := one(rng, apitest.KeyNothing, apitest.KeyA)
		if reader == apitest.KeyNothing { // the application is private to others
			tests = append(tests, func(i rum.Issue) bool { return i.ApplicationID != "o_e" })
		}
		for name, c := range map[string]struct {
			value any
			test  func(rum.Issue) bool
		}{
			"application_ids":  {[]string{"one", "o_e", "three"}, func(i rum.Issue) bool { return i.ApplicationID == "one" || i.ApplicationID == "o_e" }},
			"team_ids":         {[]int64{1, 7}, func(i rum.Issue) bool { return i.TeamID == 1 }},
			"statuses":         {[]string{"resolved", "ignored"}, func(i rum.Issue) bool { return i.Status == "resolved" || i.Status == "ignored" }},
			"suspected_causes": {[]string{"unknown"}, func(i rum.Issue) bool { return i.SuspectedCause.Value == "unknown" }},
			"error_required":   {true, func(i rum.Issue) bool { return i.ErrorCount > 0 }},
		} {
			if rng.IntN(4) == 0 {
				in[name] = c.value
				tests = append(tests, c.test)
			}
		}
		var want []rum.Issue
		for _, i := range all {
			if !slices.ContainsFunc(tests, func(test func(rum.Issue) bool) bool { return !test(i) }) {
				want = append(want, i)
			}
		}
		by := one(rng, "", "created_at", "updated_at", "session_count", "error_count")
		value := func(i rum.Issue) int64 {
			return map[string]int64{"": i.CreatedAt, "created_at": i.CreatedAt, "updated_at": i.UpdatedAt, "session_count": i.SessionCount, "error_count": i.ErrorCount}[by]
		}
		slices.SortFunc(want, func(a, b rum.Issue) int {
			return cmp.Or(cmp.Compare(value(a), value(b)), cmp.Compare(a.IssueID, b.IssueID))
		})
		in["orderby"], in["asc"] = by, yes(rng)
		if !in["asc"].(bool) {
			slices.Reverse(want)
		}
		limit := 1 + rng.IntN(40)
		var got []string
		for page, more := 1, true; more; page++ {
			in["p"], in["limit"] = page, limit
			ids, total, next := idsOf(t, s.Call(reader, "/rum/issue/list", in), "issue_id")
			if total != int64(len(want)) || len(ids) > limit {
				t.Fatalf("seed %d list %d %v: %d ids of %d, want %d in all", seed, n, in, len(ids), total, len(want))
			}
			got, more = append(got, ids...), next
		}
		var ids []string
		for _, i := range want {
			ids = append(ids, i.IssueID)
		}
		if !slices.Equal(got, ids) {
			t.Fatalf("seed %d list %d %v: got %v\nwant %v", seed, n, in, got, ids)
		}
	}
}

func TestIssueList(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	s.Write(func(tx *db.Tx) error {
		theirs := scriptError()
		theirs.IssueID = "theirs"
		if err := rum.LoadIssues(tx, apitest.AccountB, []rum.Issue{theirs}); err != nil {
			return err
		}
		return rum.LoadIssues(tx, apitest.AccountA, []rum.Issue{scriptError()})
	})
	at := func(from, to int64, rest string) string {
		return fmt.Sprintf(`{"start_time": %d, "end_time": %d%s}`, from, to, rest)
	}
	const seen, day = 1770883154944, 86_400_000
	const empty = `{"items": [], "total": 0, "has_next_page":false,"search_after_ctx":""}`
	s.Scenarios(t, "/rum/issue/list", []apitest.Scenario{
		{Name: "in full", Body: at(seen, seen+1, ``), Golden: "rum_issue_list"},
		{Name: "any valid key", Key: apitest.KeyNothing, Body: at(seen, seen+1, ``), Golden: "rum_issue_list"},
		{Name: "another account's", Key: apitest.KeyB, Body: at(seen, seen+1, `, "application_ids": ["eWbr4xk3ZRnLabRa6unqwD"]`), Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			if ids, _, _ := idsOf(t, r, "issue_id"); !slices.Equal(ids, []string{"theirs"}) {
				t.Errorf("%v", ids)
			}
		}},
		{Name: "before it", Body: at(seen-day, seen, ``), Data: empty},
		{Name: "after it", Body: at(seen+1, seen+day, ``), Data: empty},
		{Name: "after it, while it was there", Body: at(seen+1, seen+day, `, "by_intersection": true`), Golden: "rum_issue_list"},
		{Name: "ids are case-sensitive", Body: at(seen, seen+1, `, "application_ids": ["ewbr4xk3zrnlabra6unqwd"]`), Data: empty},
		{Name: "null and empty are absent", Body: at(seen, seen+1, `, "application_ids": [], "team_ids": null, "statuses": [], "suspected_causes": null, "dql": "", "sql": null, "orderby": "", "p": null, "error_required": null`), Golden: "rum_issue_list"},
		{Name: "183 days", Body: at(seen, seen+183*day, ``)},
		{Name: "183 days and a millisecond", Body: at(seen, seen+183*day+1, ``), Code: "InvalidParameter", Says: []string{"end_time", "183 days"}},
		{Name: "no span", Body: at(seen, seen, ``), Code: "InvalidParameter", Says: []string{"end_time", "start_time"}},
		{Name: "no start", Body: `{"end_time": 1}`, Code: "InvalidParameter", Says: []string{"start_time", "required"}},
		{Name: "no end", Body: `{"start_time": 1}`, Code: "InvalidParameter", Says: []string{"end_time", "required"}},
		{Name: "negative", Body: at(-1, 1, ``), Code: "InvalidParameter", Says: []string{"start_time", "-1"}},
		{Name: "unknown status", Body: at(seen, seen+1, `, "statuses": ["open"]`), Code: "InvalidParameter", Says: []string{"statuses[0]", "open"}},
		{Name: "unknown order", Body: at(seen, seen+1, `, "orderby": "age"`), Code: "InvalidParameter", Says: []string{"orderby"}},
		{Name: "limit 100", Body: at(seen, seen+1, `, "limit": 100`), Golden: "rum_issue_list"},
		{Name: "limit 101", Body: at(seen, seen+1, `, "limit": 101`), Code: "InvalidParameter", Says: []string{"limit", "100"}},
		{Name: "comma", Body: at(seen, seen+1, `, "application_ids": ["a,b"]`), Code: "InvalidParameter", Says: []string{"application_ids", "comma"}},
		{Name: "dql", Body: at(seen, seen+1, `, "dql": "env:production"`), Code: "InvalidParameter", Says: []string{"dql"}},
		{Name: "sql", Body: at(seen, seen+1, `, "sql": "env = 'production'"`), Code: "InvalidParameter", Says: []string{"sql"}},
		{Name: "both", Body: at(seen, seen+1, `, "dql": "x", "sql": "y"`), Code: "InvalidParameter", Says: []string{"sql", "dql"}},
	})
}
