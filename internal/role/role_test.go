package role_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/role"
)

// start serves the operations with role 2, which account A's owner created, and role 3 of account B.
func start(t *testing.T) *apitest.Server {
	s := apitest.Start(t, role.Ops())
	s.Write(func(tx *db.Tx) error {
		if err := role.Load(tx, apitest.AccountA, []role.Record{{RoleID: 2, RoleName: "Two", Permissions: []string{"Schedules Manage (on-call)"}}}); err != nil {
			return err
		}
		return role.Load(tx, apitest.AccountB, []role.Record{{RoleID: 3, RoleName: "Three", Permissions: []string{}}})
	})
	return s
}

func TestUpsert(t *testing.T) {
	s := start(t)
	s.Grant(auth.RolesRead)
	s.Scenarios(t, "/role/upsert", []apitest.Scenario{
		{Name: "with Read only", Key: apitest.KeyReader, Body: `{"role_name": "x"}`, Code: "AccessDenied", Says: []string{"Roles Manage (org)"}},
		{Name: "another account's", Body: `{"role_id": 3, "role_name": "x"}`, Code: "ResourceNotFound", Says: []string{"role 3"}},
		{Name: "unknown", Body: `{"role_id": 9, "role_name": "x"}`, Code: "ResourceNotFound"},
		{Name: "role 0 is a new one", Body: `{"role_id": 0, "role_name": "x"}`},
		{Name: "a negative role", Body: `{"role_id": -1, "role_name": "x"}`, Code: "InvalidParameter", Says: []string{"role_id", "0", "-1"}},
		{Name: "no name", Body: `{}`, Code: "InvalidParameter", Says: []string{"role_name", "required"}},
		{Name: "an empty name", Body: `{"role_name": ""}`, Code: "InvalidParameter", Says: []string{"role_name", "1"}},
		{Name: "a name of 39", Body: `{"role_name": "` + strings.Repeat("角", 39) + `"}`},
		{Name: "a name of 40", Body: `{"role_name": "` + strings.Repeat("角", 40) + `"}`, Code: "InvalidParameter", Says: []string{"role_name", "39"}},
		{Name: "a description of 499", Body: `{"role_name": "x", "description": "` + strings.Repeat("é", 499) + `"}`},
		{Name: "a description of 500", Body: `{"role_name": "x", "description": "` + strings.Repeat("é", 500) + `"}`, Code: "InvalidParameter", Says: []string{"description", "499"}},
		{Name: "permission 0", Body: `{"role_name": "x", "permission_ids": [7, 0]}`, Code: "InvalidParameter", Says: []string{"permission_ids[1]", "0"}},
		{Name: "the last permission", Body: fmt.Sprintf(`{"role_name": "x", "permission_ids": [%d]}`, len(auth.Names(auth.All)))},
		{Name: "beyond the last", Body: fmt.Sprintf(`{"role_name": "x", "permission_ids": [%d]}`, len(auth.Names(auth.All))+1), Code: "InvalidParameter", Says: []string{"permission_ids[0]", "/role/permission/list"}},
		{Name: "a number that would wrap around", Body: `{"role_name": "x", "permission_ids": [257]}`, Code: "InvalidParameter", Says: []string{"permission_ids[0]", "257"}},
		{Name: "a permission by name", Body: `{"role_name": "x", "permission_ids": ["Schedules Read (on-call)"]}`, Code: "InvalidParameter", Says: []string{"permission_ids[0]", "integer"}},
		{Name: "null is absent", Body: `{"role_id": 2, "role_name": "Two", "description": null, "permission_ids": null}`, Then: func(t *testing.T, s *apitest.Server, _ apitest.Reply) {
			var r role.Role
			s.Call(apitest.KeyA, "/role/info", `{"role_id": 2}`).Into(&r)
			if fmt.Sprint(r.PermissionIDs) != "[8]" {
				t.Errorf("%v", r.PermissionIDs)
			}
		}},
		{Name: "none", Body: `{"role_id": 2, "role_name": "Two", "permission_ids": []}`, Then: func(t *testing.T, s *apitest.Server, _ apitest.Reply) {
			var r role.Role
			s.Call(apitest.KeyA, "/role/info", `{"role_id": 2}`).Into(&r)
			if len(r.PermissionIDs) != 0 {
				t.Errorf("%v", r.PermissionIDs)
			}
		}},
	})
}

