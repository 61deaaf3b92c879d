package schedule_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/schedule"
)

// days45 is the window of a plan from the start of the test's clock.
const days45 = 45 * 86400

// held returns who is on call in which role in each minute of the window of a plan, by /schedule/info.
func held(t *testing.T, s *apitest.Server, id, from int64) map[[3]int64]bool {
	t.Helper()
	return heldUntil(t, s, id, from, from+days45)
}

// heldUntil is held for another window.
func heldUntil(t *testing.T, s *apitest.Server, id, from, until int64) map[[3]int64]bool {
	t.Helper()
	all := map[[3]int64]bool{}
	for _, e := range *info(t, s, id, from, until).FinalSchedule.Schedules {
		for _, m := range e.Group.Members {
			for _, p := range m.PersonIDs {
				for at := e.Start; at < e.End; at += 60 {
					all[[3]int64{p, m.RoleID, at}] = true
				}
			}
		}
	}
	return all
}

// TestPlanEqualsChange compares the plan of a dry run, which must change nothing, with the effect of the change.
func TestPlanEqualsChange(t *testing.T) {
	t.Parallel()
	s, r := start(t), newRandom(t)
	from := apitest.Now.Unix()
	minutes := func(o object) object { // so that sampling by minutes misses nothing
		for _, l := range o["layers"].([]any) {
			l := l.(object)
			for _, name := range []string{"layer_start", "enable_time", "layer_end", "expire_time", "handoff_time", "restrict_start",
				"restrict_end"} {
				switch v := l[name].(type) {
				case int64:
					l[name] = (v + 59) / 60 * 60
				case int:
					l[name] = v / 60 * 60
				}
			}
			if l["restrict_periods"] != nil {
				for _, p := range l["restrict_periods"].([]any) {
					p := p.(object)
					p["restrict_start"], p["restrict_end"] = p["restrict_start"].(int)/60*60, p["restrict_end"].(int)/60*60
				}
			}
		}
		return o
	}
	body := func() object {
		for {
			if o := r.body(); o["layers"] != nil {
				return minutes(o)
			}
		}
	}
	for n := range 6 {
		id := create(t, s, body())
		change := body()
		change["schedule_id"] = id
		before, shown := held(t, s, id, from), text(t, info(t, s, id, from, from+days45))
		change["dry_run"] = true
		var reply schedule.Updated
		s.Call(apitest.KeyA, "/schedule/update", change).Into(&reply)
		if again := text(t, info(t, s, id, from, from+days45)); again != shown {
			t.Fatalf("case %d: the dry run changed it from %s to %s", n, shown, again)
		}
		delete(change, "dry_run")
		var done schedule.Updated
		s.Call(apitest.KeyA, "/schedule/update", change).Into(&done)
		if done.Plan != nil && !reflect.DeepEqual(done.Plan, reply.Plan) || done.DryRun || !slices.Equal(done.Warnings.Warnings, reply.Warnings.Warnings) {
			t.Fatalf("case %d: %+v after %+v", n, done, reply)
		}
		after := held(t, s, id, from)
		gained, lost := map[[3]int64]bool{}, map[[3]int64]bool{}
		for _, p := range reply.Plan.Persons {
			for into, list := range map[*map[[3]int64]bool][]schedule.Shift{&gained: p.Gained, &lost: p.Lost} {
				for _, shift := range list {
					for at := shift.Start; at < shift.End; at += 60 {
						(*into)[[3]int64{p.PersonID, shift.RoleID, at}] = true
					}
				}
			}
			if sum(p.Gained) != p.GainedSeconds || sum(p.Lost) != p.LostSeconds || len(p.Gained)+len(p.Lost) == 0 {
				t.Fatalf("case %d: %+v does not add up", n, p)
			}
		}
		if want := minus(after, before); !reflect.DeepEqual(gained, want) {
			t.Fatalf("case %d: gained %d minutes, want %d, by %s", n, len(gained), len(want), text(t, change))
		}
		if want := minus(before, after); !reflect.DeepEqual(lost, want) {
			t.Fatalf("case %d: lost %d minutes, want %d, by %s", n, len(lost), len(want), text(t, change))
		}
		change["dry_run"] = true
		s.Call(apitest.KeyA, "/schedule/update", change).Into(&reply)
		if len(reply.Plan.Persons) > 0 {
			t.Fatalf("case %d: the same again would change %s", n, text(t, reply.Plan))
		}
	}
}

// TestPlanOfNewScheduleIsItsShifts: a dry run creates nothing, and its plan has what the schedule then has.
func TestPlanOfNewScheduleIsItsShifts(t *testing.T) {
	t.Parallel()
	s := start(t)
	from := s.Clock.Now().Unix()
	body := object{"schedule_name": "New", "dry_run": true, "layers": []any{layer(from-86400, []int64{A, B}), layer(from+86400, []int64{B})}}
	var planned, made schedule.Created
	s.Call(apitest.KeyA, "/schedule/create", body).Into(&planned)
	if got := column(t, s, `SELECT CAST(count(*) AS TEXT) FROM schedule`); got != "0" || planned.ScheduleID != 0 || !planned.DryRun {
		t.Fatalf("a dry run made %s schedules: %+v", got, planned)
	}
	delete(body, "dry_run")
	s.Call(apitest.KeyA, "/schedule/create", body).Into(&made)
	want, got := held(t, s, made.ScheduleID, from), map[[3]int64]bool{}
	for _, p := range planned.Plan.Persons {
		for _, shift := range p.Gained {
			for at := shift.Start; at < shift.End; at += 60 {
				got[[3]int64{p.PersonID, shift.RoleID, at}] = true
			}
		}
		if len(p.Lost) > 0 {
			t.Errorf("person %d loses %v", p.PersonID, p.Lost)
		}
	}
	if !reflect.DeepEqual(got, want) || len(want) == 0 {
		t.Errorf("%d minutes are planned, %d are there", len(got), len(want))
	}
}

