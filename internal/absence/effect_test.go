package absence_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"tocsin/internal/absence"
	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/configstore"
	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/db"
)

// Effects are computed while others write. If they change the configuration meanwhile, the effects are computed again, and a
// change that cannot be computed in time is not made.
func TestEffectsAreComputedWhileOthersWrite(t *testing.T) {
	t.Parallel()
	var s *apitest.Server
	computed, changes := 0, 0
	effects := func(*api.Call, int64, []oncall.Absence, []oncall.Absence) (absence.Compute, error) {
		return func(from, to int64) ([]absence.Effect, []string, error) {
			if computed++; computed <= changes {
				s.Write(func(tx *db.Tx) error { return configstore.BumpRevision(tx, apitest.AccountA) })
			}
			return []absence.Effect{{ScheduleID: from, ScheduleName: fmt.Sprint(to)}}, []string{"a warning"}, nil
		}, nil
	}
	s = apitest.Start(t, (&absence.Service{Effects: effects}).Ops())
	now := s.Clock.Now().Unix()
	var made absence.Created
	s.Call(apitest.KeyReader, "/person/absence/create", map[string]any{"start": now, "end": now + 60, "dry_run": true}).Into(&made)
	if computed != 1 || len(made.Effects) != 1 || made.Effects[0].ScheduleID != now || len(made.Warnings.Warnings) != 1 || made.AbsenceID != 0 {
		t.Errorf("computed %d times: %+v", computed, made)
	}
	for _, c := range []struct {
		changes, computed, status int
	}{{0, 1, 200}, {2, 3, 200}, {9, 5, 503}} {
		computed, changes = 0, c.changes
		r := s.Call(apitest.KeyReader, "/person/absence/create", map[string]any{"start": now, "end": now + 60})
		if computed != c.computed || r.Status != c.status {
			t.Errorf("%d changes: computed %d times, %d %s", c.changes, computed, r.Status, r.Body)
		}
	}
	var list struct{ Total int }
	s.Call(apitest.KeyReader, "/person/absence/list", `{}`).Into(&list)
	if list.Total != 2 {
		t.Errorf("%d absences were made", list.Total)
	}
}

// TestAbsenceShowsWhatItChanges lets a reader be absent on their day of a rotation with the owner.
func TestAbsenceShowsWhatItChanges(t *testing.T) {
	s := start(t)
	now := s.Clock.Now().Unix()
	id := rota(s, owner, reader) // the reader's day is the second
	rota(s, stranger)
	effects := func(changed absence.Changed) string {
		b, err := json.Marshal(changed.Effects)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	from, until := now+86400, now+2*86400
	shift := func(person int64) string {
		return fmt.Sprintf(`{"person_id":%d,"role_id":0,"start":%d,"end":%d}`, person, from, until)
	}
	effect := func(lost, gained, gaps string) string {
		return fmt.Sprintf(`[{"schedule_id":%d,"schedule_name":"S","lost":[%s],"gained":[%s],"gaps":[%s]}]`, id, lost, gained, gaps)
	}
	is := func(got absence.Changed, want string) {
		t.Helper()
		if effects(got) != want {
			t.Errorf("shows %s\nwant %s", effects(got), want)
		}
	}
	made := create(s, apitest.KeyReader, reader, from, until, "")
	is(made.Changed, effect(shift(reader), shift(owner), ""))
	var changed absence.Changed
	s.Call(apitest.KeyReader, "/person/absence/delete", map[string]any{"absence_id": made.AbsenceID, "dry_run": true}).Into(&changed)
	is(changed, effect(shift(owner), shift(reader), ""))
	s.Call(apitest.KeyReader, "/person/absence/update", map[string]any{"absence_id": made.AbsenceID, "start": until, "end": until + 60}).Into(&changed)
	is(changed, effect(shift(owner), shift(reader), ""))
	s.Call(apitest.KeyA, "/schedule/update", map[string]any{"schedule_id": id, "when_absent": "gap"}).Into(&struct{}{})
	gap := create(s, apitest.KeyReader, reader, from, until, "")
	is(gap.Changed, effect(shift(reader), "", fmt.Sprintf(`{"start":%d,"end":%d}`, from, until)))
	is(create(s, apitest.KeyReader, reader, from, until, "again").Changed, "[]")
}
