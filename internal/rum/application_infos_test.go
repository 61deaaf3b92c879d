package rum_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
)

func TestApplicationInfos(t *testing.T) {
	t.Parallel()
	s, keyring := start(t)
	s.Write(func(tx *db.Tx) error {
		gone := app()
		gone.ApplicationID, gone.Status = "gone", "deleted"
		if err := rum.LoadApplications(tx, keyring, apitest.AccountB, []rum.Application{app()}); err != nil {
			return err
		}
		return rum.LoadApplications(tx, keyring, apitest.AccountA, []rum.Application{app(), web(), gone})
	})
	ids := func(list ...string) string {
		b, _ := json.Marshal(map[string][]string{"application_ids": list})
		return string(b)
	}
	many := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprint("unknown-", i))
		}
		return list
	}
	names := func(want ...string) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			var data struct {
				Items []struct {
					ApplicationID string `json:"application_id"`
				}
			}
			r.Into(&data)
			got := []string{}
			for _, item := range data.Items {
				got = append(got, item.ApplicationID)
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%v, want %v", got, want)
			}
		}
	}
	a, b := web().ApplicationID, app().ApplicationID
	s.Scenarios(t, "/rum/application/infos", []apitest.Scenario{
		{Name: "in the order of the request", Body: ids(a, b), Golden: "rum_application_infos"},
		{Name: "any valid key, without what is private to others", Key: apitest.KeyNothing, Body: ids(a, b), Then: names(a)},
		{Name: "no key", Key: "nobody's", Body: ids(a), Code: "Unauthorized"},
		{Name: "the other order", Body: ids(b, a), Then: names(b, a)},
		{Name: "twice is once, where it came first", Body: ids(b, a, b, "x", a), Then: names(b, a)},
		{Name: "unknown ones are left out", Body: ids("x", a, "", "y"), Then: names(a)},
		{Name: "ids are case-sensitive", Body: ids(strings.ToLower(a)), Data: `{"items": []}`},
		{Name: "deleted", Body: ids("gone"), Data: `{"items": []}`},
		{Name: "another account's", Key: apitest.KeyB, Body: ids(a, b), Then: names(b)},
		{Name: "none", Body: `{"application_ids": []}`, Data: `{"items": []}`},
		{Name: "200", Body: ids(append(many(199), a)...), Then: names(a)},
		{Name: "201", Body: ids(many(201)...), Code: "InvalidParameter", Says: []string{"application_ids", "at most 200", "an array of 201"}},
		{Name: "201 times the same", Body: ids(strings.Fields(strings.Repeat(a+" ", 201))...), Code: "InvalidParameter"},
		{Name: "a text", Body: `{"application_ids": "x"}`, Code: "InvalidParameter", Says: []string{"application_ids", "array"}},
		{Name: "a number among them", Body: `{"application_ids": ["x", 5]}`, Code: "InvalidParameter", Says: []string{"application_ids[1]", "string", "5"}},
		{Name: "null", Body: `{"application_ids": null}`, Code: "InvalidParameter", Says: []string{"application_ids"}},
		{Name: "missing", Body: `{}`, Code: "InvalidParameter", Says: []string{"application_ids", "required"}},
	})
}

// TestClientTokensAreSealed reads the stored token, and moves it to another row, where it must not open.
func TestClientTokensAreSealed(t *testing.T) {
	t.Parallel()
	s, keyring := start(t)
	second := web()
	second.ApplicationID = "second"
	s.Write(func(tx *db.Tx) error {
		if err := rum.LoadApplications(tx, keyring, apitest.AccountA, []rum.Application{web(), second}); err != nil {
			return err
		}
		stored, err := db.All(tx, db.Column[string], `SELECT client_token FROM rum_application`)
		for _, text := range stored {
			if text == "" || strings.Contains(text, token[:8]) {
				t.Errorf("stored as %q", text)
			}
		}
		return err
	})
	s.Exec(`UPDATE rum_application SET client_token = (SELECT client_token FROM rum_application WHERE application_id = 'second') WHERE application_id <> 'second'`)
	if r := s.Call(apitest.KeyA, "/rum/application/infos", `{"application_ids": ["`+web().ApplicationID+`"]}`); r.Code != "" || !strings.Contains(string(r.Body), `"client_token":""`) {
		t.Errorf("a token from another row opens: %s", r.Body)
	}
}
