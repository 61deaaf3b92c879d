package absence_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/absence"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

const (
	owner    int64 = apitest.OwnerA
	reader   int64 = apitest.Reader
	stranger int64 = apitest.Stranger
)

func start(t *testing.T) *apitest.Server {
	return apitest.Start(t, (&absence.Service{Effects: schedule.AbsenceEffects}).Ops(), (&schedule.Service{Keyring: apitest.Box(t)}).Ops())
}

// rota creates a daily rotation of persons from the start of the test's clock on, and returns its id.
func rota(s *apitest.Server, persons ...int64) int64 {
	groups := []any{}
	for _, p := range persons {
		groups = append(groups, map[string]any{"members": []any{map[string]any{"role_id": 0, "person_ids": []int64{p}}}})
	}
	var made struct {
		ScheduleID int64 `json:"schedule_id"`
	}
	s.Call(apitest.KeyA, "/schedule/create", map[string]any{"schedule_name": "S", "layers": []any{map[string]any{
		"layer_start": s.Clock.Now().Unix(), "rotation_unit": "day", "rotation_value": 1, "groups": groups}}}).Into(&made)
	return made.ScheduleID
}

func create(s *apitest.Server, key string, person, from, until int64, note string) (made absence.Created) {
	s.Call(key, "/person/absence/create", map[string]any{"person_id": person, "start": from, "end": until, "note": note}).Into(&made)
	return made
}

func TestCreate(t *testing.T) {
	s := start(t)
	now := s.Clock.Now().Unix()
	s.Grant(auth.SchedulesRead)
	body := func(rest string, from, until int64) string {
		return fmt.Sprintf(`{"start":%d,"end":%d%s}`, from, until, rest)
	}
	of := func(person int64) string { return body(fmt.Sprintf(`,"person_id":%d`, person), now, now+9) }
	s.Scenarios(t, "/person/absence/create", []apitest.Scenario{
		{Name: "golden: one's own", Key: apitest.KeyNothing, Body: body(`,"note":"holiday"`, now+60, now+86400), Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			var made absence.Created
			r.Into(&made)
			apitest.Golden(t, "person_absence_create", r.Body, fmt.Sprint(made.AbsenceID), "5789640530888")
		}},
		{Name: "of another without permission", Key: apitest.KeyReader, Body: of(owner), Code: "AccessDenied", Says: []string{"Schedules Manage (on-call)", "Members Manage (org)"}},
		{Name: "of another", Body: of(reader)},
		{Name: "of no one", Body: of(77), Code: "InvalidParameter", Says: []string{"person_id", "77", "does not exist"}},
		{Name: "of another account", Key: apitest.KeyB, Body: of(reader), Code: "InvalidParameter", Says: []string{"person_id", "does not exist"}},
		{Name: "no start", Body: `{"end":1776052800}`, Code: "InvalidParameter", Says: []string{"start", "required"}},
		{Name: "no end", Body: `{"start":1776052800}`, Code: "InvalidParameter", Says: []string{"end", "required"}},
		{Name: "end at start", Body: body(``, now+5, now+5), Code: "InvalidParameter", Says: []string{"end", "after start", fmt.Sprint(now + 5)}},
		{Name: "past", Body: body(``, now-5, now), Code: "InvalidParameter", Says: []string{"end", "present moment", fmt.Sprint(now)}},
		{Name: "400 days", Body: body(``, now, now+400*86400)},
		{Name: "a second more", Body: body(``, now, now+400*86400+1), Code: "InvalidParameter", Says: []string{"end", "400 days"}},
		{Name: "far ahead", Body: body(``, now+801*86400, now+801*86400+2), Code: "InvalidParameter", Says: []string{"start", "800 days"}},
		{Name: "note of 500", Body: body(`,"note":"`+strings.Repeat("é", 500)+`"`, now, now+5), Code: "InvalidParameter", Says: []string{"note", "499"}},
	})
}

// TestOperationsNamePermissionsOfNarrowedKeys checks that a key narrowed to nothing writes no absence, not even of its
// person.
func TestOperationsNamePermissionsOfNarrowedKeys(t *testing.T) {
	for _, op := range (&absence.Service{}).Ops() {
		if len(op.Allow) != 0 || len(op.Narrowed) == 0 {
			t.Errorf("%s: any full key may call it, and a narrowed one needs a permission", op.Path)
		}
	}
}