// TestOperationsOnOneRole checks that the operations on one role reject the same requests.
func TestOperationsOnOneRole(t *testing.T) {
	s := start(t)
	s.Grant(auth.RolesRead)
	for _, path := range []string{"/role/info", "/role/enable", "/role/disable", "/role/delete"} {
		reader := apitest.Scenario{Name: "with Read only", Key: apitest.KeyReader, Body: `{"role_id": 2}`}
		if path != "/role/info" {
			reader.Code, reader.Says = "AccessDenied", []string{"Roles Manage (org)"}
		}
		t.Run(path, func(t *testing.T) {
			s.Scenarios(t, path, []apitest.Scenario{
				reader,
				{Name: "another account's", Body: `{"role_id": 3}`, Code: "ResourceNotFound", Says: []string{"role 3"}},
				{Name: "unknown", Body: `{"role_id": 9223372036854775807}`, Code: "ResourceNotFound"},
				{Name: "role 0", Body: `{"role_id": 0}`, Code: "InvalidParameter", Says: []string{"role_id", "1", "0"}},
				{Name: "missing", Body: `{}`, Code: "InvalidParameter", Says: []string{"role_id", "required"}},
				{Name: "malformed", Body: `{"role_id": "2"}`, Code: "InvalidParameter", Says: []string{"role_id", "integer"}},
				{Name: "allowed", Body: `{"role_id": 2}`},
			})
		})
	}
}

func TestListOrders(t *testing.T) {
	s := apitest.Start(t, role.Ops())
	for _, name := range []string{"a", "b", "c"} {
		s.Call(apitest.KeyA, "/role/upsert", map[string]any{"role_name": name}).Into(&struct{}{})
		s.Clock.Add(time.Second)
	}
	var all struct {
		Total int
		Items []role.Role
	}
	s.Call(apitest.KeyA, "/role/list", `{}`).Into(&all)
	s.Call(apitest.KeyA, "/role/upsert", map[string]any{"role_id": all.Items[1].RoleID, "role_name": "b"}).Into(&struct{}{})
	for body, want := range map[string]string{
		`{}`: "cba", `{"asc": true}`: "abc", `{"orderby": "created_at"}`: "cba", `{"orderby": "updated_at"}`: "bca", `{"orderby": "updated_at", "asc": true}`: "acb", `{"orderby": null, "asc": null}`: "cba",
	} {
		s.Call(apitest.KeyNothing, "/role/list", body).Into(&all)
		got := ""
		for _, r := range all.Items {
			got += r.RoleName
		}
		if got != want || all.Total != 3 {
			t.Errorf("%s: %s and %d in all, want %s", body, got, all.Total, want)
		}
	}
	s.Scenarios(t, "/role/list", []apitest.Scenario{
		{Name: "another account", Key: apitest.KeyB, Body: `{}`, Data: `{"total": 0, "items": []}`},
		{Name: "unknown order", Body: `{"orderby": "role_name"}`, Code: "InvalidParameter", Says: []string{"orderby", "created_at"}},
	})
}

