package datasource_test

import (
	"fmt"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

const deletePath = "/monit/datasource/delete"

func TestDelete(t *testing.T) {
	s := start(t)
	for range 3 {
		s.Call(apitest.KeyA, createPath, prometheus(`{}`)).Into(new(any))
	}
	s.Write(func(tx *db.Tx) error {
		return configstore.SetReferences(tx, apitest.AccountA, configstore.RefFrom("monit_rule", 5, "Disk full"), configstore.RefTo(configstore.Datasource, 2))
	})
	s.Grant(auth.DatasourcesRead)
	const refs = `[{"kind": "monit_rule", "id": "5", "name": "Disk full"}]`
	s.Scenarios(t, deletePath, []apitest.Scenario{
		{Name: "tried out", Body: `{"id": 1, "dry_run": true}`, Data: `{"dry_run": true, "allowed": true, "removes": [{"kind": "datasource", "id": "1", "name": "Metrics"}]}`},
		{Name: "referenced", Body: `{"id": 2}`, Code: "ReferenceExist", Says: []string{"monit_rule 5 (Disk full)"}, Data: `{"refs": ` + refs + `}`},
		{Name: "referenced, tried out", Body: `{"id": 2, "dry_run": true}`, Data: `{"dry_run": true, "allowed": false, "refs": ` + refs +
			`, "error": {"code": "ReferenceExist", "message": "The resource is still referenced: datasource 2 is used by monit_rule 5 (Disk full)."}}`},
		{Name: "reader is denied", Key: apitest.KeyReader, Body: `{"id": 1}`, Code: "AccessDenied"},
		{Name: "other account", Key: apitest.KeyB, Body: `{"id": 1}`, Code: "ResourceNotFound"},
		{Name: "unknown", Body: `{"id": 4}`, Code: "ResourceNotFound", Says: []string{"datasource 4"}},
		{Name: "unknown, tried out", Body: `{"id": 4, "dry_run": true}`, Code: "ResourceNotFound"},
		{Name: "no id", Body: `{}`, Code: "InvalidParameter", Says: []string{"id", "required"}},
		{Name: "done", Body: `{"id": 1}`, Golden: "monit_datasource_delete"},
		{Name: "again", Body: `{"id": 1}`, Code: "ResourceNotFound"},
	})
	s.Scenarios(t, createPath, []apitest.Scenario{{Name: "the id is not given out again", Body: prometheus(`{}`), Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
		if id := idOf(r); id != 4 {
			t.Errorf("id %d", id)
		}
	}}})
}

// TestConversation creates, changes and deletes a datasource as its manager does.
func TestConversation(t *testing.T) {
	s := start(t)
	say := func(path, body, want string) {
		t.Helper()
		s.Clock.Add(time.Second)
		r := s.Call(apitest.KeyA, path, body)
		if want == "" {
			want = `{"code": "ResourceNotFound"}`
			r.Data = fmt.Appendf(nil, `{"code": %q}`, r.Code)
		}
		if !apitest.SameJSON(r.Data, []byte(want)) {
			t.Fatalf("%s %s:\n%s\nwant\n%s", path, body, r.Body, want)
		}
	}
	item := func(name string, enabled bool, at int, rest string) string {
		return fmt.Sprintf(`{"id": 1, "account_id": 2451002751131, "type_ident": "mysql", "name": %q, "enabled": %t, "note": "", "address": "m:3306", "edge_cluster_name": "e", "updated_at": %d%s}`, name, enabled, 1776052800+at, rest)
	}
	const first = `, "payload": {"mysql": {"username": "u", "password": "p", "tls_mode": "require"}}`
	const second = `, "payload": {"mysql": {"username": "v", "password": "p"}}`
	say(createPath, `{"type_ident": "mysql", "name": "Orders", "address": "m:3306", "edge_cluster_name": "e"`+first+`}`, item("Orders", true, 1, ""))
	say(infoPath, `{"id": 1}`, item("Orders", true, 1, first))
	say(updatePath, `{"id": 1, "name": "订单", "payload": {"mysql": {"username": "v"}}}`, item("订单", true, 3, ""))
	say(infoPath, `{"id": 1}`, item("订单", true, 3, second))
	say("/monit/datasource/list", `{"type": "mysql"}`, `[`+item("订单", true, 3, "")+`]`)
	say(updatePath, `{"id": 1, "enabled": false}`, item("订单", false, 6, ""))
	say(updatePath, `{"id": 1, "enabled": true}`, item("订单", true, 7, ""))
	say(deletePath, `{"id": 1, "dry_run": true}`, `{"dry_run": true, "allowed": true, "removes": [{"kind": "datasource", "id": "1", "name": "订单"}]}`)
	say(infoPath, `{"id": 1}`, item("订单", true, 7, second))
	say(deletePath, `{"id": 1}`, `{}`)
	say(infoPath, `{"id": 1}`, "")
	say(deletePath, `{"id": 1}`, "")
	say("/monit/datasource/list", `{}`, `[]`)
	s.Read(func(tx *db.Tx) error {
		logged, err := db.All(tx, db.Column[string], `SELECT l.operation || ' ' || t.kind || ' ' || t.object_id || ' ' || t.object_name FROM audit_log l JOIN audit_touched t ON t.audit_id = l.audit_id ORDER BY l.created_at`)
		want := "[datasource:write:create datasource 1 Orders datasource:write:update datasource 1 订单 datasource:write:update datasource 1 订单 datasource:write:update datasource 1 订单 datasource:write:delete datasource 1 订单]"
		if fmt.Sprint(logged) != want {
			t.Errorf("the audit log has %v", logged)
		}
		return err
	})
}
