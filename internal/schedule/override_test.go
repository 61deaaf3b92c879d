package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

// override creates an override and returns its id.
func override(t testing.TB, s *apitest.Server, body object) int64 {
	t.Helper()
	var reply struct {
		OverrideID int64 `json:"override_id"`
	}
	s.Call(apitest.KeyA, "/schedule/override/create", body).Into(&reply)
	return reply.OverrideID
}

func TestOverrideCreate(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := create(t, s, object{"layers": []any{layer(1776009600, []int64{A, B})}})
	s.Grant(auth.SchedulesRead)
	now := s.Clock.Now().Unix()
	at := func(changes string) string {
		body := fmt.Sprintf(`{"schedule_id":%d,"person_id":%d,"by":%d,"start":%d,"end":%d`, id, A, Z, now+60, now+3600)
		return body + changes + "}"
	}
	with := func(person, by, start, end int64) string {
		return fmt.Sprintf(`{"schedule_id":%d,"person_id":%d,"by":%d,"start":%d,"end":%d}`, id, person, by, start, end)
	}
	s.Scenarios(t, "/schedule/override/create", []apitest.Scenario{
		{Name: "golden", Body: at(`,"reason":"dentist"`), Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			var reply schedule.OverrideCreated
			r.Into(&reply)
			apitest.Golden(t, "schedule_override_create", r.Body, fmt.Sprint(reply.OverrideID), "5789640530999")
		}},
		{Name: "reader is denied", Key: apitest.KeyReader, Body: at(``), Code: "AccessDenied", Says: []string{"Schedules Manage (on-call)"}},
		{Name: "other account", Key: apitest.KeyB, Body: at(``), Code: "ResourceNotFound"},
		{Name: "unknown schedule", Body: strings.Replace(at(``), fmt.Sprint(id), "42", 1), Code: "ResourceNotFound", Says: []string{"42"}},
		{Name: "no by", Body: fmt.Sprintf(`{"schedule_id":%d,"person_id":5,"start":%d,"end":%d}`, id, now, now+9), Code: "InvalidParameter", Says: []string{"by", "required"}},
		{Name: "no start", Body: fmt.Sprintf(`{"schedule_id":%d,"person_id":5,"by":6,"end":%d}`, id, now+9), Code: "InvalidParameter", Says: []string{"start", "required"}},
		{Name: "no end", Body: fmt.Sprintf(`{"schedule_id":%d,"person_id":5,"by":6,"start":%d}`, id, now), Code: "InvalidParameter", Says: []string{"end", "required"}},
		{Name: "no one replaced", Body: with(0, Z, now, now+9), Code: "InvalidParameter", Says: []string{"person_id", "role_id", "required"}},
		{Name: "by the same", Body: with(A, A, now, now+9), Code: "InvalidParameter", Says: []string{"by", "another person", fmt.Sprint(A)}},
		{Name: "by an unknown", Body: with(A, 77, now, now+9), Code: "InvalidParameter", Says: []string{"by", "77", "does not exist"}},
		{Name: "end at start", Body: with(A, Z, now+9, now+9), Code: "InvalidParameter", Says: []string{"end", "after start", fmt.Sprint(now + 9)}},
		{Name: "past", Body: with(A, Z, now-9, now), Code: "InvalidParameter", Says: []string{"end", "present moment", fmt.Sprint(now)}},
		{Name: "begun", Body: with(A, Z, now-9, now+1)},
		{Name: "400 days", Body: with(A, Z, now, now+400*86400)},
		{Name: "a second more", Body: with(A, Z, now, now+400*86400+1), Code: "InvalidParameter", Says: []string{"end", "400 days", fmt.Sprint(now + 400*86400 + 1)}},
		{Name: "far ahead", Body: with(A, Z, now+400*86400+1, now+400*86400+9), Code: "InvalidParameter", Says: []string{"start", "400 days", fmt.Sprint(now + 400*86400 + 1)}},
		{Name: "reason of 499", Body: at(`,"reason":"` + strings.Repeat("é", 499) + `"`)},
		{Name: "reason of 500", Body: at(`,"reason":"` + strings.Repeat("é", 500) + `"`), Code: "InvalidParameter", Says: []string{"reason", "499"}},
		{Name: "role -2", Body: at(`,"role_id":-2`), Code: "InvalidParameter", Says: []string{"role_id", "-1", "-2"}},
		{Name: "by role", Body: fmt.Sprintf(`{"schedule_id":%d,"role_id":0,"by":%d,"start":%d,"end":%d}`, id, Z, now, now+9)},
		{Name: "a role no one has", Body: fmt.Sprintf(`{"schedule_id":%d,"role_id":9,"by":%d,"start":%d,"end":%d,"dry_run":true}`, id, Z, now, now+9),
			Then: says("role_id: no one to replace has role 9")},
		{Name: "a person who takes no shifts", Body: strings.TrimSuffix(with(78, Z, now, now+9), "}") + `,"dry_run":true}`, Then: says("person 78 takes no shifts")},
		{Name: "who takes over from another", Body: strings.TrimSuffix(with(Z, B, now, now+9), "}") + `,"dry_run":true}`, Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			if strings.Contains(string(r.Data), "warnings") {
				t.Errorf("warns %s", r.Data)
			}
		}},
	})
}

