package rum_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
)

func TestApplicationUpdate(t *testing.T) {
	t.Parallel()
	s, keyring := start(t)
	channels(t, s)
	gone := app()
	gone.ApplicationID, gone.Status = "gone", "deleted"
	s.Write(func(tx *db.Tx) error {
		return rum.LoadApplications(tx, keyring, apitest.AccountA, []rum.Application{web(), gone})
	})
	s.Grant(auth.ApplicationsRead)
	id := web().ApplicationID
	at := func(rest string) string { return fmt.Sprintf(`{"application_id": %q%s}`, id, rest) }
	read := func() (a rum.Application) {
		s.Call(apitest.KeyA, infoPath, at("")).Into(&a)
		return a
	}
	want := read()
	changed := func(change func(*rum.Application)) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, s *apitest.Server, _ apitest.Reply) {
			t.Helper()
			if change != nil {
				change(&want)
				want.TracingAlias = want.Tracing
				want.UpdatedBy = apitest.OwnerA
				want.UpdatedAt = s.Clock.Now().UnixMilli()
			}
			if got := read(); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
				t.Errorf("\n%+v, want\n%+v", got, want)
			}
			s.Clock.Add(time.Second)
		}
	}
	s.Scenarios(t, updatePath, []apitest.Scenario{
		{Name: "name, alone", Body: at(`, "application_name": "Shop"`), Golden: "rum_application_update", Then: changed(func(a *rum.Application) { a.ApplicationName = "Shop" })},
		{Name: "nothing", Body: at(``), Then: changed(func(*rum.Application) {})},
		{Name: "null is absent", Body: at(`, "application_name": null, "type": null, "team_id": null, "is_private": null, "no_ip": null, "no_geo": null, "alerting": null, "tracing": null, "the service": null`), Then: changed(func(*rum.Application) {})},
		{Name: "type and flags", Body: at(`, "type": "ios", "is_private": true, "no_ip": true, "no_geo": true`), Then: changed(func(a *rum.Application) {
			a.Type = "ios"
			a.IsPrivate = true
			a.NoIP = true
			a.NoGeo = true
		})},
		{Name: "disabled", Body: at(`, "status": "disabled"`), Then: changed(func(a *rum.Application) { a.Status = "disabled" })},
		{Name: "enabled", Body: at(`, "status": "enabled"`), Then: changed(func(a *rum.Application) { a.Status = "enabled" })},
		{Name: "not deleted", Body: at(`, "status": "deleted"`), Code: "InvalidParameter", Says: []string{"status"}, Then: changed(nil)},
		{Name: "origins", Body: at(`, "allowed_origins": ["https://shop.example.com"]`), Then: changed(func(a *rum.Application) { a.AllowedOrigins = []string{"https://shop.example.com"} })},
		{Name: "any origin", Body: at(`, "allowed_origins": []`), Then: changed(func(a *rum.Application) { a.AllowedOrigins = nil })},
		{Name: "flags back", Body: at(`, "is_private": false, "no_ip": false, "no_geo": false`), Then: changed(func(a *rum.Application) {
			a.IsPrivate = false
			a.NoIP = false
			a.NoGeo = false
		})},
		{Name: "the team that it has, although there is none", Body: at(`, "team_id": 2477033058131`), Then: changed(func(*rum.Application) {})},
		{Name: "another team", Body: at(`, "team_id": 4291079133131`), Then: changed(func(a *rum.Application) { a.TeamID = apitest.TeamA })},
		{Name: "no team", Body: at(`, "team_id": 0`), Then: changed(func(a *rum.Application) { a.TeamID = 0 })},
		{Name: "alerting off, its channels stay", Body: at(`, "alerting": {"enabled": false, "integration_id": 9}`), Then: changed(func(a *rum.Application) { a.Alerting.Enabled = false })},
		{Name: "other channels", Body: at(`, "alerting": {"channel_ids": [12]}`), Then: changed(func(a *rum.Application) { a.Alerting.ChannelIDs = []int64{12} })},
		{Name: "no channels", Body: at(`, "alerting": {"enabled": true, "channel_ids": []}`), Then: changed(func(a *rum.Application) { a.Alerting.Enabled, a.Alerting.ChannelIDs = true, nil })},
		{Name: "tracing off, the rest stays", Body: at(`, "tracing": {"enabled": false}`), Then: changed(func(a *rum.Application) { a.Tracing.Enabled = false })},
		{Name: "its other name", Body: at(`, "the service": {"open_type": "tab"}`), Then: changed(func(a *rum.Application) { a.Tracing.OpenType = "tab" })},
		{Name: "cleared", Body: at(`, "tracing": {"open_type": "", "endpoint": ""}`), Then: changed(func(a *rum.Application) { a.Tracing.OpenType, a.Tracing.Endpoint = "", "" })},
		{Name: "a warning", Body: at(`, "tracing": {"enabled": true}`), Data: `{"warnings": ["alerting is enabled and has no channel_ids, so that issues alert no one", "tracing is enabled and has no endpoint, so that no trace can be linked"]}`,
			Then: changed(func(a *rum.Application) { a.Tracing.Enabled = true })},
		{Name: "unknown team", Body: at(`, "team_id": 7`), Code: "InvalidParameter", Says: []string{"team_id", "team 7"}, Then: changed(nil)},
		{Name: "unknown channel", Body: at(`, "alerting": {"channel_ids": [7]}`), Code: "InvalidParameter", Says: []string{"alerting.channel_ids[0]"}, Then: changed(nil)},
		{Name: "empty name", Body: at(`, "application_name": ""`), Code: "InvalidParameter", Says: []string{"application_name"}},
		{Name: "name of 41", Body: at(`, "application_name": "` + strings.Repeat("é", 41) + `"`), Code: "InvalidParameter", Says: []string{"application_name", "40"}},
		{Name: "bad endpoint", Body: at(`, "tracing": {"endpoint": "t"}`), Code: "InvalidParameter", Says: []string{"tracing.endpoint"}},
		{Name: "two tracings", Body: at(`, "tracing": {"open_type": "tab"}, "the service": {"open_type": "popup"}`), Code: "InvalidParameter", Says: []string{"the service"}},
		{Name: "denied", Key: apitest.KeyReader, Body: at(``), Code: "AccessDenied", Says: []string{"Applications Manage (rum)"}},
		{Name: "another account", Key: apitest.KeyB, Body: at(``), Code: "ResourceNotFound"},
		{Name: "unknown", Body: `{"application_id": "x"}`, Code: "ResourceNotFound", Says: []string{"application x"}},
		{Name: "deleted", Body: `{"application_id": "gone"}`, Code: "ResourceNotFound"},
		{Name: "no id", Body: `{}`, Code: "InvalidParameter", Says: []string{"application_id", "required"}, Then: changed(nil)},
	})
}

