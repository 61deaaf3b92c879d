package role_test

import (
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/role"
)

func TestRoleLifecycle(t *testing.T) {
	s := apitest.Start(t, role.Ops())
	whole := `{"role_id":$id,"role_name":"On-call","description":"d","status":"enabled","permission_ids":[7],"editable":true,"created_at":1776052800,"updated_at":1776052800}`
	s.Converse(t, []apitest.Turn{
		{Path: "/role/upsert", Body: `{"role_name":"x","permission_ids":[99]}`, Code: "InvalidParameter", Says: []string{"permission_ids", "99"}},
		{Path: "/role/upsert", Body: `{"role_name":"Night","permission_ids":[8,7]}`, Keep: map[string]string{"id": "role_id"}, Golden: "role_upsert"},
		{Path: "/role/info", Body: `{"role_id":$id}`, Has: `{"permission_ids":[8,7],"status":"enabled"}`},
		{Path: "/role/upsert", Body: `{"role_id":$id,"role_name":"On-call","description":"d","permission_ids":[7]}`, Data: `{"role_id":$id,"role_name":"On-call"}`},
		{Path: "/role/info", Body: `{"role_id":$id}`, Data: whole, Golden: "role_info"},
		{Path: "/role/upsert", Body: `{"role_id":$id,"role_name":"On-call"}`, Data: `{"role_id":$id,"role_name":"On-call"}`},
		{Path: "/role/list", Body: `{}`, Data: `{"total":1,"items":[` + whole + `]}`, Golden: "role_list"},
		{Path: "/role/disable", Body: `{"role_id":$id}`, Data: `{}`, Golden: "role_disable"},
		{Path: "/role/info", Body: `{"role_id":$id}`, Has: `{"status":"disabled"}`},
		{Path: "/role/enable", Body: `{"role_id":$id}`, Data: `{}`, Golden: "role_enable"},
		{Path: "/role/member/grant", Body: `{"role_id":$id,"member_ids":[2659460982131,5]}`, Code: "ResourceNotFound", Says: []string{"person 5"}},
		{Path: "/role/member/grant", Body: `{"role_id":$id,"member_ids":[2659460982131]}`, Data: `{}`, Golden: "role_member_grant"},
		{Path: "/role/permission/list", Body: `{"role_ids":[$id]}`, Has: `{"items":[{"id":7,"permission_name":"Schedules Read (on-call)","permission_type":"read","scope":"on-call"}]}`, Golden: "role_permission_list"},
		{Path: "/role/member/revoke", Body: `{"role_id":$id,"member_ids":[2659460982131]}`, Data: `{}`, Golden: "role_member_revoke"},
		{Path: "/role/info", Key: apitest.KeyB, Body: `{"role_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/role/delete", Body: `{"role_id":$id,"dry_run":true}`, Has: `{"allowed":true}`},
		{Path: "/role/delete", Body: `{"role_id":$id}`, Data: `{}`, Golden: "role_delete"},
		{Path: "/role/delete", Body: `{"role_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/role/info", Body: `{"role_id":$id}`, Code: "ResourceNotFound"},
	})
}

// TestCallersCannotGrantWhatTheyLack tries every operation that could grant more permissions than the caller has.
func TestCallersCannotGrantWhatTheyLack(t *testing.T) {
	s := apitest.Start(t, role.Ops())
	s.Grant(auth.RolesManage, auth.SchedulesRead)
	s.Converse(t, []apitest.Turn{
		{Path: "/role/upsert", Body: `{"role_name":"Mighty","permission_ids":[12]}`, Keep: map[string]string{"mighty": "role_id"}},
		{Path: "/role/upsert", Key: apitest.KeyReader, Body: `{"role_name":"x","permission_ids":[7]}`, Keep: map[string]string{"own": "role_id"}},
		{Path: "/role/upsert", Key: apitest.KeyReader, Body: `{"role_name":"x","permission_ids":[8]}`, Code: "AccessDenied", Says: []string{"Schedules Manage"}},
		{Path: "/role/upsert", Key: apitest.KeyReader, Body: `{"role_id":$own,"role_name":"x","permission_ids":[7,1]}`, Code: "AccessDenied"},
		{Path: "/role/upsert", Key: apitest.KeyReader, Body: `{"role_id":$mighty,"role_name":"x","permission_ids":[]}`, Code: "AccessDenied"},
		{Path: "/role/member/grant", Key: apitest.KeyReader, Body: `{"role_id":$mighty,"member_ids":[2659460982131]}`, Code: "AccessDenied"},
		{Path: "/role/enable", Key: apitest.KeyReader, Body: `{"role_id":$mighty}`, Code: "AccessDenied"},
		{Path: "/role/delete", Key: apitest.KeyReader, Body: `{"role_id":$mighty}`, Code: "AccessDenied"},
		{Path: "/role/member/grant", Key: apitest.KeyReader, Body: `{"role_id":$own,"member_ids":[3122470302131]}`, Data: `{}`},
		{Path: "/role/upsert", Key: apitest.KeyNothing, Body: `{"role_name":"x"}`, Code: "AccessDenied", Says: []string{"Roles Manage"}},
	})
}

// TestDisabledRoleGrantsNothing disables a role, which takes effect within a second.
func TestDisabledRoleGrantsNothing(t *testing.T) {
	s := apitest.Start(t, role.Ops())
	s.Grant(auth.RolesManage)
	s.Call(apitest.KeyReader, "/role/upsert", `{"role_name":"x"}`).Into(&struct{}{})
	s.Call(apitest.KeyA, "/role/disable", `{"role_id":1}`).Into(&struct{}{})
	s.Clock.Add(time.Second)
	if r := s.Call(apitest.KeyReader, "/role/upsert", `{"role_name":"x"}`); r.Code != "AccessDenied" {
		t.Errorf("%s", r.Body)
	}
}
