package audit_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/audit"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

const search = "/audit/search"

// window is an hour from apitest.Now on.
const window = `"start_time":1776052800,"end_time":1776056400`

// page is the data of a reply. Tests identify an entry by its body.
type page struct {
	Total          int    `json:"total"`
	SearchAfterCtx string `json:"search_after_ctx"`
	Docs           []struct {
		Body          string `json:"body"`
		OperationName string `json:"operation_name"`
	} `json:"docs"`
}

func (p page) bodies() []string {
	all := []string{}
	for _, d := range p.Docs {
		all = append(all, d.Body)
	}
	return all
}

func TestSearch(t *testing.T) {
	s := start(t)
	s.Grant(auth.AuditRead)
	refused := entry(30*time.Minute + 123*time.Millisecond)
	refused.PersonID = apitest.Reader
	refused.PersonName = "Rita Reader"
	refused.RequestID = "other"
	refused.Operation = "schedule:write:delete"
	refused.Outcome = "AccessDenied"
	refused.Body, refused.Dangerous = "refused", true
	named := func(body string, after time.Duration) api.AuditEntry {
		e := entry(after)
		e.Body = body
		return e
	}
	foreign := named("foreign", time.Minute)
	foreign.AccountID = apitest.AccountB
	last := named("last", time.Hour-time.Millisecond)
	last.Touched, foreign.Touched = []fault.Ref{{Kind: "schedule", ID: "7", Name: "Primary"}, {Kind: "team", ID: "8", Name: "SRE"}}, []fault.Ref{{Kind: "schedule", ID: "7", Name: "Theirs"}}
	record(t, s, entry(0), refused, named("before", -time.Millisecond), named("end", time.Hour), last, foreign)
	docs := func(want ...string) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			var p page
			r.Into(&p)
			if !slices.Equal(p.bodies(), want) || p.Total != len(want) || p.SearchAfterCtx != "" {
				t.Errorf("%v of %d, next %q; want %v", p.bodies(), p.Total, p.SearchAfterCtx, want)
			}
		}
	}
	const first = `{"schedule_name":"Primary"}`
	s.Scenarios(t, search, []apitest.Scenario{
		{Name: "all", Body: `{` + window + `}`, Then: docs("last", "refused", first)},
		{Name: "reader", Key: apitest.KeyReader, Body: `{` + window + `}`, Then: docs("last", "refused", first)},
		{Name: "no permission", Key: apitest.KeyNothing, Body: `{` + window + `}`, Code: "AccessDenied", Says: []string{"Audit Read (org)"}},
		{Name: "another account", Key: apitest.KeyB, Body: `{` + window + `}`, Then: docs("foreign")},
		{Name: "null is absent", Body: `{` + window + `,"limit":null,"search_after_ctx":null,"request_id":null,"operations":null,"person_id":null,"is_dangerous":null,"is_write":null}`, Then: docs("last", "refused", first)},
		{Name: "empty is no filter", Body: `{` + window + `,"limit":0,"search_after_ctx":"","request_id":"","operations":[],"person_id":0,"is_dangerous":false}`, Then: docs("last", "refused", first)},
		{Name: "request", Body: `{` + window + `,"request_id":"other"}`, Then: docs("refused")},
		{Name: "operations", Body: `{` + window + `,"operations":["schedule:write:delete","none","schedule:write:delete"]}`, Then: docs("refused")},
		{Name: "person", Body: `{` + window + `,"person_id":2659460982131}`, Then: docs("refused")},
		{Name: "unknown person", Body: `{` + window + `,"person_id":18446744073709551615}`, Data: `{"total":0,"search_after_ctx":"","docs":[]}`},
		{Name: "dangerous", Body: `{` + window + `,"is_dangerous":true}`, Then: docs("refused")},
		{Name: "writes", Body: `{` + window + `,"is_write":true}`, Then: docs("last", "refused", first)},
		{Name: "reads", Body: `{` + window + `,"is_write":false}`, Then: docs()},
		{Name: "resource", Body: `{` + window + `,"resource_kind":"schedule","resource_id":"7"}`, Then: docs("last")},
		{Name: "its other resource", Body: `{` + window + `,"resource_kind":"team","resource_id":"8"}`, Then: docs("last")},
		{Name: "resource, by another person", Body: `{` + window + `,"resource_kind":"schedule","resource_id":"7","person_id":1}`, Then: docs()},
		{Name: "resource of another kind", Body: `{` + window + `,"resource_kind":"person","resource_id":"7"}`, Then: docs()},
		{Name: "resource of another account", Key: apitest.KeyB, Body: `{` + window + `,"resource_kind":"schedule","resource_id":"7"}`, Then: docs("foreign")},
		{Name: "resource outside of the window", Body: `{"start_time":1776052800,"end_time":1776052801,"resource_kind":"schedule","resource_id":"7"}`, Then: docs()},
		{Name: "no resource", Body: `{` + window + `,"resource_kind":"","resource_id":null}`, Then: docs("last", "refused", first)},
		{Name: "kind without id", Body: `{` + window + `,"resource_kind":"schedule"}`, Code: "InvalidParameter", Says: []string{"resource_id", "resource_kind"}},
		{Name: "id without kind", Body: `{` + window + `,"resource_id":"7"}`, Code: "InvalidParameter", Says: []string{"resource_kind", "resource_id"}},
		{Name: "id as a number", Body: `{` + window + `,"resource_kind":"schedule","resource_id":7}`, Code: "InvalidParameter", Says: []string{"resource_id", "string"}},
		{Name: "kind of 65", Body: `{` + window + `,"resource_id":"7","resource_kind":"` + strings.Repeat("x", 65) + `"}`, Code: "InvalidParameter", Says: []string{"resource_kind", "64"}},
		{Name: "one second", Body: `{"start_time":1776052800,"end_time":1776052801}`, Then: docs(first)},
		{Name: "90 days", Body: `{"start_time":1776052800,"end_time":1783828800}`, Then: docs("end", "last", "refused", first)},
		{Name: "90 days and a second", Body: `{"start_time":1776052800,"end_time":1783828801}`, Code: "InvalidParameter", Says: []string{"end_time", "90 days", "7776001"}},
		{Name: "empty window", Body: `{"start_time":1776052800,"end_time":1776052800}`, Code: "InvalidParameter", Says: []string{"end_time", "start_time"}},
		{Name: "no start_time", Body: `{"end_time":1776052800}`, Code: "InvalidParameter", Says: []string{"start_time", "required"}},
		{Name: "no end_time", Body: `{"start_time":1776052800}`, Code: "InvalidParameter", Says: []string{"end_time", "required"}},
		{Name: "milliseconds", Body: `{"start_time":1776052800000,"end_time":1776056400000}`, Code: "InvalidParameter", Says: []string{"start_time", "9999999999", "1776052800000"}},
		{Name: "limit 99", Body: `{` + window + `,"limit":99}`, Then: docs("last", "refused", first)},
		{Name: "limit 100", Body: `{` + window + `,"limit":100}`, Code: "InvalidParameter", Says: []string{"limit", "99", "100"}},
		{Name: "limit below 0", Body: `{` + window + `,"limit":-1}`, Code: "InvalidParameter", Says: []string{"limit", "0", "-1"}},
		{Name: "person_id below 0", Body: `{` + window + `,"person_id":-1}`, Code: "InvalidParameter", Says: []string{"person_id", "-1"}},
		{Name: "operation empty", Body: `{` + window + `,"operations":[""]}`, Code: "InvalidParameter", Says: []string{"operations[0]"}},
		{Name: "operations not a list", Body: `{` + window + `,"operations":"schedule:write:create"}`, Code: "InvalidParameter", Says: []string{"operations", "array"}},
		{Name: "is_write not a boolean", Body: `{` + window + `,"is_write":1}`, Code: "InvalidParameter", Says: []string{"is_write"}},
		{Name: "a cursor made up", Body: `{` + window + `,"search_after_ctx":"eyJjcmVhdGVkX2F0IjoxfQ=="}`, Code: "InvalidParameter", Says: []string{"search_after_ctx"}},
	})
}