func TestApplicationDeleteAndInfo(t *testing.T) {
	t.Parallel()
	s, keyring := start(t)
	s.Write(func(tx *db.Tx) error {
		if err := rum.LoadApplications(tx, keyring, apitest.AccountA, []rum.Application{web(), app()}); err != nil {
			return err
		}
		if err := rum.LoadIssues(tx, apitest.AccountA, []rum.Issue{scriptError()}); err != nil {
			return err
		}
		return configstore.SetReferences(tx, apitest.AccountA, configstore.RefFrom(configstore.Route, 5, "All"), configstore.RefTo(configstore.Application, app().ApplicationID))
	})
	s.Grant(auth.ApplicationsRead)
	body := func(id, rest string) string { return fmt.Sprintf(`{"application_id": %q%s}`, id, rest) }
	id := web().ApplicationID
	s.Scenarios(t, infoPath, []apitest.Scenario{
		{Name: "in full", Body: body(id, ""), Golden: "rum_application_info"},
		{Name: "any valid key", Key: apitest.KeyNothing, Body: body(id, ""), Golden: "rum_application_info"},
		{Name: "another account", Key: apitest.KeyB, Body: body(id, ""), Code: "ResourceNotFound"},
		{Name: "unknown", Body: body("x", ""), Code: "ResourceNotFound", Says: []string{"application x"}},
		{Name: "ids are case-sensitive", Body: body(strings.ToLower(id), ""), Code: "ResourceNotFound"},
		{Name: "empty", Body: body("", ""), Code: "InvalidParameter", Says: []string{"application_id"}},
		{Name: "missing", Body: `{}`, Code: "InvalidParameter", Says: []string{"application_id", "required"}},
	})
	s.Scenarios(t, deletePath, []apitest.Scenario{
		{Name: "tried out", Body: body(id, `, "dry_run": true`), Data: `{"dry_run": true, "allowed": true, "removes": [{"kind": "rum_application", "id": "` + id + `", "name": "Web shop"}]}`},
		{Name: "denied", Key: apitest.KeyReader, Body: body(id, ""), Code: "AccessDenied"},
		{Name: "another account", Key: apitest.KeyB, Body: body(id, ""), Code: "ResourceNotFound"},
		{Name: "unknown", Body: body("x", ""), Code: "ResourceNotFound"},
		{Name: "missing", Body: `{}`, Code: "InvalidParameter", Says: []string{"application_id", "required"}},
		{Name: "referenced", Body: body(app().ApplicationID, ""), Code: "ReferenceExist", Data: `{"refs": [{"kind": "route", "id": "5", "name": "All"}]}`},
		{Name: "done", Body: body(id, ""), Golden: "rum_application_delete"},
		{Name: "again", Body: body(id, ""), Code: "ResourceNotFound"},
	})
	s.Scenarios(t, infoPath, []apitest.Scenario{{Name: "deleted", Body: body(id, ""), Code: "ResourceNotFound"}, {Name: "the other", Body: body(app().ApplicationID, "")}})
	s.Scenarios(t, "/rum/issue/info", []apitest.Scenario{{Name: "its issues stay", Body: `{"issue_id": "` + scriptError().IssueID + `"}`}})
	s.Scenarios(t, "/rum/application/infos", []apitest.Scenario{{Name: "hidden", Body: `{"application_ids": ["` + id + `"]}`, Data: `{"items": []}`}})
	s.Scenarios(t, listPath, []apitest.Scenario{{Name: "hidden", Body: `{"query": "web"}`, Data: `{"items": [], "total": 0, "has_next_page":false,"search_after_ctx":""}`}})
}

