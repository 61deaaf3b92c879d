package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/schedule"
)

// onCall returns who is on call in a schedule at a moment: role and persons of each member.
func onCall(t testing.TB, s *apitest.Server, id, at int64) string {
	t.Helper()
	list := ""
	for _, e := range *info(t, s, id, at, at+1).FinalSchedule.Schedules {
		for _, m := range e.Group.Members {
			list += fmt.Sprintf("%d%d ", m.RoleID, m.PersonIDs)
		}
	}
	return list
}

// TestOverrideReplacesPersonAndBackupStays checks a primary and a backup through an override of either.
func TestOverrideReplacesPersonAndBackupStays(t *testing.T) {
	t.Parallel()
	s := start(t)
	now := s.Clock.Now().Unix()
	id := create(t, s, object{"layers": []any{layer(1776009600, nil, object{"groups": []any{object{"members": []any{
		object{"role_id": 0, "person_ids": []int64{A}}, object{"role_id": 1, "person_ids": []int64{B}}}}}})}})
	is := func(at int64, want string) {
		t.Helper()
		if got := onCall(t, s, id, at); got != want {
			t.Errorf("at %d on call: %s, want %s", at, got, want)
		}
	}
	one := override(t, s, object{"schedule_id": id, "person_id": A, "by": Z, "start": now + 10, "end": now + 20})
	is(now+9, fmt.Sprintf("0[%d] 1[%d] ", A, B))
	is(now+10, fmt.Sprintf("0[%d] 1[%d] ", Z, B))
	is(now+20, fmt.Sprintf("0[%d] 1[%d] ", A, B))
	s.Call(apitest.KeyA, "/schedule/override/update", object{"override_id": one, "person_id": 0, "role_id": 1}).Into(&struct{}{})
	is(now+10, fmt.Sprintf("0[%d] 1[%d] ", A, Z))
	s.Call(apitest.KeyA, "/schedule/override/delete", object{"override_ids": []int64{one}}).Into(&struct{}{})
	is(now+10, fmt.Sprintf("0[%d] 1[%d] ", A, B))
}

// TestPlanOfOverrideEqualsChange compares the plan of dry runs with /schedule/info before and after the change.
// TOCSIN_SCHEDULE_CASES sets how many dry runs the test makes.
func TestPlanOfOverrideEqualsChange(t *testing.T) {
	t.Parallel()
	s := start(t)
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	now := s.Clock.Now().Unix()/60*60 + 60
	var made []int64
	total := 0 // that were made; some are deleted again
	id := create(t, s, object{"layers": []any{layer(1776009600, []int64{A, B, 11}), layer(1776013200, []int64{B, 12}, object{"rotation_unit": "hour", "rotation_value": 7})}})
	pick := func() int64 { return []int64{A, B, Z, 11, 12}[r.IntN(5)] }
	minutes := func(days int64) int64 { return r.Int64N(days*1440) * 60 }
	for n := range apitest.Setting(t, "TOCSIN_SCHEDULE_CASES", 12) {
		path, body := "/schedule/override/create", object{"schedule_id": id, "by": []int64{A, B, Z}[r.IntN(3)], "start": now + minutes(5)}
		if r.IntN(2) == 0 {
			body["person_id"] = pick()
		} else {
			body["role_id"] = 0
		}
		if len(made) > 0 && r.IntN(3) == 0 {
			path, body = "/schedule/override/delete", object{"override_ids": made[:1]}
		} else {
			body["end"] = body["start"].(int64) + 60 + minutes(3)
		}
		body["dry_run"] = true
		dry := s.Call(apitest.KeyA, path, body)
		if dry.Code != "" { // covered by the same person
			continue
		}
		var plan struct {
			Plan      *schedule.Plan
			Schedules []struct{ Plan *schedule.Plan }
		}
		dry.Into(&plan)
		if plan.Plan == nil {
			plan.Plan = plan.Schedules[0].Plan
		}
		before := heldUntil(t, s, id, now, now+9*86400)
		delete(body, "dry_run")
		var reply struct {
			OverrideID int64 `json:"override_id"`
		}
		s.Call(apitest.KeyA, path, body).Into(&reply)
		if reply.OverrideID != 0 {
			made = append(made, reply.OverrideID)
			total++
		} else {
			made = made[1:]
		}
		after := heldUntil(t, s, id, now, now+9*86400)
		want := map[[3]int64]int{}
		for _, p := range plan.Plan.Persons {
			for _, list := range []struct {
				shifts []schedule.Shift
				sign   int
			}{{p.Gained, 1}, {p.Lost, -1}} {
				for _, shift := range list.shifts {
					for at := shift.Start; at < shift.End; at += 60 {
						want[[3]int64{p.PersonID, shift.RoleID, at}] = list.sign
					}
				}
			}
		}
		for k := range before {
			if !after[k] {
				want[k]++
			}
		}
		for k := range after {
			if !before[k] {
				want[k]--
			}
		}
		for k, v := range want {
			if v != 0 {
				t.Fatalf("seed %d, %d: %s %s: the plan of %v is wrong by %d", seed, n, path, text(t, body), k, v)
			}
		}
	}
	if total == 0 {
		t.Error("no override was made")
	}
}

// TestWhoTakesOverSeesSchedule checks /schedule/self of a person who is in no layer.
func TestWhoTakesOverSeesSchedule(t *testing.T) {
	t.Parallel()
	s := start(t)
	now := s.Clock.Now().Unix()
	id := create(t, s, object{"layers": []any{layer(1776009600, []int64{B})}})
	items := func(body string) int {
		var reply struct{ Items []schedule.Schedule }
		s.Call(apitest.KeyA, "/schedule/self", body).Into(&reply)
		return len(reply.Items)
	}
	if n := items(`{}`); n != 0 {
		t.Fatalf("%d schedules before", n)
	}
	override(t, s, object{"schedule_id": id, "role_id": 0, "by": A, "start": now + 60, "end": now + 120})
	window := func(from, to int64) string { return fmt.Sprintf(`{"start":%d,"end":%d}`, now+from, now+to) }
	if items(`{}`) != 1 || items(window(60, 61)) != 1 || items(window(119, 130)) != 1 || items(window(0, 60)) != 0 || items(window(120, 180)) != 0 {
		t.Error("the schedule is not shown to who takes over, or at another time")
	}
}