func says(part string) func(*testing.T, *apitest.Server, apitest.Reply) {
	return func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
		if !strings.Contains(string(r.Data), part) {
			t.Errorf("%s does not say %q", r.Data, part)
		}
	}
}

func TestOverrideUpdateAndDelete(t *testing.T) {
	t.Parallel()
	s := start(t)
	now := s.Clock.Now().Unix()
	id := create(t, s, object{"layers": []any{layer(1776009600, []int64{A, B})}})
	other := create(t, s, object{"layers": []any{layer(1776009600, []int64{A, B})}})
	one := override(t, s, object{"schedule_id": id, "person_id": A, "role_id": 0, "by": Z, "start": now, "end": now + 3600, "reason": "r"})
	two := override(t, s, object{"schedule_id": other, "role_id": 0, "by": Z, "start": now, "end": now + 3600})
	s.Grant(auth.SchedulesRead)
	at := func(rest string) string { return fmt.Sprintf(`{"override_id":%d%s}`, one, rest) }
	s.Scenarios(t, "/schedule/override/update", []apitest.Scenario{
		{Name: "reader is denied", Key: apitest.KeyReader, Body: at(`,"reason":"x"`), Code: "AccessDenied"},
		{Name: "other account", Key: apitest.KeyB, Body: at(`,"reason":"x"`), Code: "ResourceNotFound"},
		{Name: "unknown", Body: `{"override_id":42}`, Code: "ResourceNotFound", Says: []string{"schedule_override 42"}},
		{Name: "end before start", Body: at(fmt.Sprintf(`,"end":%d`, now-1)), Code: "InvalidParameter", Says: []string{"end"}},
		{Name: "golden", Body: at(fmt.Sprintf(`,"end":%d`, now+7200)), Golden: "schedule_override_update", Then: func(t *testing.T, s *apitest.Server, _ apitest.Reply) {
			o := (*info(t, s, id, now, now+1).Overrides)[0]
			if o.End != now+7200 || o.Start != now || o.By != Z || o.PersonID != A || *o.RoleID != 0 || o.Reason != "r" {
				t.Errorf("changed to %s", text(t, o))
			}
		}},
	})
	s.Scenarios(t, "/schedule/override/list", []apitest.Scenario{
		{Name: "golden", Key: apitest.KeyReader, Body: fmt.Sprintf(`{"schedule_ids":[%d,%d]}`, id, other), Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			apitest.Golden(t, "schedule_override_list", r.Body, fmt.Sprint(one), "5789640530999", fmt.Sprint(two), "5789640530998", fmt.Sprint(id), "5789640530410", fmt.Sprint(other), "5432326025106")
		}},
		{Name: "without permission", Key: apitest.KeyNothing, Body: `{}`, Code: "AccessDenied"},
		{Name: "other account", Key: apitest.KeyB, Body: `{}`, Data: `{"items":[],"total":0,"has_next_page":false}`},
		{Name: "of a schedule", Body: fmt.Sprintf(`{"schedule_ids":[%d]}`, id), Then: says(`"total":1`)},
		{Name: "of a person", Body: fmt.Sprintf(`{"person_id":%d}`, A), Then: says(`"total":1`)},
		{Name: "by a person, paged", Body: fmt.Sprintf(`{"person_id":%d,"limit":1,"p":2}`, Z), Then: says(`"total":2,"has_next_page":false`)},
		{Name: "of a window before", Body: fmt.Sprintf(`{"end":%d}`, now), Data: `{"items":[],"total":0,"has_next_page":false}`},
		{Name: "of a window after", Body: fmt.Sprintf(`{"start":%d}`, now+3600), Then: says(`"total":1`)},
		{Name: "deep", Body: `{"p":10001,"limit":1}`, Code: "InvalidParameter", Says: []string{"p"}},
	})
	left := func(want string) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, s *apitest.Server, _ apitest.Reply) {
			if n := column(t, s, `SELECT CAST(count(*) AS TEXT) FROM schedule_override`); n != want {
				t.Errorf("%s overrides are left, want %s", n, want)
			}
		}
	}
	ids := func(list ...int64) string { return text(t, object{"override_ids": list}) }
	s.Scenarios(t, "/schedule/override/delete", []apitest.Scenario{
		{Name: "reader is denied", Key: apitest.KeyReader, Body: ids(one), Code: "AccessDenied", Then: left("2")},
		{Name: "other account", Key: apitest.KeyB, Body: ids(one), Code: "ResourceNotFound", Then: left("2")},
		{Name: "one unknown, none deleted", Body: ids(one, 42, two), Code: "ResourceNotFound", Says: []string{"42"}, Then: left("2")},
		{Name: "one revision for two schedules", Body: fmt.Sprintf(`{"override_ids":[%d,%d],"if_revision":3}`, one, two), Code: "InvalidParameter", Says: []string{"if_revision", "2 schedules"}, Then: left("2")},
		{Name: "golden: several, one named twice", Body: ids(one, two, one), Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			apitest.Golden(t, "schedule_override_delete", r.Body, fmt.Sprint(id), "5789640530410", fmt.Sprint(other), "5432326025106")
			left("0")(t, s, r)
		}},
	})
}

