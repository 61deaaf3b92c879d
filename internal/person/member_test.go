package person_test

import (
	"strings"
	"testing"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

func TestMemberLifecycle(t *testing.T) {
	s := apitest.StartConfig(t, func(c *api.Config) { c.Outgrown = credential.Outgrown }, person.Ops())
	s.Exec(`INSERT INTO role (account_id, role_id, role_name, permissions) VALUES ($1, 5, 'Five', '[]'), ($1, 6, 'Six', '["Audit Read (org)"]')`, apitest.AccountA)
	whole := `{"account_id":2451002751131,"member_id":$id,"member_name":"Åsa Ö","country_code":"SE","phone":"+4*******67","email":"asa@example.com","locale":"en-US","time_zone":"Europe/Stockholm",
		"phone_verified":false,"email_verified":false,"avatar":"","status":"pending","account_role_ids":[5],"is_external":false,"ref_id":"","created_at":1776052800,"updated_at":1776052800}`
	s.Converse(t, []apitest.Turn{
		{Path: "/member/invite", Body: `{"members":[{"member_name":"Asa"}]}`, Code: "InvalidParameter", Says: []string{"members[0].email"}},
		{Path: "/member/invite", Body: `{"members":[{"email":"no address"}]}`, Code: "InvalidParameter", Says: []string{"members[0].email", "no address"}},
		{Path: "/member/invite", Body: `{"members":[{"email":"a@b.c","role_ids":[9]}]}`, Code: "ResourceNotFound", Says: []string{"role 9"}},
		{Path: "/member/invite", Body: `{"members":[{"member_name":"Åsa","email":"asa@example.com","role_ids":[5],"locale":"en-US"}]}`, Keep: map[string]string{"id": "items.0.member_id", "link": "items.0.link_path"}, Golden: "member_invite"},
		{Path: "/member/invite", Body: `{"members":[{"email":"ASA@example.com"}]}`, Code: "InvalidParameter", Says: []string{"email", "$id"}},
		{Path: "/member/info/reset", Body: `{"member_id":$id,"member_name":"Åsa Ö","phone":"+4670123467","country_code":"SE","time_zone":"Europe/Stockholm"}`, Data: `{}`, Golden: "member_info_reset"},
		{Path: "/member/info/reset", Body: `{"member_id":$id,"time_zone":"Mars/Base"}`, Code: "InvalidParameter", Says: []string{"time_zone"}},
		{Path: "/member/info/reset", Key: apitest.KeyReader, Body: `{"member_id":$id,"locale":"en-US"}`, Code: "AccessDenied", Says: []string{"Members Manage"}},
		{Path: "/member/info/reset", Key: apitest.KeyReader, Body: `{"member_id":2659460982131,"locale":"en-US"}`, Data: `{}`},
		{Path: "/member/info/reset", Body: `{"member_id":$id,"updates":{"member_name":"Åsa Ö","phone":"+4*******67"}}`, Data: `{}`},
		{Path: "/member/list", Body: `{"query":"åSA"}`, Data: `{"p":1,"limit":20,"total":1,"has_next_page":false,"search_after_ctx":"","items":[` + whole + `]}`, Golden: "member_list"},
		{Path: "/member/list", Body: `{"role_id":5}`, Has: `{"total":1}`},
		{Path: "/member/list", Body: `{"limit":1,"asc":true,"orderby":"updated_at"}`, Has: `{"total":4,"items":[{}]}`},
		{Path: "/member/role/grant", Body: `{"member_id":$id,"role_ids":[5]}`, Data: `{}`, Golden: "member_role_grant"},
		{Path: "/member/role/grant", Body: `{"member_id":$id,"role_ids":[6]}`, Data: `{"warnings":["links to set a password of person $id do not work any more, because the person may do more than when they were made; make a new link"]}`},
		{Path: "/member/role/revoke", Body: `{"member_id":$id,"role_ids":[5]}`, Data: `{}`, Golden: "member_role_revoke"},
		{Path: "/member/list", Body: `{"role_id":6}`, Has: `{"total":1,"items":[{"account_role_ids":[6]}]}`},
		{Path: "/member/role/update", Body: `{"member_id":$id,"role_ids":[5]}`, Data: `{}`, Golden: "member_role_update"},
		{Path: "/member/list", Body: `{"role_id":6}`, Has: `{"total":0}`},
		{Path: "/person/app-key/create", Body: `{"key_name":"hers","person_id":$id}`, Keep: map[string]string{"key": "key_id", "secret": "key"}, Golden: "person_app-key_create"},
		{Path: "/member/list", Body: `{"role_id":5}`, Has: `{"items":[{"status":"enabled"}]}`},
		{Path: "/member/delete", Key: apitest.KeyB, Body: `{"member_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/member/delete", Body: `{}`, Code: "InvalidParameter"},
		{Path: "/member/delete", Body: `{"member_id":2476123212131}`, Code: "BadRequest", Says: []string{"owns the account"}},
		{Path: "/member/delete", Body: `{"email":"asa@example.com","dry_run":true}`, Has: `{"allowed":true,"removes":[{"kind":"person","id":"$id"},{"kind":"app_key","id":"$key"}]}`},
		{Path: "/member/delete", Body: `{"member_id":$id}`, Data: `{}`, Golden: "member_delete"},
		{Path: "/member/delete", Body: `{"member_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/member/list", Body: `{"query":"Åsa"}`, Has: `{"total":0}`},
		{Path: "/member/info/reset", Body: `{"member_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/member/info", Body: `{}`, Has: `{"member_name":"Olga Owner","account_time_zone":"Asia/Shanghai","is_owner":true}`, Golden: "member_info"},
		{Path: "/account/info", Body: `{}`, Has: `{"account_id":2451002751131,"owner_id":2476123212131}`, Golden: "account_info"},
	})
}

// TestAccountUpdate changes the account. What follows its time zone follows at once.
func TestAccountUpdate(t *testing.T) {
	s := apitest.Start(t, person.Ops())
	s.Converse(t, []apitest.Turn{
		{Path: "/account/update", Key: apitest.KeyReader, Body: `{"account_name":"Theirs"}`, Code: "AccessDenied", Says: []string{"Members Manage"}},
		{Path: "/account/update", Body: `{"time_zone":"Mars/Base"}`, Code: "InvalidParameter", Says: []string{"time_zone", "Mars/Base"}},
		{Path: "/account/update", Body: `{"time_zone":"Local"}`, Code: "InvalidParameter", Says: []string{"time_zone"}},
		{Path: "/account/update", Body: `{"account_name":""}`, Code: "InvalidParameter", Says: []string{"account_name"}},
		{Path: "/account/update", Body: `{"account_name":"Acmé","time_zone":"Europe/Berlin"}`, Has: `{"account_name":"Acmé","time_zone":"Europe/Berlin"}`, Golden: "account_update"},
		{Path: "/account/update", Body: `{"account_name":"Acme 2"}`, Has: `{"account_name":"Acme 2","time_zone":"Europe/Berlin","owner_id":2476123212131}`},
		{Path: "/member/info", Body: `{}`, Has: `{"account_name":"Acme 2","account_time_zone":"Europe/Berlin"}`},
		{Path: "/person/infos", Body: `{"person_ids":[2451002751131]}`, Has: `{"items":[{"person_name":"Acme 2","time_zone":"Europe/Berlin"}]}`},
		{Path: "/account/info", Key: apitest.KeyB, Body: `{}`, Has: `{"account_name":"Bolt"}`},
		{Path: "/account/update", Body: `{}`, Has: `{"account_name":"Acme 2"}`},
	})
}

func TestMemberInUse(t *testing.T) {
	s := apitest.Start(t, person.Ops())
	s.Write(func(tx *db.Tx) error {
		return configstore.SetReferences(tx, apitest.AccountA, configstore.RefFrom(configstore.Schedule, 7, "Nights"), configstore.RefTo(configstore.Person, apitest.Reader))
	})
	s.Converse(t, []apitest.Turn{
		{Path: "/member/delete", Body: `{"member_id":2659460982131}`, Code: "ReferenceExist", Has: `{"refs":[{"kind":"schedule","id":"7","name":"Nights"}]}`},
		{Path: "/member/invite", Key: apitest.KeyReader, Body: `{"members":[{"email":"a@b.c"}]}`, Code: "AccessDenied"},
	})
}

func TestAppKeyLifecycle(t *testing.T) {
	s := apitest.Start(t, person.Ops())
	s.Grant(auth.SchedulesRead, auth.AuditRead)
	s.Converse(t, []apitest.Turn{
		{Path: "/person/app-key/create", Body: `{"key_name":""}`, Code: "InvalidParameter", Says: []string{"key_name"}},
		{Path: "/person/app-key/create", Key: apitest.KeyReader, Body: `{"key_name":"x","person_id":2476123212131}`, Code: "AccessDenied", Says: []string{"owner"}},
		{Path: "/person/app-key/create", Key: apitest.KeyReader, Body: `{"key_name":"x","permissions":["Schedules Manage (on-call)"]}`, Code: "InvalidParameter", Says: []string{"permissions"}},
		{Path: "/member/info/reset", Body: `{"member_id":2659460982131,"member_name":"` + strings.Repeat("é", 100) + `"}`},
		{Path: "/member/info/reset", Body: `{"member_id":2659460982131,"member_name":"` + strings.Repeat("é", 101) + `"}`,
			Code: "InvalidParameter", Says: []string{"member_name", "100"}},
		{Path: "/person/app-key/create", Body: `{"key_name":"x","wait":31}`, Code: "InvalidParameter", Says: []string{"wait", "30", "31"}},
		{Path: "/person/app-key/create", Body: `{"key_name":"terraform","wait":30}`},
		{Path: "/person/app-key/create", Body: `{"key_name":"exact","wait":0}`},
		{Path: "/person/app-key/list", Body: `{"limit":2,"asc":false}`, Has: `{"items":[{"wait":0},{"wait":30}]}`},
		{Path: "/person/app-key/create", Key: apitest.KeyReader, Body: `{"key_name":"narrow","permissions":["Schedules Read (on-call)"]}`, Keep: map[string]string{"id": "key_id", "key": "key"}},
	})
}

// TestNarrowedKeyCannotWidenItself creates a key with a narrowed key.
func TestNarrowedKeyCannotWidenItself(t *testing.T) {
	s := apitest.Start(t, person.Ops())
	s.Grant(auth.MembersManage, auth.SchedulesRead, auth.AuditRead)
	var narrow struct {
		ID  int64  `json:"key_id"`
		Key string `json:"key"`
	}
	s.Call(apitest.KeyReader, "/person/app-key/create", `{"key_name":"narrow","permissions":["Schedules Read (on-call)","Members Manage (org)"]}`).Into(&narrow)
	if r := s.Call(narrow.Key, "/person/app-key/create", `{"key_name":"x","permissions":["Audit Read (org)"]}`); r.Code != "AccessDenied" {
		t.Errorf("%s", r.Body)
	}
	var made struct{ Key string }
	s.Call(narrow.Key, "/person/app-key/create", `{"key_name":"x"}`).Into(&made)
	var self struct{ Permissions []string }
	s.Call(made.Key, "/member/info", `{}`).Into(&self)
	if len(self.Permissions) != 3 || self.Permissions[0] != "Schedules Read (on-call)" {
		t.Errorf("%q", self.Permissions)
	}
	body := func(path string) { // on itself
		t.Helper()
		if r := s.Call(narrow.Key, path, map[string]any{"key_id": narrow.ID}); r.Code != "BadRequest" {
			t.Errorf("%s: %s", path, r.Body)
		}
	}
	body("/person/app-key/disable")
	body("/person/app-key/delete")
	s.Call(apitest.KeyReader, "/person/app-key/disable", map[string]any{"key_id": narrow.ID}).Into(&struct{}{})
	s.Clock.Add(1e9)
	if r := s.Call(narrow.Key, "/member/info", `{}`); r.Code != "Unauthorized" {
		t.Errorf("%s", r.Body)
	}
	if r := s.Call(apitest.KeyReader, "/person/app-key/enable", map[string]any{"key_id": narrow.ID}); r.Code == "" {
		apitest.Golden(t, "person_app-key_enable", r.Body)
		apitest.Golden(t, "person_app-key_disable", r.Body)
		apitest.Golden(t, "person_app-key_delete", r.Body)
		apitest.Golden(t, "person_app-key_name_reset", r.Body)
	}
	s.Call(apitest.KeyReader, "/person/app-key/name/reset", map[string]any{"key_id": narrow.ID, "key_name": "deploy"}).Into(&struct{}{})
	r := s.Call(apitest.KeyReader, "/person/app-key/delete", map[string]any{"key_id": narrow.ID, "dry_run": true})
	if r.Code != "" {
		t.Errorf("%s", r.Body)
	}
	s.Call(apitest.KeyReader, "/person/app-key/delete", map[string]any{"key_id": narrow.ID}).Into(&struct{}{})
	if r := s.Call(apitest.KeyReader, "/person/app-key/delete", map[string]any{"key_id": narrow.ID}); r.Code != "ResourceNotFound" {
		t.Errorf("%s", r.Body)
	}
	if r := s.Call(apitest.KeyNothing, "/person/app-key/list", `{}`); r.Code != "" {
		t.Errorf("%s", r.Body)
	} else {
		apitest.Golden(t, "person_app-key_list", r.Body)
	}
}

// TestMemberResetTakesUpdates changes a person named by each of the five members, as the Terraform provider does by id, and
// Nightingale by address, number and name together.
func TestMemberResetTakesUpdates(t *testing.T) {
	s := apitest.Start(t, person.Ops())
	reset := func(body string) apitest.Turn {
		return apitest.Turn{Path: "/member/info/reset", Body: body, Data: `{}`}
	}
	refused := func(body, code string, says ...string) apitest.Turn {
		return apitest.Turn{Path: "/member/info/reset", Body: body, Code: code, Says: says}
	}
	named := func(name string) apitest.Turn {
		return apitest.Turn{Path: "/member/list", Body: `{"query":"ines@example.com"}`, Has: `{"total":1,"items":[{"member_id":$id,"member_name":"` + name + `"}]}`}
	}
	s.Converse(t, []apitest.Turn{
		{Path: "/member/invite", Body: `{"members":[{"member_name":"Ines","email":"ines@example.com","phone":"+15550107","ref_id":"r1"},{"member_name":"Two","email":"two@example.com","ref_id":"r2"}]}`,
			Keep: map[string]string{"id": "items.0.member_id"}},
		reset(`{"member_id":$id,"updates":{"member_name":"By id"}}`), named("By id"),
		reset(`{"email":"INES@example.com","updates":{"member_name":"By email"}}`), named("By email"),
		reset(`{"phone":"+15550107","updates":{"member_name":"By phone"}}`), named("By phone"),
		reset(`{"member_name":"By phone","updates":{"member_name":"By name"}}`), named("By name"),
		reset(`{"ref_id":"r1","updates":{"member_name":"By reference","ref_id":"r3"}}`), named("By reference"),
		reset(`{"email":"ines@example.com","phone":"+15550107","member_name":"By reference","ref_id":"r3","updates":{"member_name":"By all"}}`), named("By all"),
		refused(`{"member_id":$id,"email":"two@example.com","updates":{"member_name":"None"}}`, "ResourceNotFound", "two@example.com"),
		refused(`{"ref_id":"r1","updates":{"member_name":"None"}}`, "ResourceNotFound", "r1"),
		refused(`{"ref_id":"r3","updates":{"ref_id":"r2"}}`, "InvalidParameter", "ref_id", "is that of person"),
		refused(`{"updates":{"member_name":"None"}}`, "InvalidParameter", "member_id", "ref_id is required"),
		refused(`{"member_name":"By all"}`, "InvalidParameter", "member_id", "updates"),
		reset(`{"member_id":$id,"ref_id":"r4"}`), reset(`{"ref_id":"r4","updates":{"ref_id":"r3"}}`),
		refused(`{"member_id":$id,"locale":"en-US","updates":{"member_name":"None"}}`, "InvalidParameter", "locale", "must be in updates"),
		refused(`{"member_id":$id,"updates":{"member_name":"x"}}`, "InvalidParameter", "updates.member_name", "2"),
		{Path: "/member/info/reset", Key: apitest.KeyB, Body: `{"email":"ines@example.com","updates":{"member_name":"Theirs"}}`, Code: "ResourceNotFound"},
		named("By all"),
	})
}

// TestMemberResetHidesWhoHasAddress uses a caller without Members Manage, who gets the same refusal whether an address is
// that of a person or not, and may change neither others nor the id by which other systems find persons.
func TestMemberResetHidesWhoHasAddress(t *testing.T) {
	s := apitest.Start(t, person.Ops())
	s.Exec(`UPDATE person SET email = 'olga@example.com' WHERE person_id = $1`, apitest.OwnerA)
	s.Exec(`UPDATE person SET email = 'rita@example.com' WHERE person_id = $1`, apitest.Reader)
	replies := map[string]bool{}
	for _, email := range []string{"olga@example.com", "none@example.com"} {
		r := expect(t, s, apitest.KeyReader, "/member/info/reset", `{"email":"`+email+`","updates":{"member_name":"Mine"}}`, "AccessDenied")
		replies[r.Message] = true
	}
	if len(replies) != 1 {
		t.Errorf("%v", replies)
	}
	expect(t, s, apitest.KeyReader, "/member/info/reset", `{"email":"rita@example.com","updates":{"member_name":"Mine"}}`, "")
	expect(t, s, apitest.KeyReader, "/member/info/reset", `{"email":"rita@example.com","updates":{"ref_id":"r9"}}`, "AccessDenied")
}
