package schedule_test

import (
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/calendar"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

// startWithCalendars starts a server with the operations on calendars too.
func startWithCalendars(t testing.TB) *apitest.Server {
	t.Helper()
	r := &schedule.Service{Keyring: box(t)}
	return apitest.Start(t, append(r.Ops(), calendar.Ops()...))
}

// holidays creates a calendar on which every day of the week is worked on, and returns its identifier.
func holidays(t testing.TB, s *apitest.Server) string {
	t.Helper()
	var reply struct {
		CalID string `json:"cal_id"`
	}
	s.Call(apitest.KeyA, "/calendar/create", object{"cal_name": "Holidays", "timezone": "Europe/Berlin", "workdays": []int{0, 1, 2, 3, 4, 5, 6}}).Into(&reply)
	return reply.CalID
}

// dayOff makes a date a day off.
func dayOff(t testing.TB, s *apitest.Server, cal, date, after string) {
	t.Helper()
	s.Call(apitest.KeyA, "/calendar/event/upsert", object{"cal_id": cal, "summary": "Holiday", "start_at": date,
		"end_at": after, "is_off": true}).Into(&struct{}{})
}

// refused wants an error with a code, and with texts in its message.
func refused(t testing.TB, r apitest.Reply, code string, says ...string) {
	t.Helper()
	if r.Code != code || !contains(r.Message, says...) {
		t.Errorf("%s: %s, want %s with %q", r.Code, r.Message, code, says)
	}
}

const monday = 1776009600 // 2026-04-13 00:00 in Shanghai, the zone of account A

// TestLayerSkipsDaysOff: a layer follows its calendars in its own zone, and a day that is added to a calendar counts at
// once, although the schedule was not changed (R27).
func TestLayerSkipsDaysOff(t *testing.T) {
	t.Parallel()
	s := startWithCalendars(t)
	cal := holidays(t, s)
	dayOff(t, s, cal, "2026-04-14", "2026-04-15")
	id := create(t, s, object{"layers": []any{
		layer(monday, []int64{A, B}, object{"skip_cal_ids": []string{cal}}),
		layer(monday, []int64{Z}, object{"only_cal_ids": []string{cal}}),
	}})
	is := func(want string) {
		t.Helper()
		if got := line(info(t, s, id, monday, monday+3*86400).FinalSchedule); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
	is("A 1776009600-1776096000 0; A 1776096000-1776182400 0; A 1776182400-1776268800 0")
	got := info(t, s, id, monday, monday+3*86400)
	if text := line((*got.ScheduleLayers)[1]); text != "A 1776096000-1776182400 0" {
		t.Errorf("the second layer is %s", text)
	}
	if l := (*got.Layers)[0]; len(l.SkipCalIDs) != 1 || l.SkipCalIDs[0] != cal || l.OnlyCalIDs != nil {
		t.Errorf("the layer is shown with %v and %v", l.SkipCalIDs, l.OnlyCalIDs)
	}
	for range 2 { // the second time from the cache
		info(t, s, id, monday, monday+86400)
	}
	dayOff(t, s, cal, "2026-04-13", "2026-04-14")
	got = info(t, s, id, monday, monday+86400)
	if persons := (*got.FinalSchedule.Schedules)[0].Group.Members[0].PersonIDs; len(persons) != 1 || persons[0] != Z {
		t.Errorf("after another day off %v are on call, want %d", persons, Z)
	}
	wantWords(t, explained(t, s, id, monday+3600).Words, "Layer L does not count: this is a day off in calendar Holidays: daily rotation, turn 1")
	wantWords(t, explained(t, s, id, monday+2*86400+3600).Words, "Layer L does not count: this is not a day off in calendar Holidays: daily rotation, turn 3")
	if x := explained(t, s, id, monday+3600).Layers[0]; x.Reason != "not_a_calendar_day" || x.Calendar != "Holidays" {
		t.Errorf("the explained layer is %+v", x)
	}
}

// TestCalendarsOfLayersAreReferences: a calendar must exist, and is not deleted while a layer uses it.
func TestCalendarsOfLayersAreReferences(t *testing.T) {
	t.Parallel()
	s := startWithCalendars(t)
	cal := holidays(t, s)
	body := func(ids ...string) object {
		return object{"schedule_name": "S", "start": monday, "end": monday + 86400,
			"layers": []any{layer(monday, []int64{A}), layer(monday, []int64{A}, object{"only_cal_ids": ids})}}
	}
	for _, path := range []string{"/schedule/create", "/schedule/preview"} {
		refused(t, s.Call(apitest.KeyA, path, body(cal, "cal.none")), "InvalidParameter", "layers[1].only_cal_ids[1]", "cal.none")
		refused(t, s.Call(apitest.KeyA, path, body("")), "InvalidParameter", "layers[1].only_cal_ids[0]")
		refused(t, s.Call(apitest.KeyA, path, body(cal, cal)), "InvalidParameter", "layers[1].only_cal_ids[1]")
		var many []string
		for i := range 21 {
			many = append(many, fmt.Sprint("cal.", i))
		}
		refused(t, s.Call(apitest.KeyA, path, body(many...)), "InvalidParameter", "only_cal_ids", "20", "21")
	}
	id := create(t, s, body(cal))
	refused(t, s.Call(apitest.KeyA, "/schedule/update", object{"schedule_id": id, "layers": body("cal.none")["layers"]}), "InvalidParameter", "cal.none")
	refused(t, s.Call(apitest.KeyA, "/calendar/delete", object{"cal_id": cal}), "ReferenceExist", fmt.Sprint(id))
	s.Call(apitest.KeyA, "/schedule/update", object{"schedule_id": id, "layers": []any{}}).Into(&struct{}{})
	s.Call(apitest.KeyA, "/calendar/delete", object{"cal_id": cal}).Into(&struct{}{})
}

// TestPreviewWithCalendars: a preview shows what the schedule will be.
func TestPreviewWithCalendars(t *testing.T) {
	t.Parallel()
	s := startWithCalendars(t)
	cal := holidays(t, s)
	dayOff(t, s, cal, "2026-04-14", "2026-04-15")
	var view schedule.Schedule
	s.Call(apitest.KeyA, "/schedule/preview", object{"start": monday, "end": monday + 3*86400, "when_absent": "gap",
		"layers": []any{layer(monday, []int64{A, B}, object{"skip_cal_ids": []string{cal}})}}).Into(&view)
	if got := line(view.FinalSchedule); got != "A 1776009600-1776096000 0; A 1776182400-1776268800 0" || view.WhenAbsent != "gap" {
		t.Errorf("%s, when_absent %s", got, view.WhenAbsent)
	}
}

// TestWhenAbsent: the choice is stored, kept by a change of something else, shown, and written to account files.
func TestWhenAbsent(t *testing.T) {
	t.Parallel()
	s := startWithCalendars(t)
	id := create(t, s, object{"layers": []any{layer(monday, []int64{A})}})
	is := func(want string) {
		t.Helper()
		if got := info(t, s, id, monday, monday+86400).WhenAbsent; got != want {
			t.Errorf("when_absent is %q, want %q", got, want)
		}
	}
	is("next")
	s.Call(apitest.KeyA, "/schedule/update", object{"schedule_id": id, "when_absent": "gap"}).Into(&struct{}{})
	s.Call(apitest.KeyA, "/schedule/update", object{"schedule_id": id, "description": "d"}).Into(&struct{}{})
	is("gap")
	refused(t, s.Call(apitest.KeyA, "/schedule/update", object{"schedule_id": id, "when_absent": "never"}), "InvalidParameter", "when_absent", "next")
	err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
		records, err := schedule.Dump(tx, box(t), apitest.AccountA, false)
		if err == nil && (len(records) != 1 || records[0].WhenAbsent == nil || *records[0].WhenAbsent != "gap") {
			t.Errorf("records are %+v", records)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	s.Call(apitest.KeyA, "/schedule/update", object{"schedule_id": id, "when_absent": "next"}).Into(&struct{}{})
	is("next")
}

// TestLoadNeedsCalendars: a layer of an account file names calendars of the account only.
func TestLoadNeedsCalendars(t *testing.T) {
	t.Parallel()
	s := startWithCalendars(t)
	cal := holidays(t, s)
	record := func(id string) schedule.Record {
		return schedule.Record{ScheduleID: 5, Body: schedule.Body{ScheduleName: "S", Layers: []schedule.WrittenLayer{{LayerConfig: schedule.LayerConfig{
			LayerStart: monday, RotationUnit: "day", RotationValue: 1, SkipCalIDs: []string{id},
			Groups: []schedule.Group{{Members: []schedule.Member{{PersonIDs: []int64{A}}}}}}}}}}
	}
	loaded := func(id string) error {
		return s.DB.Write(t.Context(), func(tx *db.Tx) error {
			return schedule.Load(tx, box(t), apitest.AccountA, []schedule.Record{record(id)})
		})
	}
	if err := loaded("cal.none"); err == nil || !contains(err.Error(), "schedules[0].layers[0].skip_cal_ids[0]", "cal.none") {
		t.Errorf("a file with an unknown calendar: %v", err)
	}
	if err := loaded(cal); err != nil {
		t.Error(err)
	}
	err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
		refs, err := configstore.Sources(tx, apitest.AccountA, configstore.Calendar, cal, configstore.Schedule)
		if err == nil && len(refs) != 1 {
			t.Errorf("the calendar is referred to by %v", refs)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