// TestSearchGolden has one page only, because a cursor would hold an id that differs from run to run.
func TestSearchGolden(t *testing.T) {
	s := start(t)
	refused := entry(123 * time.Millisecond)
	refused.Operation = "schedule:write:delete"
	refused.Outcome = "ResourceNotFound"
	refused.Dangerous = true
	refused.Body = `{"schedule_id":7}`
	done := entry(0)
	done.Touched = []fault.Ref{{Kind: "schedule", ID: "5789640530410", Name: "Primary"}}
	record(t, s, done, refused)
	s.Scenarios(t, search, []apitest.Scenario{{Name: "golden", Body: `{` + window + `}`, Golden: "audit_search"}})
}

func TestOperationNamesFollowOwner(t *testing.T) {
	s := start(t)
	record(t, s, entry(0))
	for locale, want := range map[string]string{"": "Create schedule", "en-US": "Create schedule", "zh-CN": "创建值班表"} {
		s.Exec(`UPDATE person SET locale = $1 WHERE account_id = $2 AND person_id = $3`, locale, apitest.AccountA, apitest.OwnerA)
		var p page
		s.Call(apitest.KeyA, search, `{`+window+`}`).Into(&p)
		if got := p.Docs[0].OperationName; got != want {
			t.Errorf("%q: %s, want %s", locale, got, want)
		}
	}
}