func TestUpdateListDelete(t *testing.T) {
	s := start(t)
	now := s.Clock.Now().Unix()
	mine := create(s, apitest.KeyReader, reader, now, now+86400, "mine").AbsenceID
	other := create(s, apitest.KeyA, stranger, now+60, now+86400, "secret illness").AbsenceID
	at := func(id int64, rest string) string { return fmt.Sprintf(`{"absence_id":%d%s}`, id, rest) }
	s.Scenarios(t, "/person/absence/update", []apitest.Scenario{
		{Name: "golden", Key: apitest.KeyReader, Body: at(mine, fmt.Sprintf(`,"end":%d`, now+3600)), Golden: "person_absence_update"},
		{Name: "another's", Key: apitest.KeyReader, Body: at(other, `,"note":"x"`), Code: "AccessDenied"},
		{Name: "other account", Key: apitest.KeyB, Body: at(mine, `,"note":"x"`), Code: "ResourceNotFound"},
		{Name: "unknown", Body: at(42, ``), Code: "ResourceNotFound", Says: []string{"absence 42"}},
		{Name: "end before start", Body: at(mine, fmt.Sprintf(`,"end":%d`, now-1)), Code: "InvalidParameter", Says: []string{"end"}},
	})
	shows := func(want string) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			var page struct {
				Items []absence.Absence
				Total int64
			}
			r.Into(&page)
			list := []string{}
			for _, a := range page.Items {
				list = append(list, fmt.Sprintf("%d %s", a.PersonID, a.Note))
			}
			if got := strings.Join(list, "; "); got != want || page.Total != int64(len(page.Items)) {
				t.Errorf("shows %q of %d, want %q", got, page.Total, want)
			}
		}
	}
	s.Grant()
	s.Scenarios(t, "/person/absence/list", []apitest.Scenario{
		{Name: "without permission one's own", Key: apitest.KeyReader, Body: `{}`, Then: shows(fmt.Sprintf("%d mine", reader))},
		{Name: "with all", Body: `{}`, Then: shows(fmt.Sprintf("%d secret illness; %d mine", stranger, reader))},
		{Name: "of a person", Body: fmt.Sprintf(`{"person_ids":[%d]}`, reader), Then: shows(fmt.Sprintf("%d mine", reader))},
		{Name: "of a window", Body: fmt.Sprintf(`{"start":%d,"end":%d}`, now+3600, now+86400), Then: shows(fmt.Sprintf("%d secret illness", stranger))},
		{Name: "before", Body: fmt.Sprintf(`{"end":%d}`, now), Then: shows("")},
		{Name: "other account", Key: apitest.KeyB, Body: `{}`, Then: shows("")},
		{Name: "golden", Body: `{}`, Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			apitest.Golden(t, "person_absence_list", r.Body, fmt.Sprint(mine), "5789640530888", fmt.Sprint(other), "5789640530889")
		}},
	})
	s.Grant(auth.SchedulesRead)
	s.Scenarios(t, "/person/absence/list", []apitest.Scenario{
		{Name: "who may read schedules sees no notes of others", Key: apitest.KeyReader, Body: `{}`, Then: shows(fmt.Sprintf("%d ; %d mine", stranger, reader))},
	})
	s.Scenarios(t, "/person/absence/delete", []apitest.Scenario{
		{Name: "another's", Key: apitest.KeyReader, Body: at(other, ``), Code: "AccessDenied"},
		{Name: "other account", Key: apitest.KeyB, Body: at(mine, ``), Code: "ResourceNotFound"},
		{Name: "tried out", Key: apitest.KeyReader, Body: at(mine, `,"dry_run":true`)},
		{Name: "golden", Key: apitest.KeyReader, Body: at(mine, ``), Golden: "person_absence_delete"},
		{Name: "again", Key: apitest.KeyReader, Body: at(mine, ``), Code: "ResourceNotFound"},
	})
}

