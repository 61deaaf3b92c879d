package schedule_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
)

func TestDelete(t *testing.T) {
	t.Parallel()
	s := start(t)
	first := create(t, s, object{})
	second := create(t, s, object{})
	third := create(t, s, object{})
	s.Grant(auth.SchedulesRead)
	left := func(want string) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, s *apitest.Server, _ apitest.Reply) {
			if n := column(t, s, `SELECT CAST(count(*) AS TEXT) FROM schedule`); n != want {
				t.Errorf("%s schedules are left, want %s", n, want)
			}
		}
	}
	ids := func(list ...int64) string { return text(t, object{"schedule_ids": list}) }
	s.Scenarios(t, "/schedule/delete", []apitest.Scenario{
		{Name: "reader is denied", Key: apitest.KeyReader, Body: ids(first), Code: "AccessDenied", Then: left("3")},
		{Name: "other account", Key: apitest.KeyB, Body: ids(first), Code: "ResourceNotFound", Then: left("3")},
		{Name: "one unknown, none deleted", Body: ids(first, 42, second), Code: "ResourceNotFound", Says: []string{"42"}, Then: left("3")},
		{Name: "empty", Body: `{"schedule_ids":[]}`, Code: "InvalidParameter", Says: []string{"schedule_ids", "1"}},
		{Name: "absent", Body: `{}`, Code: "InvalidParameter", Says: []string{"schedule_ids", "required"}},
		{Name: "1001", Body: ids(many(1001)...), Code: "InvalidParameter", Says: []string{"schedule_ids", "1000"}},
		{Name: "malformed", Body: `{"schedule_ids":1}`, Code: "InvalidParameter", Says: []string{"schedule_ids", "array"}},
		{Name: "golden: several, one named twice", Body: ids(first, second, first), Golden: "schedule_delete", Then: left("1")},
		{Name: "again", Body: ids(first), Code: "ResourceNotFound", Then: left("1")},
	})
	s.Scenarios(t, "/schedule/info", []apitest.Scenario{
		{Name: "deleted", Body: fmt.Sprintf(`{"schedule_id":%d}`, first), Code: "ResourceNotFound"},
		{Name: "left", Body: fmt.Sprintf(`{"schedule_id":%d}`, third)},
	})
}

func TestWritesAreAudited(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := create(t, s, object{"notify": object{"webhooks": []any{object{"type": "slack", "settings": object{"token": "hush-hush"}}}}})
	for _, call := range []struct {
		path string
		body object
	}{
		{"/schedule/update", object{"schedule_id": id, "name": "x"}},
		{"/schedule/delete", object{"schedule_ids": []int64{id}}},
		{"/schedule/delete", object{"schedule_ids": []int64{id}}},
	} {
		s.Clock.Add(time.Second)
		s.Call(apitest.KeyA, call.path, call.body)
	}
	got := rows(t, s, `SELECT operation || ':' || outcome || CASE WHEN is_dangerous THEN '!' ELSE '' END FROM audit_log ORDER BY created_at`)
	if want := []string{"schedule:write:create:", "schedule:write:update:", "schedule:write:delete:!", "schedule:write:delete:ResourceNotFound!"}; !slices.Equal(got, want) {
		t.Errorf("recorded %s", got)
	}
	if body := column(t, s, `SELECT body FROM audit_log`); contains(body, "hush-hush") {
		t.Errorf("the audit log holds a secret: %s", body)
	}
}