func TestMembers(t *testing.T) {
	s := start(t)
	s.Exec(`UPDATE person SET status = 'deleted' WHERE person_id = $1`, apitest.Stranger)
	s.Person(apitest.AccountA, 61, "Pia")
	holders := func() string {
		var ids []int64
		s.Read(func(tx *db.Tx) (err error) {
			ids, err = db.All(tx, db.Column[int64], `SELECT person_id FROM person_role WHERE account_id = $1 AND role_id = 2 ORDER BY person_id`, apitest.AccountA)
			return err
		})
		return fmt.Sprint(ids)
	}
	have := func(want string) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, _ *apitest.Server, _ apitest.Reply) {
			t.Helper()
			if got := holders(); got != want {
				t.Errorf("the role has %s, want %s", got, want)
			}
		}
	}
	refused := []apitest.Scenario{
		{Name: "with Read only", Key: apitest.KeyReader, Body: `{"role_id": 2, "member_ids": [61]}`, Code: "AccessDenied", Says: []string{"Roles Manage (org)"}},
		{Name: "another account's role", Body: `{"role_id": 3, "member_ids": [61]}`, Code: "ResourceNotFound", Says: []string{"role 3"}},
		{Name: "unknown role", Body: `{"role_id": 9, "member_ids": [61]}`, Code: "ResourceNotFound", Says: []string{"role 9"}},
		{Name: "nobody", Body: `{"role_id": 2, "member_ids": []}`, Code: "InvalidParameter", Says: []string{"member_ids", "1", "0"}},
		{Name: "101", Body: `{"role_id": 2, "member_ids": [61` + strings.Repeat(",61", 100) + `]}`, Code: "InvalidParameter", Says: []string{"member_ids", "100"}},
		{Name: "no members", Body: `{"role_id": 2}`, Code: "InvalidParameter", Says: []string{"member_ids", "required"}},
		{Name: "no role", Body: `{"member_ids": [61]}`, Code: "InvalidParameter", Says: []string{"role_id", "required"}},
		{Name: "malformed", Body: `{"role_id": 2, "member_ids": ["61"]}`, Code: "InvalidParameter", Says: []string{"member_ids[0]"}},
	}
	s.Scenarios(t, "/role/member/grant", append(refused,
		apitest.Scenario{Name: "all or none", Body: `{"role_id": 2, "member_ids": [61, 7]}`, Code: "ResourceNotFound", Says: []string{"person 7"}, Then: have("[]")},
		apitest.Scenario{Name: "a deleted person", Body: `{"role_id": 2, "member_ids": [3122470302131]}`, Code: "ResourceNotFound"},
		apitest.Scenario{Name: "another account's person", Body: `{"role_id": 2, "member_ids": [9900000000002]}`, Code: "ResourceNotFound"},
		apitest.Scenario{Name: "granted", Body: `{"role_id": 2, "member_ids": [61, 2659460982131, 61]}`, Then: have("[61 2659460982131]")},
		apitest.Scenario{Name: "granted again", Body: `{"role_id": 2, "member_ids": [61]}`, Then: have("[61 2659460982131]")},
	))
	s.Scenarios(t, "/role/member/revoke", append(refused,
		apitest.Scenario{Name: "who does not have it", Body: `{"role_id": 2, "member_ids": [2476123212131]}`, Then: have("[61 2659460982131]")},
		apitest.Scenario{Name: "revoked", Body: `{"role_id": 2, "member_ids": [61, 7]}`, Then: have("[2659460982131]")},
	))
	s.Scenarios(t, "/role/delete", []apitest.Scenario{
		{Name: "tried out", Body: `{"role_id": 2, "dry_run": true}`, Then: have("[2659460982131]")},
		{Name: "deleted, and taken from those who had it", Body: `{"role_id": 2}`, Then: have("[]")},
	})
}

func TestPermissionList(t *testing.T) {
	s := start(t)
	all := len(auth.Names(auth.All))
	count := func(want, granted int) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			var list struct{ Items []role.Permission }
			r.Into(&list)
			n := 0
			for i, p := range list.Items {
				if p.IsGranted != nil && *p.IsGranted {
					n++
				}
				if want == all && p.ID != int64(i+1) {
					t.Errorf("permission %d stands at %d", p.ID, i)
				}
			}
			if len(list.Items) != want || n != granted {
				t.Errorf("%d permissions, %d granted, want %d and %d", len(list.Items), n, want, granted)
			}
		}
	}
	s.Scenarios(t, "/role/permission/list", []apitest.Scenario{
		{Name: "all", Key: apitest.KeyNothing, Body: `{}`, Then: count(all, 0)},
		{Name: "all, granted by nobody", Body: `{"with_all": true}`, Then: count(all, 0)},
		{Name: "of a role, Manage with its Read", Body: `{"role_ids": [2]}`, Then: count(2, 0)},
		{Name: "all, with those of a role", Body: `{"role_ids": [2], "with_all": true}`, Then: count(all, 2)},
		{Name: "another account's role", Body: `{"role_ids": [3]}`, Code: "ResourceNotFound", Says: []string{"role 3"}},
		{Name: "101 roles", Body: `{"role_ids": [2` + strings.Repeat(",2", 100) + `]}`, Code: "InvalidParameter", Says: []string{"role_ids", "100"}},
		{Name: "malformed", Body: `{"role_ids": 2}`, Code: "InvalidParameter", Says: []string{"role_ids", "array"}},
	})
}