// TestCursorsBelongToTheirList sends a cursor back with something else changed in the request.
func TestCursorsBelongToTheirList(t *testing.T) {
	s := start(t)
	record(t, s, entry(0), entry(0), entry(1))
	var p page
	s.Call(apitest.KeyA, search, `{"limit":1,`+window+`}`).Into(&p)
	next := fmt.Sprintf(`,"search_after_ctx":%q}`, p.SearchAfterCtx)
	says := []string{"search_after_ctx"}
	s.Scenarios(t, search, []apitest.Scenario{
		{Name: "limit", Body: `{"limit":7,"is_dangerous":false,` + window + next},
		{Name: "account", Key: apitest.KeyB, Body: `{"limit":1,` + window + next, Code: "InvalidParameter", Says: says},
		{Name: "window", Body: `{"limit":1,"start_time":1776052800,"end_time":1776056401` + next, Code: "InvalidParameter", Says: says},
		{Name: "request", Body: `{"limit":1,"request_id":"x",` + window + next, Code: "InvalidParameter", Says: says},
		{Name: "operations", Body: `{"limit":1,"operations":["schedule:write:create"],` + window + next, Code: "InvalidParameter", Says: says},
		{Name: "person", Body: `{"limit":1,"person_id":7,` + window + next, Code: "InvalidParameter", Says: says},
		{Name: "dangerous", Body: `{"limit":1,"is_dangerous":true,` + window + next, Code: "InvalidParameter", Says: says},
		{Name: "resource", Body: `{"limit":1,"resource_kind":"schedule","resource_id":"7",` + window + next, Code: "InvalidParameter", Says: says},
		{Name: "write", Body: `{"limit":1,"is_write":true,` + window + next, Code: "InvalidParameter", Says: says},
	})
}

// TestPagesMatchModel reads random searches page by page while entries are recorded between the pages. Entries that
// existed before must come exactly once, newest first, and every total must be exact.
func TestPagesMatchModel(t *testing.T) {
	s, r := start(t), rand.New(rand.NewPCG(1, 0))
	all := random(r, 200)
	record(t, s, all...)
	for n := range 25 {
		in := map[string]any{"start_time": apitest.Now.Unix() + r.Int64N(6), "end_time": apitest.Now.Unix() + 6 + r.Int64N(6)}
		tests := []func(e api.AuditEntry) bool{func(e api.AuditEntry) bool {
			return e.At.Unix() >= in["start_time"].(int64) && e.At.Unix() < in["end_time"].(int64)
		}}
		for name, narrow := range map[string]func(api.AuditEntry) bool{
			"operations":   func(e api.AuditEntry) bool { return e.Operation == operations[0] || e.Operation == operations[2] },
			"person_id":    func(e api.AuditEntry) bool { return e.PersonID == 2 },
			"is_dangerous": func(e api.AuditEntry) bool { return e.Dangerous },
			"is_write":     func(e api.AuditEntry) bool { return !e.Write },
			"request_id":   func(e api.AuditEntry) bool { return e.RequestID == "request-7" },
			"resource_kind": func(e api.AuditEntry) bool {
				return slices.ContainsFunc(e.Touched, func(r fault.Ref) bool { return r.Kind == "schedule" && r.ID == "2" })
			},
		} {
			if r.IntN(4) == 0 {
				if name == "resource_kind" {
					in["resource_id"] = "2"
				}
				in[name] = map[string]any{"operations": []string{operations[2], operations[0]}, "person_id": 2, "is_dangerous": true, "is_write": false, "request_id": "request-7", "resource_kind": "schedule"}[name]
				tests = append(tests, narrow)
			}
		}
		pick := func() (picked []string) {
			for _, e := range all {
				if !slices.ContainsFunc(tests, func(test func(api.AuditEntry) bool) bool { return !test(e) }) {
					picked = append(picked, e.Body)
				}
			}
			return picked
		}
		want, got := pick(), []string{}
		for first := true; first || in["search_after_ctx"] != ""; first = false {
			in["limit"] = 1 + r.IntN(30)
			var p page
			s.Call(apitest.KeyA, search, in).Into(&p)
			if p.Total != len(pick()) {
				t.Fatalf("search %d %v: total %d, want %d", n, in, p.Total, len(pick()))
			}
			got = append(got, p.bodies()...)
			in["search_after_ctx"] = p.SearchAfterCtx
			more := random(r, r.IntN(3))
			record(t, s, more...)
			all = append(all, more...)
		}
		known := map[string]time.Time{}
		for _, e := range all {
			known[e.Body] = e.At
		}
		if !slices.IsSortedFunc(got, func(a, b string) int { return known[b].Compare(known[a]) }) {
			t.Fatalf("search %d %v: not newest first: %v", n, in, got)
		}
		got = slices.DeleteFunc(got, func(body string) bool { return !slices.Contains(want, body) })
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("search %d %v: got %v\nwant %v", n, in, got, want)
		}
	}
}

