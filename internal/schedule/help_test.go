package schedule_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
	"tocsin/internal/schedule"
)

// Persons of account A in the layers below.
const (
	A int64 = apitest.OwnerA
	B int64 = apitest.Reader
	Z int64 = apitest.Stranger
)

func box(t testing.TB) *secret.Keyring {
	t.Helper()
	b, err := secret.FromText("k1 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func start(t testing.TB) *apitest.Server {
	t.Helper()
	r := &schedule.Service{Keyring: box(t)}
	return apitest.Start(t, r.Ops())
}

// object is a JSON object.
type object = map[string]any

// layer returns a rotation of one day with one person in each group, with changes.
func layer(start int64, people []int64, changes ...object) object {
	l := object{"layer_name": "L", "layer_start": start, "rotation_unit": "day", "rotation_value": 1}
	groups := []any{}
	for i, p := range people {
		groups = append(groups, object{"group_name": string(rune('A' + i)), "members": []any{object{"role_id": 0, "person_ids": []int64{p}}}})
	}
	l["groups"] = groups
	for _, c := range changes {
		for k, v := range c {
			l[k] = v
		}
	}
	return l
}

// create creates a schedule and returns its id.
func create(t testing.TB, s *apitest.Server, body object) int64 {
	t.Helper()
	if body["schedule_name"] == nil && body["name"] == nil {
		body["schedule_name"] = "S"
	}
	var reply struct {
		ScheduleID int64 `json:"schedule_id"`
	}
	s.Call(apitest.KeyA, "/schedule/create", body).Into(&reply)
	return reply.ScheduleID
}

// info reads a schedule in a window as the owner.
func info(t testing.TB, s *apitest.Server, id, from, to int64) schedule.Schedule {
	t.Helper()
	var reply schedule.Schedule
	s.Call(apitest.KeyA, "/schedule/info", object{"schedule_id": id, "start": from, "end": to}).Into(&reply)
	return reply
}

func text(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// line formats a timeline as "A 1778468400-1778554800 0; ...".
func line(c schedule.ComputedLayer) string {
	out := ""
	for i, e := range *c.Schedules {
		if i > 0 {
			out += "; "
		}
		out += fmt.Sprintf("%s %d-%d %d", e.Group.GroupName, e.Start, e.End, e.Index)
	}
	return out
}

// contains reports whether every part is in s.
func contains(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

// column reads one text from the database.
func column(t testing.TB, s *apitest.Server, query string, args ...any) (value string) {
	t.Helper()
	return strings.Join(rows(t, s, query, args...), "\n")
}

// rows returns the texts that a query selects.
func rows(t testing.TB, s *apitest.Server, query string, args ...any) (values []string) {
	t.Helper()
	err := s.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
		values, err = db.All(tx, db.Column[string], query, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return values
}
