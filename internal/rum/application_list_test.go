package rum_test

import (
	"slices"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
)

// idsOf returns the ids of a page, by the name of their member.
func idsOf(t *testing.T, r apitest.Reply, name string) (ids []string, total int64, next bool) {
	t.Helper()
	var page struct {
		Items []map[string]any
		Total int64
		Next  bool `json:"has_next_page"`
	}
	r.Into(&page)
	for _, item := range page.Items {
		ids = append(ids, item[name].(string))
	}
	return ids, page.Total, page.Next
}

func TestApplicationList(t *testing.T) {
	t.Parallel()
	s, keyring := start(t)
	s.Write(func(tx *db.Tx) error {
		mine := app()
		mine.TeamID = apitest.TeamA
		mine.ApplicationName = "100%_ Ünï\\ App"
		mine.CreatedAt = 1800000000000
		mine.UpdatedAt = 5
		gone := web()
		gone.ApplicationID, gone.Status = "gone", "deleted"
		if err := rum.LoadApplications(tx, keyring, apitest.AccountB, []rum.Application{app()}); err != nil {
			return err
		}
		return rum.LoadApplications(tx, keyring, apitest.AccountA, []rum.Application{web(), mine, gone})
	})
	w, a := web().ApplicationID, app().ApplicationID
	is := func(want ...string) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			if got, total, _ := idsOf(t, r, "application_id"); !slices.Equal(got, want) || total != int64(len(want)) {
				t.Errorf("%v of %d, want %v", got, total, want)
			}
		}
	}
	s.Scenarios(t, listPath, []apitest.Scenario{
		{Name: "newest first", Body: `{}`, Golden: "rum_application_list", Then: is(a, w)},
		{Name: "any valid key, without what is private to others", Key: apitest.KeyNothing, Body: `{}`, Then: is(w)},
		{Name: "with what is private to the team", Key: apitest.KeyReader, Body: `{}`, Then: is(a, w)},
		{Name: "another account", Key: apitest.KeyB, Body: `{}`, Then: is(a)},
		{Name: "null is absent", Body: `{"p": null, "limit": null, "orderby": null, "asc": null, "query": null, "team_id": null, "is_my_team": null}`, Then: is(a, w)},
		{Name: "oldest first", Body: `{"asc": true}`, Then: is(w, a)},
		{Name: "by change", Body: `{"orderby": "updated_at"}`, Then: is(w, a)},
		{Name: "by change, oldest first", Body: `{"orderby": "updated_at", "asc": true}`, Then: is(a, w)},
		{Name: "by creation", Body: `{"orderby": "created_at"}`, Then: is(a, w)},
		{Name: "by name", Body: `{"query": "SHOP"}`, Then: is(w)},
		{Name: "by name in another script", Body: `{"query": "üNÏ"}`, Then: is(a)},
		{Name: "signs stand for themselves", Body: `{"query": "%_ "}`, Then: is(a)},
		{Name: "a backslash too", Body: `{"query": "\\ "}`, Then: is(a)},
		{Name: "no such name", Body: `{"query": "b_shop"}`, Data: `{"items": [], "total": 0, "has_next_page":false,"search_after_ctx":""}`},
		{Name: "team", Body: `{"team_id": 2477033058131}`, Then: is(w)},
		{Name: "team 0 is any", Body: `{"team_id": 0}`, Then: is(a, w)},
		{Name: "my team", Key: apitest.KeyReader, Body: `{"is_my_team": true}`, Then: is(a)},
		{Name: "not my team", Key: apitest.KeyNothing, Body: `{"is_my_team": true}`, Data: `{"items": [], "total": 0, "has_next_page":false,"search_after_ctx":""}`},
		{Name: "page 2", Body: `{"p": 2, "limit": 1}`, Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			if got, total, next := idsOf(t, r, "application_id"); !slices.Equal(got, []string{w}) || total != 2 || next {
				t.Errorf("%v of %d, next %t", got, total, next)
			}
		}},
		{Name: "beyond the end", Body: `{"p": 3, "limit": 100}`, Data: `{"items": [], "total": 2, "has_next_page":false,"search_after_ctx":""}`},
		{Name: "limit 101", Body: `{"limit": 101}`, Code: "InvalidParameter", Says: []string{"limit", "100", "101"}},
		{Name: "limit 0", Body: `{"limit": 0}`, Code: "InvalidParameter", Says: []string{"limit"}},
		{Name: "page 0", Body: `{"p": 0}`, Code: "InvalidParameter", Says: []string{"p"}},
		{Name: "another order", Body: `{"orderby": "name"}`, Code: "InvalidParameter", Says: []string{"orderby", "name"}},
		{Name: "query of 101", Body: `{"query": "` + strings.Repeat("x", 101) + `"}`, Code: "InvalidParameter", Says: []string{"query", "100"}},
	})
}
