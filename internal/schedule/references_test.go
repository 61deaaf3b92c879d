package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

// references returns all references in the database, one in a line.
func references(t *testing.T, s *apitest.Server) string {
	t.Helper()
	return column(t, s, `SELECT to_kind || ' ' || to_id || ' by ' || from_kind || ' ' || from_id || ' ' || from_name
		FROM reference ORDER BY account_id, to_kind, to_id, from_kind, from_id`)
}

func TestSchedulesReferToTheirTeamAndPeople(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := create(t, s, object{"schedule_name": "S", "team_id": apitest.TeamA,
		"layers": []any{layer(1776009600, []int64{A, B}), layer(1776009600, []int64{B, 77})}})
	is := func(want string) {
		t.Helper()
		if got := references(t, s); got != strings.ReplaceAll(want, "S!", fmt.Sprintf("by schedule %d", id)) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	is("person 2476123212131 S! S\nperson 2659460982131 S! S\nperson 77 S! S\nteam 4291079133131 S! S")
	s.Call(apitest.KeyA, "/schedule/update", object{"schedule_id": id, "schedule_name": "Renamed"}).Into(&struct{}{})
	is("person 2476123212131 S! Renamed\nperson 2659460982131 S! Renamed\nperson 77 S! Renamed\nteam 4291079133131 S! Renamed")
	s.Call(apitest.KeyA, "/schedule/update", object{"schedule_id": id, "team_id": 0, "layers": []any{layer(1776009600, []int64{B})}}).Into(
		&struct{}{})
	is("person 2659460982131 S! Renamed")
	s.Call(apitest.KeyA, "/schedule/update", object{"schedule_id": id, "layers": []any{}, "dry_run": true}).Into(&struct{}{})
	is("person 2659460982131 S! Renamed")
	s.Call(apitest.KeyA, "/schedule/delete", object{"schedule_ids": []int64{id}}).Into(&struct{}{})
	is("")
}

// TestMigrationAddsReferences runs the migration that adds the references of schedules of older versions.
func TestDeleteOfReferencedObjects(t *testing.T) {
	t.Parallel()
	s := start(t)
	first, second := create(t, s, object{"schedule_name": "One"}), create(t, s, object{"schedule_name": "Two"})
	s.Write(func(tx *db.Tx) error {
		return configstore.SetReferences(tx, apitest.AccountA, configstore.RefFrom(configstore.Escalate, "663a1b2c3d4e5f6789abcdef", "Page"),
			configstore.RefTo(configstore.Schedule, second))
	})
	const refs = `[{"kind":"escalate_rule","id":"663a1b2c3d4e5f6789abcdef","name":"Page"}]`
	both := fmt.Sprintf(`"schedule_ids":[%d,%d]`, first, second)
	s.Scenarios(t, "/schedule/delete", []apitest.Scenario{
		{Name: "one of two", Body: `{` + both + `}`, Code: "ReferenceExist", Says: []string{fmt.Sprint(second), "Page"},
			Data: `{"refs":` + refs + `}`},
		{Name: "one of two, tried out", Body: `{` + both + `,"dry_run":true}`, Data: fmt.Sprintf(`{"dry_run":true,"allowed":false,"refs":%s,
			"error":{"code":"ReferenceExist","message":"The resource is still referenced: schedule %d is used by escalate_rule 663a1b2c3d4e5f6789abcdef (Page)."}}`, refs, second)},
		{Name: "the other, tried out", Body: fmt.Sprintf(`{"schedule_ids":[%d],"dry_run":true}`, first),
			Data: fmt.Sprintf(`{"dry_run":true,"allowed":true,"removes":[{"kind":"schedule","id":"%d","name":"One"}]}`, first)},
		{Name: "unknown, tried out", Body: `{"schedule_ids":[42],"dry_run":true}`, Code: "ResourceNotFound"},
		{Name: "the other", Body: fmt.Sprintf(`{"schedule_ids":[%d]}`, first), Data: `{}`},
	})
	if n := column(t, s, `SELECT schedule_name FROM schedule`); n != "Two" {
		t.Errorf("left are %s", n)
	}
}

// TestScheduleLifecycle creates, changes, lists and deletes a schedule as its manager.
func TestScheduleLifecycle(t *testing.T) {
	t.Parallel()
	s := start(t)
	is := func(r apitest.Reply, want string) {
		t.Helper()
		got := string(r.Data)
		if r.Code != "" {
			got = fmt.Sprintf("%q", r.Code)
		}
		if !apitest.SameJSON([]byte(got), []byte(want)) {
			t.Fatalf("%s\nwant %s", got, want)
		}
	}
	body := object{"schedule_name": "Primary", "team_id": apitest.TeamA, "layers": []any{layer(1776009600, []int64{A, B})}}
	id := create(t, s, body)
	at := func(rest string) string { return fmt.Sprintf(`{"schedule_id":%d%s}`, id, rest) }
	first := read(t, s, id)
	body["schedule_id"] = id
	is(s.Call(apitest.KeyA, "/schedule/update", body), `{"revision":2}`)
	first["revision"] = 2
	if again := read(t, s, id); text(t, again) != text(t, first) {
		t.Fatalf("saving what was sent changed %s\nto %s", text(t, first), text(t, again))
	}
	is(s.Call(apitest.KeyA, "/schedule/update", at(`,"schedule_name":"值班"`)), `{"revision":3}`)
	if got := read(t, s, id); got["schedule_name"] != "值班" || got["name"] != "值班" || text(t, got["layers"]) != text(t, first["layers"]) {
		t.Fatalf("renamed: %s", text(t, got))
	}
	list := func(query string, want int) {
		t.Helper()
		var page schedule.Page
		s.Call(apitest.KeyA, "/schedule/list", object{"query": query}).Into(&page)
		if page.Total != int64(want) || len(page.Items) != want {
			t.Fatalf("%q finds %d", query, page.Total)
		}
	}
	list("值", 1)
	list("Primary", 0)
	for status, body := range []string{at(`,"status":0`), at(`,"status":1`)} {
		var reply schedule.Updated
		s.Call(apitest.KeyA, "/schedule/update", body).Into(&reply)
		if changes := len(reply.Warnings.Warnings) > 0; reply.Revision != int64(status+4) || changes != (status == 1) {
			t.Fatalf("status %d: %s", status, text(t, reply))
		}
		if got := read(t, s, id); got["status"] != float64(status) || got["disabled"] != float64(status) {
			t.Fatalf("status %d: %s", status, text(t, got))
		}
	}
	ids := fmt.Sprintf(`"schedule_ids":[%d]`, id)
	is(s.Call(apitest.KeyA, "/schedule/delete", `{`+ids+`,"dry_run":true}`),
		fmt.Sprintf(`{"dry_run":true,"allowed":true,"removes":[{"kind":"schedule","id":"%d","name":"值班"}]}`, id))
	list("值", 1)
	is(s.Call(apitest.KeyA, "/schedule/delete", `{`+ids+`}`), `{}`)
	is(s.Call(apitest.KeyA, "/schedule/info", at("")), `"ResourceNotFound"`)
	is(s.Call(apitest.KeyA, "/schedule/delete", `{`+ids+`}`), `"ResourceNotFound"`)
	list("", 0)
	entries := rows(t, s, `SELECT replace(l.operation, 'schedule:write:', '') || ' ' || t.object_name
		FROM audit_log l JOIN audit_touched t ON t.audit_id = l.audit_id WHERE t.kind = 'schedule' AND t.object_id = $1
		ORDER BY 1`, fmt.Sprint(id)) // all are of the same moment
	if want := []string{"create Primary", "delete 值班", "update Primary", "update 值班", "update 值班", "update 值班"}; !slices.Equal(entries, want) {
		t.Errorf("the audit log has %s", entries)
	}
}