// TestPermissionFactors: one for each permission, each once.
func TestPermissionFactors(t *testing.T) {
	s := start(t)
	s.Converse(t, []apitest.Turn{
		{Path: "/role/permission/factor/list", Key: apitest.KeyNothing, Body: `{}`, Golden: "role_permission_factor_list"},
		{Path: "/role/permission/factor/list", Body: `{"factor_types": ["menu", "url"]}`, Data: `[]`},
		{Path: "/role/permission/factor/list", Body: `{"factor_types": ["x"]}`, Code: "InvalidParameter", Says: []string{"factor_types"}},
	})
	var all []role.Factor
	s.Call(apitest.KeyA, "/role/permission/factor/list", `{"factor_types": ["menu", "api"]}`).Into(&all)
	seen := map[role.Factor]bool{}
	for _, f := range all {
		seen[f] = true
	}
	if n := len(auth.Names(auth.All)); len(all) != n || len(seen) != n {
		t.Errorf("%d factors, %d different, want %d: %v", len(all), len(seen), n, all)
	}
}

// TestRoleTakesEffectWithinSecond grants, widens, narrows, disables, enables, revokes and deletes a role. After each
// change it checks what the person may do.
func TestRoleTakesEffectWithinSecond(t *testing.T) {
	s := start(t)
	s.Call(apitest.KeyA, "/role/upsert", `{"role_id": 2, "role_name": "Two", "permission_ids": []}`).Into(&struct{}{})
	const manage = 24 // Roles Manage (org)
	if p, ok := auth.ByID(manage); !ok || p != auth.RolesManage {
		t.Fatalf("permission %d is %s", manage, p)
	}
	for _, step := range []struct {
		path, body string
		may        bool
	}{
		{"/role/member/grant", `{"role_id": 2, "member_ids": [3122470302131]}`, false},
		{"/role/upsert", `{"role_id": 2, "role_name": "Two", "permission_ids": [24]}`, true},
		{"/role/disable", `{"role_id": 2}`, false},
		{"/role/enable", `{"role_id": 2}`, true},
		{"/role/upsert", `{"role_id": 2, "role_name": "Two", "permission_ids": [23]}`, false},
		{"/role/upsert", `{"role_id": 2, "role_name": "Two", "permission_ids": [24]}`, true},
		{"/role/member/revoke", `{"role_id": 2, "member_ids": [3122470302131]}`, false},
		{"/role/member/grant", `{"role_id": 2, "member_ids": [3122470302131]}`, true},
		{"/role/delete", `{"role_id": 2}`, false},
	} {
		s.Call(apitest.KeyA, step.path, step.body).Into(&struct{}{})
		s.Clock.Add(time.Second)
		want := "AccessDenied"
		if step.may {
			want = ""
		}
		if r := s.Call(apitest.KeyNothing, "/role/upsert", `{"role_name": "x"}`); r.Code != want {
			t.Errorf("after %s %s: %q, want %q", step.path, step.body, r.Code, want)
		}
	}
}

// TestNarrowedKeyOfOwnerCannotGrantMore checks that ownership of the account does not widen a narrowed key.
func TestNarrowedKeyOfOwnerCannotGrantMore(t *testing.T) {
	s := start(t)
	const narrow = "tk_roles_alone_0123456789abcdefghijk"
	s.Write(func(tx *db.Tx) error {
		_, _, err := auth.CreateKey(tx, auth.NewKey{Account: apitest.AccountA, Person: apitest.OwnerA, Secret: narrow, Permissions: []string{"Roles Manage (org)"}}, apitest.Now.Unix())
		return err
	})
	s.Scenarios(t, "/role/upsert", []apitest.Scenario{
		{Name: "its own", Key: narrow, Body: `{"role_name": "x", "permission_ids": [23, 24]}`},
		{Name: "more", Key: narrow, Body: `{"role_name": "x", "permission_ids": [24, 7]}`, Code: "AccessDenied", Says: []string{"Schedules Read (on-call)"}},
	})
	s.Scenarios(t, "/role/member/grant", []apitest.Scenario{
		{Name: "more", Key: narrow, Body: `{"role_id": 2, "member_ids": [2659460982131]}`, Code: "AccessDenied", Says: []string{"Schedules Manage (on-call)"}},
	})
}