// TestOverridesLeaveLayersAlone compares a schedule with overrides and the same one without: only overrides, revision
// and timeline may differ.
func TestOverridesLeaveLayersAlone(t *testing.T) {
	t.Parallel()
	s := start(t)
	now := s.Clock.Now().Unix()
	id := full(t, s)
	before := info(t, s, id, now, now+86400)
	override(t, s, object{"schedule_id": id, "role_id": 0, "by": A, "start": now, "end": now + 3600})
	after := info(t, s, id, now, now+86400)
	if text(t, before.Layers) != text(t, after.Layers) || before.UpdateAt != after.UpdateAt {
		t.Error("an override changed the layers")
	}
	if len(*info(t, s, id, now+3600, now+86400).Overrides) != 0 || len(*after.Overrides) != 1 {
		t.Error("the overrides of another window are shown")
	}
}

func TestOverrideHoldsItsPersonsUntilItIsPast(t *testing.T) {
	t.Parallel()
	s := start(t)
	now := s.Clock.Now().Unix()
	id := create(t, s, object{"schedule_name": "S"})
	one := override(t, s, object{"schedule_id": id, "person_id": 77, "by": Z, "start": now, "end": now + 3600})
	if got, want := references(t, s), fmt.Sprintf("person %d by schedule_override %d of S\nperson 77 by schedule_override %d of S\nschedule %d by schedule_override %d of S", Z, one, one, id, one); got != want {
		t.Errorf("refers\n%s\nwant\n%s", got, want)
	}
	prune := func(at int64) {
		for _, kept := range (&schedule.Service{}).Module().Prune {
			s.Write(func(tx *db.Tx) error { _, err := kept.Of(tx, apitest.AccountA, time.Unix(at, 0)); return err })
		}
	}
	prune(now + 3600)
	if !strings.Contains(references(t, s), "person") {
		t.Error("released before its end")
	}
	prune(now + 3601)
	if got := references(t, s); got != fmt.Sprintf("schedule %d by schedule_override %d of S", id, one) {
		t.Errorf("still held: %s", got)
	}
	prune(now + 3600 + 400*86400)
	if column(t, s, `SELECT CAST(count(*) AS TEXT) FROM schedule_override`) != "1" {
		t.Error("deleted before 400 days")
	}
	prune(now + 3601 + 400*86400)
	if column(t, s, `SELECT CAST(count(*) AS TEXT) FROM schedule_override`) != "0" {
		t.Error("kept after 400 days")
	}
}

