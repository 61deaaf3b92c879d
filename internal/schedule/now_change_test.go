package schedule_test

import (
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/core/sentence"
	"tocsin/internal/schedule"
)

// TestUpdateNamesChangeOfOncallNow changes a weekly rotation in the middle of a turn. The same warning and the same plan come
// with the change and with its dry run. A change from the next turn on has neither.
func TestUpdateNamesChangeOfOncallNow(t *testing.T) {
	t.Parallel()
	s := start(t)
	const began = 1774224000 // three weeks and four hours before the test's clock, so that it is the fourth turn
	weekly := func(people []int64, changes object) object {
		l := layer(began, people, object{"rotation_unit": "week"})
		for name, value := range changes {
			l[name] = value
		}
		return l
	}
	id := create(t, s, object{"layers": []any{weekly([]int64{A, B, Z}, nil)}})
	update := func(body object) (reply schedule.Updated) {
		t.Helper()
		body["schedule_id"] = id
		s.Call(apitest.KeyA, "/schedule/update", body).Into(&reply)
		return reply
	}
	named := func(list []sentence.Words) string {
		for _, w := range list {
			if strings.HasPrefix(w.English(), "layers: who is on call now changes") {
				return w.English()
			}
		}
		return ""
	}
	now := s.Clock.Now().Unix()
	next := int64(began + 4*7*86400)
	later := []any{weekly([]int64{A, B, Z}, object{"layer_end": next}), layer(next, []int64{B, Z}, object{"rotation_unit": "week"})}
	for name, body := range map[string]object{"a new name": {"schedule_name": "T"}, "a layer from the next turn on": {"layers": later}} {
		body["dry_run"] = true
		if reply := update(body); named(reply.Warnings.Warnings) != "" {
			t.Errorf("%s: %q", name, reply.Warnings.Warnings)
		}
		delete(body, "dry_run")
		if reply := update(body); named(reply.Warnings.Warnings) != "" || reply.Plan != nil {
			t.Errorf("%s: %q and plan %v", name, reply.Warnings.Warnings, reply.Plan)
		}
	}
	if name := onCall(t, s, id, now); name != onCall(t, s, id, next-1) {
		t.Fatalf("on call now is %s", name)
	}

	change := object{"layers": []any{weekly([]int64{Z, B}, nil)}}
	change["dry_run"] = true
	rehearsed := update(change)
	delete(change, "dry_run")
	done := update(change)
	warning := named(done.Warnings.Warnings)
	if !contains(warning, "changes from Olga Owner to Rita Reader,", "layer_end", "layer_start") || warning != named(rehearsed.Warnings.Warnings) {
		t.Errorf("warnings %q and %q", rehearsed.Warnings.Warnings, done.Warnings.Warnings)
	}
	if text(t, done.Plan) != text(t, rehearsed.Plan) || done.Plan == nil || len(done.Plan.Persons) == 0 {
		t.Errorf("plans %s and %s", text(t, rehearsed.Plan), text(t, done.Plan))
	}
	if reply := update(object{"layers": []any{}}); !contains(named(reply.Warnings.Warnings), "from Rita Reader to no one") {
		t.Errorf("without layers: %q", reply.Warnings.Warnings)
	}
	if reply := update(object{"layers": []any{weekly([]int64{A}, nil)}}); named(reply.Warnings.Warnings) != "" {
		t.Errorf("the first layers: %q", reply.Warnings.Warnings)
	}
}

// TestLayersAreAcceptedAsShown sends the layers of a reply to create, update and preview, beside a member that is not known.
// Each reply has one list of warnings.
func TestLayersAreAcceptedAsShown(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := create(t, s, object{"layers": []any{layer(1776009600, []int64{A, B})}})
	layers := read(t, s, id)["layers"]
	for _, dryRun := range []bool{true, false} {
		for path, body := range map[string]object{
			"/schedule/create": {"schedule_name": "again", "layers": layers, "team_id": 42, "zzz": 1, "dry_run": dryRun},
			"/schedule/update": {"schedule_id": id, "layers": layers, "team_id": 42, "zzz": 1, "dry_run": dryRun},
		} {
			var reply struct{ Warnings []string }
			s.Call(apitest.KeyA, path, body).Into(&reply)
			if got := strings.Join(reply.Warnings, "; "); got != "team_id: team 42 does not exist; zzz: is not known here and is ignored" {
				t.Errorf("%s with dry_run %t: %s", path, dryRun, got)
			}
		}
	}
	var view schedule.Schedule
	s.Call(apitest.KeyA, "/schedule/preview", object{"layers": layers, "start": 1776009600, "end": 1776096000}).Into(&view)
	if got := (*view.Layers)[0].Stamps; got != (schedule.Stamps{}) {
		t.Errorf("a preview has the stamps %+v", got)
	}
}
