package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

// revision returns a schedule's revision as /schedule/info shows it.
func revision(t testing.TB, s *apitest.Server, id int64) int64 {
	t.Helper()
	return info(t, s, id, 1776009600, 1776096000).Revision
}

// TestEveryChangeHasRevision changes a schedule and its overrides, and expects one more each time, in the reply and after.
func TestEveryChangeHasRevision(t *testing.T) {
	t.Parallel()
	s := start(t)
	now := s.Clock.Now().Unix()
	id := create(t, s, object{"layers": []any{layer(1776009600, []int64{A, B})}})
	if n := revision(t, s, id); n != 1 {
		t.Fatalf("a new schedule has revision %d", n)
	}
	var reply struct {
		Revision   int64
		OverrideID int64 `json:"override_id"`
		Schedules  []struct{ Revision int64 }
	}
	is := func(path string, body object, want int64) {
		t.Helper()
		s.Call(apitest.KeyA, path, body).Into(&reply)
		got := reply.Revision
		if len(reply.Schedules) > 0 {
			got = reply.Schedules[0].Revision
		}
		if after := revision(t, s, id); got != want || after != want {
			t.Errorf("%s answers revision %d, and then it is %d, want %d", path, got, after, want)
		}
	}
	is("/schedule/update", object{"schedule_id": id, "description": "x"}, 2)
	is("/schedule/update", object{"schedule_id": id, "description": "y", "dry_run": true}, 2)
	cover := object{"schedule_id": id, "person_id": A, "by": Z, "start": now, "end": now + 86400}
	is("/schedule/override/create", cover, 3)
	override := reply.OverrideID
	cover["dry_run"] = true
	is("/schedule/override/create", cover, 3)
	is("/schedule/override/update", object{"override_id": override, "end": now + 3600}, 4)
	is("/schedule/override/delete", object{"override_ids": []int64{override}, "dry_run": true}, 4)
	is("/schedule/override/delete", object{"override_ids": []int64{override}}, 5)
	for path, body := range map[string]string{"/schedule/infos": fmt.Sprintf(`{"schedule_ids":[%d]}`, id), "/schedule/list": `{}`, "/schedule/self": `{}`} {
		if data := string(s.Call(apitest.KeyA, path, body).Data); !strings.Contains(data, `"revision":5`) {
			t.Errorf("%s shows %s", path, data)
		}
	}
}

func TestChangeOfOlderRevisionIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	now := s.Clock.Now().Unix()
	id := create(t, s, object{"layers": []any{layer(1776009600, []int64{A, B})}})
	var made struct {
		OverrideID int64 `json:"override_id"`
	}
	s.Call(apitest.KeyA, "/schedule/override/create", object{"schedule_id": id, "person_id": A, "by": Z, "start": now, "end": now + 86400,
		"if_revision": 1}).Into(&made)
	for path, body := range map[string]object{
		"/schedule/update":          {"schedule_id": id, "description": "older"},
		"/schedule/override/create": {"schedule_id": id, "person_id": B, "by": Z, "start": now, "end": now + 86400},
		"/schedule/override/update": {"override_id": made.OverrideID, "end": now + 3600},
		"/schedule/override/delete": {"override_ids": []int64{made.OverrideID}},
	} {
		for _, dry := range []bool{false, true} {
			body["if_revision"], body["dry_run"] = 1, dry
			r := s.Call(apitest.KeyA, path, body)
			if r.Status != 409 || r.Code != "RequestVerifyFailed" || !contains(string(r.Body), `"data":{"revision":2}`, "has revision 2", "if_revision is 1") {
				t.Errorf("%s answers %d %s", path, r.Status, r.Body)
			}
		}
	}
	if n := revision(t, s, id); n != 2 {
		t.Errorf("the refusals made revision %d", n)
	}
}

// TestChangesAtOnceDoNotUndoEachOther sends updates of different fields and overrides at once, and expects all of them.
func TestChangesAtOnceDoNotUndoEachOther(t *testing.T) {
	t.Parallel()
	s := start(t)
	now := s.Clock.Now().Unix()
	for round := range 5 {
		id := create(t, s, object{"layers": []any{layer(1776009600, []int64{A, B})}})
		at := object{"schedule_id": id}
		bodies := []struct {
			path string
			body object
		}{
			{"/schedule/update", object{"schedule_name": "Renamed"}}, {"/schedule/update", object{"description": "Described"}},
			{"/schedule/update", object{"time_zone": "Asia/Shanghai"}}, {"/schedule/update", object{"team_id": apitest.TeamA}},
			{"/schedule/update", object{"layers": []any{layer(1776009600, []int64{B, Z})}}},
			{"/schedule/override/create", object{"person_id": A, "by": Z, "start": now, "end": now + 60}},
			{"/schedule/override/create", object{"person_id": B, "by": Z, "start": now, "end": now + 60}},
		}
		var all sync.WaitGroup
		for _, b := range bodies {
			b.body["schedule_id"] = id
			all.Go(func() { s.Call(apitest.KeyA, b.path, b.body).Into(&struct{}{}) })
		}
		all.Wait()
		got := info(t, s, id, now, now+60)
		if *got.Name != "Renamed" || *got.Description != "Described" || got.TimeZone != "Asia/Shanghai" || *got.TeamID != apitest.TeamA ||
			(*got.Layers)[0].Groups[1].Members[0].PersonIDs[0] != Z || len(*got.Overrides) != 2 || got.Revision != 8 {
			t.Fatalf("round %d: a change of %v is lost: %s", round, at, text(t, got))
		}
	}
}

func TestOfChangesOfSameRevisionExactlyOneWins(t *testing.T) {
	t.Parallel()
	s := start(t)
	for round := range 5 {
		id := create(t, s, object{})
		var all sync.WaitGroup
		codes := make([]string, 8)
		for i := range codes {
			all.Go(func() {
				codes[i] = s.Call(apitest.KeyA, "/schedule/update", object{"schedule_id": id, "description": fmt.Sprint(i), "if_revision": 1}).Code
			})
		}
		all.Wait()
		winner := slices.Index(codes, "")
		won, lost := 0, 0
		for _, code := range codes {
			switch code {
			case "", "OK":
				won++
			case "RequestVerifyFailed":
				lost++
			}
		}
		if won != 1 || lost != len(codes)-1 || *info(t, s, id, 1776009600, 1776096000).Description != fmt.Sprint(winner) {
			t.Fatalf("round %d: %q", round, codes)
		}
	}
}

// TestLoadedScheduleHasLaterRevision erases and loads a schedule as an account file does, and expects a revision that it
// never had.
func TestLoadedScheduleHasLaterRevision(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := create(t, s, object{})
	for i := range 5 {
		s.Call(apitest.KeyA, "/schedule/update", object{"schedule_id": id, "description": fmt.Sprint(i)}).Into(&struct{}{})
	}
	before := revision(t, s, id)
	s.Write(func(tx *db.Tx) error {
		records, err := schedule.Dump(tx, box(t), apitest.AccountA, true)
		if err == nil {
			err = schedule.Erase(tx, apitest.AccountA, id)
		}
		if err == nil {
			err = schedule.Load(tx, box(t), apitest.AccountA, records)
		}
		return err
	})
	if after := revision(t, s, id); after <= before {
		t.Errorf("revision %d after %d", after, before)
	}
}