func sum(shifts []schedule.Shift) (seconds int64) {
	for _, s := range shifts {
		seconds += s.End - s.Start
	}
	return seconds
}

func minus(a, b map[[3]int64]bool) map[[3]int64]bool {
	left := map[[3]int64]bool{}
	for k := range a {
		if !b[k] {
			left[k] = true
		}
	}
	return left
}

func TestPlan(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Grant(auth.SchedulesRead)
	from := s.Clock.Now().Unix()
	day := func(n int64) int64 { return from + n*86400 }
	id := create(t, s, object{"status": 1, "layers": []any{layer(day(-2), []int64{A}, object{"layer_name": "Base", "layer_end": day(10)})}})
	try := func(rest string) string { return fmt.Sprintf(`{"schedule_id":%d,"dry_run":true%s}`, id, rest) }
	empty := fmt.Sprintf(`{"dry_run":true,"plan":{"start":%d,"end":%d,"persons":[]},"revision":1}`, from, day(45))
	override := text(t, []any{
		layer(day(-2), []int64{A}, object{"layer_name": "Base", "layer_end": day(10)}),
		object{"layer_name": "Holiday", "mode": 1, "layer_start": day(1), "layer_end": day(3),
			"groups": []any{object{"group_name": "Stand-in", "members": []any{object{"role_id": 1, "person_ids": []int64{A, 77}}}}}},
	})
	s.Scenarios(t, "/schedule/update", []apitest.Scenario{
		{Name: "nothing", Body: try(``), Data: empty},
		{Name: "what is not computed with", Body: try(`,"schedule_name":"Other","description":"x","status":1,"notify":{}`), Data: empty},
		{Name: "an override, another role and a person there is not", Body: try(`,"layers":` + override), Golden: "schedule_update_plan",
			Data: fmt.Sprintf(`{"dry_run":true,"revision":1,"warnings":["layers: no such persons: 77"],"plan":{"start":%d,"end":%d,"persons":[
			{"person_id":77,"person_name":"","gained_seconds":172800,"lost_seconds":0,"gained":[{"start":%[3]d,"end":%[4]d,"role_id":1,"layer_name":"Holiday","group_name":"Stand-in"}],"lost":[]},
			{"person_id":2476123212131,"person_name":"Olga Owner","gained_seconds":172800,"lost_seconds":172800,"gained":[{"start":%[3]d,"end":%[4]d,"role_id":1,"layer_name":"Holiday","group_name":"Stand-in"}],"lost":[{"start":%[3]d,"end":%[4]d,"role_id":0,"layer_name":"Base","group_name":"A"}]}]}}`,
				from, day(45), day(1), day(3))},
		{Name: "no layers", Body: try(`,"layers":[]`), Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			var reply schedule.Updated
			r.Into(&reply)
			if p := reply.Plan.Persons; len(p) != 1 || p[0].LostSeconds != 10*86400 || p[0].GainedSeconds != 0 {
				t.Errorf("%s", r.Data)
			}
		}},
		{Name: "refused all the same", Body: try(`,"layers":[{"layer_start":1776009600,"mode":1}]`), Code: "InvalidParameter",
			Says: []string{"layers[0].layer_end"}},
		{Name: "reader is denied", Key: apitest.KeyReader, Body: try(``), Code: "AccessDenied"},
		{Name: "another account", Key: apitest.KeyB, Body: try(``), Code: "ResourceNotFound"},
		{Name: "null is absent", Body: fmt.Sprintf(`{"schedule_id":%d,"dry_run":null}`, id), Data: `{"revision":2}`},
		{Name: "a text", Body: fmt.Sprintf(`{"schedule_id":%d,"dry_run":"yes"}`, id), Code: "InvalidParameter", Says: []string{"dry_run"}},
		{Name: "too much to compare", Body: try(`,"layers":` + crowd(t)), Code: "InvalidParameter", Says: []string{"dry_run", "1000000"}},
	})
	if n := column(t, s, `SELECT CAST(count(*) AS TEXT) FROM audit_log WHERE operation = 'schedule:write:update' AND outcome = ''`); n != "1" {
		t.Errorf("%s updates are audited, want only the one without dry_run", n)
	}
}

// crowd returns a layer of two groups of a thousand persons with hourly shifts.
func crowd(t *testing.T) string {
	l := layer(apitest.Now.Unix(), []int64{A, B}, object{"rotation_unit": "hour"})
	for i, g := range l["groups"].([]any) {
		g.(object)["members"] = []any{object{"person_ids": slices.Repeat(many(1000), 1+i)}}
	}
	return strings.TrimSpace(text(t, []any{l}))
}