// TestAbsencesReachEngine checks that a schedule has the absences of its persons, also after each change.
func TestAbsencesReachEngine(t *testing.T) {
	s := start(t)
	now := s.Clock.Now().Unix()
	id := rota(s, owner, reader)
	is := func(want ...int64) {
		t.Helper()
		s.Read(func(tx *db.Tx) error {
			shifts, err := schedule.FindShifts(tx, apitest.AccountA, id, time.UTC)
			if err != nil {
				return err
			}
			got := []int64{}
			for _, a := range shifts.Timeline.Absences {
				got = append(got, a.PersonID, a.Start, a.End)
			}
			if fmt.Sprint(got) != fmt.Sprint(append([]int64{}, want...)) {
				t.Errorf("has %v, want %v", got, want)
			}
			return nil
		})
	}
	is()
	one := create(s, apitest.KeyA, reader, now, now+60, "").AbsenceID
	create(s, apitest.KeyA, stranger, now, now+60, "")
	is(reader, now, now+60)
	s.Call(apitest.KeyA, "/person/absence/update", map[string]any{"absence_id": one, "end": now + 90}).Into(&struct{}{})
	is(reader, now, now+90)
	s.Call(apitest.KeyA, "/person/absence/delete", map[string]any{"absence_id": one, "dry_run": true}).Into(&struct{}{})
	is(reader, now, now+90)
	s.Call(apitest.KeyA, "/person/absence/delete", map[string]any{"absence_id": one}).Into(&struct{}{})
	is()
}

func TestAbsencesAreBoundedAndPruned(t *testing.T) {
	s := start(t)
	now := s.Clock.Now().Unix()
	count := func() (n int64) {
		s.Read(func(tx *db.Tx) (err error) {
			n, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM person_absence`)
			return err
		})
		return n
	}
	var list []absence.Absence
	for i := range int64(200) {
		a := absence.Absence{AbsenceID: i + 1, PersonID: owner, Start: i + 1, End: i + 2}
		if i >= 100 {
			a.End = now + i
			a.Start = now
		}
		list = append(list, a)
	}
	s.Write(func(tx *db.Tx) error { return absence.Load(tx, apitest.AccountA, list) })
	if r := s.Call(apitest.KeyA, "/person/absence/create", map[string]any{"start": now, "end": now + 5}); r.Code != "InvalidParameter" || !strings.Contains(r.Message, "at most 100") {
		t.Errorf("the 101st answers %q %s", r.Code, r.Message)
	}
	s.Clock.Add(time.Hour)
	create(s, apitest.KeyA, owner, now, now+2*3600, "")
	if n := count(); n != 101 {
		t.Errorf("%d absences, want 100 past ones and one", n)
	}
	prune := (&absence.Service{}).Module().Prune[0].Of
	for _, c := range []struct{ at, left int64 }{{now + 2*3600 + 400*86400, 1}, {now + 2*3600 + 400*86400 + 1, 0}} {
		s.Write(func(tx *db.Tx) error { _, err := prune(tx, apitest.AccountA, time.Unix(c.at, 0)); return err })
		if n := count(); n != c.left {
			t.Errorf("at %d %d are left, want %d", c.at, n, c.left)
		}
	}
}

func TestAbsencesOfFile(t *testing.T) {
	s := start(t)
	now := s.Clock.Now().Unix()
	create(s, apitest.KeyA, owner, now, now+60, "n")
	create(s, apitest.KeyA, reader, now, now+90, "")
	dumped := func() (all []absence.Absence) {
		s.Read(func(tx *db.Tx) (err error) { all, err = absence.Dump(tx, apitest.AccountA); return err })
		return all
	}
	before := dumped()
	s.Write(func(tx *db.Tx) error {
		for _, a := range before {
			if err := absence.Erase(tx, apitest.AccountA, a.AbsenceID); err != nil {
				return err
			}
		}
		return absence.Load(tx, apitest.AccountA, before)
	})
	was, _ := json.Marshal(before)
	if is, _ := json.Marshal(dumped()); string(is) != string(was) || len(before) != 2 {
		t.Errorf("dumped %s, and then %s", was, is)
	}
	for want, change := range map[string]func(*absence.Absence){
		"absences[0].absence_id": func(a *absence.Absence) { a.AbsenceID = 0 },
		"absences[0].account_id": func(a *absence.Absence) { a.AccountID = 3 },
		"absences[0].person_id":  func(a *absence.Absence) { a.PersonID = 0 },
		"absences[0].start":      func(a *absence.Absence) { a.Start = 0 },
		"absences[0].end":        func(a *absence.Absence) { a.End = 5 },
		"absences[0].note":       func(a *absence.Absence) { a.Note = strings.Repeat("x", 500) },
		"absences[0].create_at":  func(a *absence.Absence) { a.CreateAt = -1 },
	} {
		a := absence.Absence{AbsenceID: 5, PersonID: 6, Start: 5, End: 9}
		change(&a)
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error { return absence.Load(tx, apitest.AccountA, []absence.Absence{a}) })
		if err == nil || !strings.HasPrefix(err.Error(), want+":") {
			t.Errorf("%s: %v", want, err)
		}
	}
}
