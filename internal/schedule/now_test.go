package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/calendar"
	"tocsin/internal/person"
	"tocsin/internal/schedule"
)

// startMoving starts a server with the operations on calendars and persons, which warns if they change who is on call now.
func startMoving(t testing.TB) *apitest.Server {
	t.Helper()
	r := &schedule.Service{Keyring: box(t)}
	return apitest.StartConfig(t, func(c *api.Config) { c.Oncall = schedule.Oncall }, r.Ops(), calendar.Ops(),
		person.Module(nil, r.ReleasePerson).Ops)
}

// moved writes, and returns the warnings of the reply.
func moved(t testing.TB, s *apitest.Server, path string, body object) string {
	t.Helper()
	var reply struct{ Warnings []string }
	s.Call(apitest.KeyA, path, body).Into(&reply)
	slices.Sort(reply.Warnings)
	return strings.Join(reply.Warnings, "; ")
}

// TestWritesNameChangeOfOncallNow changes what schedules depend on. Each write, and its dry run, names the schedules in which
// other persons are on call now, and no other schedule.
func TestWritesNameChangeOfOncallNow(t *testing.T) {
	t.Parallel()
	s := startMoving(t)
	const began = 1774224000
	const today, tomorrow, after = "2026-04-13", "2026-04-14", "2026-04-20" // by the test's clock
	add := func(name string, layers ...any) int64 {
		return create(t, s, object{"schedule_name": name, "layers": layers})
	}
	names := func(id int64, name, from, to string) string {
		return fmt.Sprintf("who is on call now in schedule %d (%s) changes from %s to %s", id, name, from, to)
	}
	check := func(name, got string, want ...string) {
		t.Helper()
		slices.Sort(want)
		if got != strings.Join(want, "; ") {
			t.Errorf("%s: %s\nwant %s", name, got, strings.Join(want, "; "))
		}
	}

	cal := holidays(t, s)
	var whole struct {
		CalID string `json:"cal_id"`
	}
	s.Call(apitest.KeyA, "/calendar/create", object{"cal_name": "Both", "extra_cal_ids": []string{cal}, "workdays": []int{0, 1, 2, 3, 4, 5, 6}}).Into(&whole)
	own := add("Own", layer(began, []int64{A}, object{"skip_cal_ids": []string{cal}}))
	extra := add("Extra", layer(began, []int64{A}, object{"skip_cal_ids": []string{whole.CalID}}))
	free := add("Free", layer(began, []int64{A}))
	off := object{"cal_id": cal, "summary": "Off", "start_at": tomorrow, "end_at": after, "is_off": true}
	check("days off to come", moved(t, s, "/calendar/event/upsert", off))
	off["start_at"] = today
	var event struct {
		EventID  string   `json:"event_id"`
		Warnings []string `json:"warnings"`
	}
	s.Call(apitest.KeyA, "/calendar/event/upsert", off).Into(&event)
	check("a day off", strings.Join(event.Warnings, "; "), names(own, "Own", "Olga Owner", "no one"), names(extra, "Extra", "Olga Owner", "no one"))
	back := []string{names(own, "Own", "no one", "Olga Owner"), names(extra, "Extra", "no one", "Olga Owner")}
	remove := object{"cal_id": cal, "event_id": event.EventID, "dry_run": true}
	check("dry run of a day off that is deleted", moved(t, s, "/calendar/event/delete", remove), back...)
	delete(remove, "dry_run")
	check("a day off that is deleted", moved(t, s, "/calendar/event/delete", remove), back...)
	check("no working days", moved(t, s, "/calendar/update", object{"cal_id": cal, "workdays": []int{}}), names(own, "Own", "Olga Owner", "no one"))

	noon := object{"restrict_mode": 1, "restrict_start": 12 * 3600, "restrict_end": 13 * 3600}
	local := add("Local", layer(began, []int64{A}, noon))
	zoned := layer(began, []int64{A}, noon)
	zoned["time_zone"] = "Asia/Shanghai"
	add("Zoned", zoned)
	check("a new name", moved(t, s, "/account/update", object{"account_name": "Acme"}))
	check("another zone", moved(t, s, "/account/update", object{"time_zone": "UTC"}), names(local, "Local", "Olga Owner", "no one"))

	pair := layer(began, []int64{B})
	pair["groups"] = []any{object{"group_name": "A", "members": []any{object{"role_id": 0, "person_ids": []int64{B, A}}}}}
	shared := add("Shared", pair)
	gone := object{"member_id": B, "is_force": true, "dry_run": true}
	check("dry run of a person who leaves", moved(t, s, "/member/delete", gone), names(shared, "Shared", "Olga Owner and Rita Reader", "Olga Owner"))
	delete(gone, "dry_run")
	check("a person who leaves", moved(t, s, "/member/delete", gone), names(shared, "Shared", "Olga Owner and Rita Reader, who has left,", "Olga Owner"))

	var disabled schedule.Updated
	s.Call(apitest.KeyA, "/schedule/update", object{"schedule_id": free, "status": 1}).Into(&disabled)
	check("a schedule that is disabled", disabled.Warnings.Warnings[0].English(), "status: who is on call now changes from Olga Owner to no one")
	if p := disabled.Plan; p == nil || len(p.Persons) != 1 || p.Persons[0].LostSeconds != days45 || p.Persons[0].GainedSeconds != 0 {
		t.Errorf("the plan of a disabled schedule: %s", text(t, p))
	}
	check("schedules that are deleted", moved(t, s, "/schedule/delete", object{"schedule_ids": []int64{free, shared}}), names(shared, "Shared", "Olga Owner", "no one"))
}
