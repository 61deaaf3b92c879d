package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/schedule"
)

func TestList(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := full(t, s)
	s.Clock.Add(time.Minute)
	newer := create(t, s, object{"schedule_name": "Second", "layers": []any{layer(1776009600, []int64{A})}})
	golden := func(name string) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			apitest.Golden(t, name, r.Body, fmt.Sprint(id), "5789640530410", fmt.Sprint(newer), "5432326025106")
		}
	}
	s.Scenarios(t, "/schedule/list", []apitest.Scenario{
		{Name: "golden", Key: apitest.KeyNothing, Body: `{}`, Then: golden("schedule_list")},
		{Name: "golden with a window", Body: `{"query":"second","start":1776009600,"end":1776182400}`, Then: golden("schedule_list_window")},
		{Name: "other account", Key: apitest.KeyB, Body: ``, Data: `{"items":[],"total":0,"has_next_page":false,"search_after_ctx":""}`},
		{Name: "no match", Body: `{"query":"nothing like it"}`, Data: `{"items":[],"total":0,"has_next_page":false,"search_after_ctx":""}`},
		{Name: "nulls", Body: `{"query":null,"p":null,"limit":null,"is_my_team":null,"is_my_manage":null,"team_ids":null,"start":null,"end":null}`},
		{Name: "limit 100", Body: `{"limit":100}`},
		{Name: "limit 101", Body: `{"limit":101}`, Code: "InvalidParameter", Says: []string{"limit", "100", "101"}},
		{Name: "limit 0", Body: `{"limit":0}`, Code: "InvalidParameter", Says: []string{"limit", "1", "0"}},
		{Name: "page 0", Body: `{"p":0}`, Code: "InvalidParameter", Says: []string{"p", "1", "0"}},
		{Name: "page 1000", Body: `{"p":1000}`, Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			if !contains(string(r.Data), `"items":[]`, `"total":2`) {
				t.Errorf("beyond the end: %s", r.Data)
			}
		}},
		{Name: "page 1001", Body: `{"p":1001}`, Code: "InvalidParameter", Says: []string{"p", "1000", "1001"}},
		{Name: "page 101 of 100", Body: `{"p":101,"limit":100}`, Code: "InvalidParameter", Says: []string{"p", "100", "101"}},
		{Name: "both filters", Body: `{"is_my_team":true,"is_my_manage":true}`, Code: "InvalidParameter",
			Says: []string{"is_my_manage", "is_my_team"}},
		{Name: "45 days", Body: `{"start":1776009600,"end":1779897600}`},
		{Name: "a second more", Body: `{"start":1776009600,"end":1779897601}`, Code: "InvalidParameter", Says: []string{"end", "45 days"}},
		{Name: "start alone", Body: `{"start":1776009600}`, Code: "InvalidParameter", Says: []string{"end", "together"}},
		{Name: "nine digits", Body: `{"start":999999999,"end":1000000000}`, Code: "InvalidParameter", Says: []string{"start", "1000000000"}},
		{Name: "query of 101", Body: `{"query":"` + strings.Repeat("x", 101) + `"}`, Code: "InvalidParameter", Says: []string{"query", "100"}},
		{Name: "query with U+0000", Body: `{"query":"\u0000"}`, Code: "InvalidParameter", Says: []string{"query"}},
		{Name: "malformed", Body: `{"p":"1"}`, Code: "InvalidParameter", Says: []string{"p", "integer"}},
	})
}

// listed returns the names in a list, and the total.
func listed(t *testing.T, s *apitest.Server, key string, request object) (names string, total int64) {
	t.Helper()
	var page schedule.Page
	s.Call(key, "/schedule/list", request).Into(&page)
	for _, item := range page.Items {
		names += *item.Name + " "
	}
	return strings.TrimSpace(names), page.Total
}