// TestConversationApplication creates, changes and deletes an application as its manager does.
func TestConversationApplication(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	channels(t, s)
	var c created
	say := func(path, body, want string) {
		t.Helper()
		s.Clock.Add(time.Second)
		r := s.Call(apitest.KeyA, path, strings.ReplaceAll(body, "ID", c.ApplicationID))
		got := string(r.Data)
		if r.Code != "" {
			got = fmt.Sprintf(`{"code": %q}`, r.Code)
		}
		if path == createPath {
			r.Into(&c)
		}
		got = strings.NewReplacer(c.ApplicationID, "ID", c.ClientToken, "TOKEN").Replace(got)
		if !apitest.SameJSON([]byte(got), []byte(want)) {
			t.Fatalf("%s %s:\n%s\nwant\n%s", path, body, got, want)
		}
	}
	const off = `{"enabled": false, "open_type": "", "endpoint": ""}`
	item := func(name string, at int, alerting, tracing string) string {
		return fmt.Sprintf(`{"account_id": 2451002751131, "application_id": "ID", "application_name": %q, "type": "browser", "client_token": "TOKEN", "team_id": 4291079133131, "is_private": false, "no_ip": true, "no_geo": false,
			"alerting": %s, "tracing": %s, "the service": %s, "status": "enabled", "created_by": 2476123212131, "updated_by": 2476123212131, "created_at": 1776052801000, "updated_at": %d}`, name, alerting, tracing, tracing, 1776052800000+at*1000)
	}
	none, one := `{"enabled": false, "channel_ids": [], "integration_id": 0}`, `{"enabled": true, "channel_ids": [11], "integration_id": 0}`
	say(createPath, `{"application_name": "Shop", "type": "browser", "team_id": 4291079133131, "no_ip": true}`, `{"application_id": "ID", "application_name": "Shop", "client_token": "TOKEN"}`)
	say(infoPath, `{"application_id": "ID"}`, item("Shop", 1, none, off))
	say(updatePath, `{"application_id": "ID", "application_name": "商店", "alerting": {"enabled": true, "channel_ids": [11]}}`, `{}`)
	say(infoPath, `{"application_id": "ID"}`, item("商店", 3, one, off))
	say(listPath, `{"query": "商"}`, `{"items": [`+item("商店", 3, one, off)+`], "total": 1, "has_next_page":false,"search_after_ctx":""}`)
	say("/rum/application/infos", `{"application_ids": ["ID"]}`, `{"items": [`+item("商店", 3, one, off)+`]}`)
	say(updatePath, `{"application_id": "ID", "alerting": {"enabled": false, "channel_ids": []}}`, `{}`)
	say(infoPath, `{"application_id": "ID"}`, item("商店", 7, none, off))
	say(deletePath, `{"application_id": "ID", "dry_run": true}`, `{"dry_run": true, "allowed": true, "removes": [{"kind": "rum_application", "id": "ID", "name": "商店"}]}`)
	say(infoPath, `{"application_id": "ID"}`, item("商店", 7, none, off))
	say(deletePath, `{"application_id": "ID"}`, `{}`)
	say(infoPath, `{"application_id": "ID"}`, `{"code": "ResourceNotFound"}`)
	say(deletePath, `{"application_id": "ID"}`, `{"code": "ResourceNotFound"}`)
	say(listPath, `{}`, `{"items": [], "total": 0, "has_next_page":false,"search_after_ctx":""}`)
	s.Read(func(tx *db.Tx) error {
		logged, err := db.All(tx, db.Column[string], `SELECT l.operation || ' ' || t.kind || ' ' || t.object_name FROM audit_log l JOIN audit_touched t ON t.audit_id = l.audit_id WHERE t.object_id = $1 ORDER BY l.created_at`, c.ApplicationID)
		if want := "[application:write:create rum_application Shop application:write:update rum_application 商店 application:write:update rum_application 商店 application:write:delete rum_application 商店]"; fmt.Sprint(logged) != want {
			t.Errorf("the audit log has %v", logged)
		}
		return err
	})
}