// TestEntryIsShownWhole compares every member of an entry with what was recorded.
func TestEntryIsShownWhole(t *testing.T) {
	s := start(t)
	e := entry(0)
	e.Outcome, e.Dangerous = "InvalidParameter", true
	e.Touched = []fault.Ref{{Kind: "team", ID: "8", Name: "SRE"}, {Kind: "schedule", ID: "7", Name: "Primary"}, {Kind: "schedule", ID: "7", Name: "Primary"}}
	record(t, s, e)
	var data struct {
		Docs []map[string]any `json:"docs"`
	}
	s.Call(apitest.KeyA, search, `{`+window+`}`).Into(&data)
	got, err := json.Marshal(data.Docs[0])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"account_id":2451002751131,"body":"{\"schedule_name\":\"Primary\"}","created_at":1776052800000,"ip":"203.0.113.42","is_dangerous":true,"is_write":true,
		"member_id":2476123212131,"member_name":"Olga Owner","operation":"schedule:write:create","operation_name":"Create schedule","params":[{"Key":"error","Value":"InvalidParameter"}],"request_id":"01KP9N2V00000000000000000A",
		"resources":[{"kind":"schedule","id":"7","name":"Primary"},{"kind":"team","id":"8","name":"SRE"}]}`
	if !apitest.SameJSON(got, []byte(want)) {
		t.Errorf("%s\nwant %s", got, strings.TrimSpace(want))
	}
}

// TestPruneGoesByAge deletes entries that are older than a time, of all accounts and in as many steps as needed.
func TestPruneGoesByAge(t *testing.T) {
	s := start(t)
	old, foreign := entry(-time.Millisecond), entry(-time.Hour)
	old.Touched = []fault.Ref{{Kind: "schedule", ID: "7", Name: "Primary"}}
	foreign.AccountID = apitest.AccountB
	record(t, s, old, old, old, foreign, entry(0))
	for _, c := range []struct {
		left int64
		more bool
	}{{3, true}, {1, true}, {1, false}} {
		s.Write(func(tx *db.Tx) error {
			more, err := audit.PruneSome(tx, apitest.Now, 2)
			if more != c.more {
				t.Errorf("more is %t, want %t", more, c.more)
			}
			return err
		})
		if n := count(t, s); n != c.left {
			t.Errorf("%d entries are left, want %d", n, c.left)
		}
	}
	s.Write(func(tx *db.Tx) error {
		more, err := audit.Prune(tx, apitest.Now.Add(time.Millisecond))
		if more {
			t.Error("more is true when nothing is left")
		}
		return err
	})
	if n := count(t, s); n != 0 {
		t.Errorf("%d entries are left, want none", n)
	}
	s.Read(func(tx *db.Tx) error {
		n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM audit_touched`)
		if n != 0 {
			t.Errorf("%d rows of audit_touched are left of deleted entries", n)
		}
		return err
	})
}

// TestEntryShowsHundredResources: the resources beyond are left out of the reply, but a search finds the entry by them.
func TestEntryShowsHundredResources(t *testing.T) {
	s := start(t)
	e := entry(0)
	for i := range 101 {
		e.Touched = append(e.Touched, fault.Ref{Kind: "schedule", ID: fmt.Sprintf("%03d", i)})
	}
	record(t, s, e)
	var data struct {
		Total int
		Docs  []struct{ Resources []fault.Ref }
	}
	s.Call(apitest.KeyA, search, `{`+window+`,"resource_kind":"schedule","resource_id":"100"}`).Into(&data)
	if data.Total != 1 || len(data.Docs[0].Resources) != 100 || data.Docs[0].Resources[99].ID != "099" {
		t.Errorf("%+v", data)
	}
}