func TestListQueryIgnoresCase(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, name := range []string{"STRASSE ß", "Дежурство", "ΣΊΣΥΦΟΣ", "100%_a\\b", "值班表", "Ⅷ kelvin"} {
		create(t, s, object{"schedule_name": name})
	}
	for query, want := range map[string]string{
		"strasse ẞ": "STRASSE ß", "ДЕЖУР": "Дежурство", "σίσυφος": "ΣΊΣΥΦΟΣ", "0%_A": "100%_a\\b", "%": "100%_a\\b", "_": "100%_a\\b",
		`\`: "100%_a\\b",
		"班": "值班表", "ⅷ \u212aELVIN": "Ⅷ kelvin", "%a": "", "a_b": "", " ": "STRASSE ß|Ⅷ kelvin",
	} {
		names, total := listed(t, s, apitest.KeyA, object{"query": query})
		for _, w := range strings.Split(want, "|") {
			if !contains(names, w) || want == "" && names != "" {
				t.Errorf("%q finds %q, want %q", query, names, want)
			}
		}
		if want := int64(len(strings.Split(want, "|"))); names == "" && total != 0 || names != "" && total != want {
			t.Errorf("%q: total %d, want %d", query, total, want)
		}
	}
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	s := start(t)
	const other = 55
	s.Exec(`INSERT INTO team (account_id, team_id, team_name) VALUES ($1, $2, 'Other')`, apitest.AccountA, other)
	s.Exec(`INSERT INTO team_person (account_id, team_id, person_id, position) VALUES ($1, $2, $3, 0)`, apitest.AccountA, other, Z)
	for _, x := range []struct {
		name string
		team int64
		by   int64
	}{{"a", apitest.TeamA, A}, {"b", apitest.TeamA, B}, {"c", other, A}, {"d", other, Z}, {"e", 0, A}, {"f", 5, Z}} {
		id := create(t, s, object{"schedule_name": x.name, "team_id": x.team})
		s.Exec(`UPDATE schedule SET create_by = $1 WHERE schedule_id = $2`, x.by, id)
		s.Clock.Add(time.Second)
	}
	for _, c := range []struct {
		key     string
		request object
		want    string
	}{
		{apitest.KeyA, object{}, "f e d c b a"},
		{apitest.KeyA, object{"is_my_team": true}, "b a"},
		{apitest.KeyA, object{"is_my_manage": true}, "a"},
		{apitest.KeyNothing, object{"is_my_team": true}, "d c"},
		{apitest.KeyNothing, object{"is_my_manage": true}, "d"},
		{apitest.KeyA, object{"team_ids": []int64{other}}, "d c"},
		{apitest.KeyA, object{"team_ids": []int64{5, apitest.TeamA}}, "f b a"},
		{apitest.KeyA, object{"team_ids": []int64{0}}, "e"},
		{apitest.KeyA, object{"team_ids": []int64{}}, "f e d c b a"},
		{apitest.KeyA, object{"team_ids": []int64{99}}, ""},
		{apitest.KeyA, object{"is_my_team": true, "team_ids": []int64{other}}, ""},
		{apitest.KeyNothing, object{"is_my_team": true, "team_ids": []int64{other}, "query": "C"}, "c"},
	} {
		names, total := listed(t, s, c.key, c.request)
		if names != c.want || total != int64(len(strings.Fields(c.want))) {
			t.Errorf("%s finds %q and %d in all, want %q", text(t, c.request), names, total, c.want)
		}
	}
}

func TestListPages(t *testing.T) {
	t.Parallel()
	s := start(t)
	var all []string
	for i := range 25 {
		create(t, s, object{"schedule_name": fmt.Sprintf("s%02d", i)})
		if i%3 == 0 { // some are created in the same second
			s.Clock.Add(time.Second)
		}
	}
	for p := 1; p <= 3; p++ {
		names, total := listed(t, s, apitest.KeyA, object{"p": p})
		if again, _ := listed(t, s, apitest.KeyA, object{"p": p}); again != names || total != 25 {
			t.Errorf("page %d: %q, then %q; total %d", p, names, again, total)
		}
		all = append(all, strings.Fields(names)...)
	}
	whole, _ := listed(t, s, apitest.KeyA, object{"limit": 100})
	if strings.Join(all, " ") != whole || len(all) != 25 {
		t.Errorf("pages %q, whole %q", all, whole)
	}
	age := func(name string) (second int) {
		fmt.Sscanf(name, "s%d", &second)
		return (second + 2) / 3
	}
	for i := 1; i < len(all); i++ {
		if age(all[i]) > age(all[i-1]) {
			t.Errorf("%s comes before %s, which is newer", all[i-1], all[i])
		}
	}
}