func TestDeletingScheduleDeletesItsOverrides(t *testing.T) {
	t.Parallel()
	s := start(t)
	now := s.Clock.Now().Unix()
	id := create(t, s, object{})
	override(t, s, object{"schedule_id": id, "person_id": A, "by": Z, "start": now, "end": now + 3600})
	s.Call(apitest.KeyA, "/schedule/delete", object{"schedule_ids": []int64{id}}).Into(&struct{}{})
	if column(t, s, `SELECT CAST(count(*) AS TEXT) FROM schedule_override`) != "0" || references(t, s) != "" {
		t.Error("an override or its references stay")
	}
}

// TestOverridesAreBounded fills a schedule with live overrides, and with past ones.
func TestOverridesAreBounded(t *testing.T) {
	t.Parallel()
	s := start(t)
	now := s.Clock.Now().Unix()
	id := create(t, s, object{})
	records := func(n int, from int64) (list []schedule.Override) {
		for i := range n {
			list = append(list, schedule.Override{OverrideID: from + int64(i), ScheduleID: id, PersonID: A, By: Z, Start: from, End: from + int64(i) + 1})
		}
		return list
	}
	load := func(list []schedule.Override) {
		s.Write(func(tx *db.Tx) error { return schedule.LoadOverrides(tx, apitest.AccountA, list) })
	}
	load(records(500, 1000))
	load(records(499, now))
	body := object{"schedule_id": id, "person_id": A, "by": Z, "start": now, "end": now + 3600}
	override(t, s, body)
	if r := s.Call(apitest.KeyA, "/schedule/override/create", body); r.Code != "InvalidParameter" || !contains(string(r.Body), "500 overrides", "at most 500") {
		t.Errorf("the 501st answers %s", r.Body)
	}
	s.Clock.Add(2 * time.Hour)
	body["end"] = now + 3*3600
	override(t, s, body)
	if n := column(t, s, `SELECT CAST(count(*) AS TEXT) FROM schedule_override`); n != "501" {
		t.Errorf("%s overrides, want 500 past ones and one", n)
	}
	if oldest := column(t, s, `SELECT CAST(min(end_at) AS TEXT) FROM schedule_override`); oldest != fmt.Sprint(now+1) {
		t.Errorf("the oldest that is kept ends at %s", oldest)
	}
}

func TestOverridesOfFile(t *testing.T) {
	t.Parallel()
	s := start(t)
	now := s.Clock.Now().Unix()
	id := create(t, s, object{})
	override(t, s, object{"schedule_id": id, "person_id": A, "by": Z, "start": now, "end": now + 3600, "reason": "r"})
	override(t, s, object{"schedule_id": id, "role_id": 1, "by": Z, "start": now, "end": now + 3600})
	dumped := func() (all []schedule.Override) {
		s.Read(func(tx *db.Tx) (err error) { all, err = schedule.DumpOverrides(tx, apitest.AccountA); return err })
		return all
	}
	before := dumped()
	s.Write(func(tx *db.Tx) error {
		for _, o := range before {
			if err := schedule.EraseOverride(tx, apitest.AccountA, o.OverrideID); err != nil {
				return err
			}
		}
		return schedule.LoadOverrides(tx, apitest.AccountA, before)
	})
	if text(t, dumped()) != text(t, before) {
		t.Errorf("dumped %s, and then %s", text(t, before), text(t, dumped()))
	}
	valid := schedule.Override{OverrideID: 5, ScheduleID: id, PersonID: A, By: Z, Start: 5, End: 9}
	for want, change := range map[string]func(*schedule.Override){
		"schedule_overrides[0].override_id": func(o *schedule.Override) { o.OverrideID = 0 },
		"schedule_overrides[0].account_id":  func(o *schedule.Override) { o.AccountID = 3 },
		"schedule_overrides[0].schedule_id": func(o *schedule.Override) { o.ScheduleID = 42 },
		"schedule_overrides[0].person_id":   func(o *schedule.Override) { o.PersonID = 0 },
		"schedule_overrides[0].by":          func(o *schedule.Override) { o.By = A },
		"schedule_overrides[0].end":         func(o *schedule.Override) { o.End = 5 },
		"schedule_overrides[0].start":       func(o *schedule.Override) { o.Start = 0 },
		"schedule_overrides[0].reason":      func(o *schedule.Override) { o.Reason = strings.Repeat("x", 500) },
	} {
		o := valid
		change(&o)
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error { return schedule.LoadOverrides(tx, apitest.AccountA, []schedule.Override{o}) })
		if err == nil || !strings.HasPrefix(err.Error(), want+":") {
			t.Errorf("%s: %v", want, err)
		}
	}
	err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
		return schedule.LoadOverrides(tx, apitest.AccountA, []schedule.Override{valid, valid})
	})
	if err == nil || !strings.Contains(err.Error(), "given twice") {
		t.Errorf("an id twice: %v", err)
	}
}

// TestOverridesReachEngine checks that every reader of a schedule has its overrides, also after a change.
func TestOverridesReachEngine(t *testing.T) {
	t.Parallel()
	s := start(t)
	now := s.Clock.Now().Unix()
	id := create(t, s, object{"layers": []any{layer(1776009600, []int64{A})}})
	covers := func() (list string) {
		s.Read(func(tx *db.Tx) error {
			shifts, err := schedule.FindShifts(tx, apitest.AccountA, id, time.UTC)
			if err == nil {
				list = fmt.Sprint(shifts.Timeline.Covers)
			}
			return err
		})
		return list
	}
	if got := covers(); got != "[]" {
		t.Fatalf("has %s", got)
	}
	one := override(t, s, object{"schedule_id": id, "person_id": A, "by": Z, "start": now, "end": now + 3600})
	s.Clock.Add(time.Second)
	two := override(t, s, object{"schedule_id": id, "role_id": 1, "by": B, "start": now, "end": now + 3600})
	want := fmt.Sprintf("[{%d %d %d %d -1 %d} {%d %d %d 0 1 %d}]", one, now, now+3600, A, Z, two, now, now+3600, B)
	if got := covers(); got != want {
		t.Errorf("has %s, want %s", got, want)
	}
	s.Call(apitest.KeyA, "/schedule/override/delete", object{"override_ids": []int64{one, two}}).Into(&struct{}{})
	if got := covers(); got != "[]" {
		t.Errorf("still has %s", got)
	}
}

// What a schedule costs to compute is bounded: by its overrides times its persons, whichever of the two grows.
func TestOverridesTimesPersonsAreBounded(t *testing.T) {
	t.Parallel()
	s := start(t)
	persons := make([]int64, 1000)
	for i := range persons {
		persons[i] = A
	}
	groups := make([]any, 10)
	for i := range groups {
		groups[i] = object{"group_name": fmt.Sprint(i), "members": []any{object{"role_id": 0, "person_ids": persons}}}
	}
	crowd := layer(1776009600, nil, object{"groups": groups})
	id := create(t, s, object{"layers": []any{layer(1776009600, []int64{A})}})
	now := s.Clock.Now().Unix()
	for i := range int64(101) {
		override(t, s, object{"schedule_id": id, "person_id": A, "by": Z, "start": now + 60*i + 60, "end": now + 60*i + 120})
	}
	large := object{"schedule_id": id, "layers": []any{crowd}}
	if r := s.Call(apitest.KeyA, "/schedule/update", large); r.Code != "InvalidParameter" || !strings.Contains(r.Message, "1010000") {
		t.Errorf("%s %s", r.Code, r.Message)
	}
	id = create(t, s, object{"schedule_name": "large", "layers": []any{crowd}})
	for i := range int64(101) {
		body := object{"schedule_id": id, "person_id": A, "by": Z, "start": now + 60*i + 60, "end": now + 60*i + 120}
		if r := s.Call(apitest.KeyA, "/schedule/override/create", body); (r.Code == "InvalidParameter") != (i == 100) {
			t.Errorf("override %d: %s %s", i, r.Code, r.Message)
		}
	}
}
