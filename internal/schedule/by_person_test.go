package schedule_test

import (
	"fmt"
	"testing"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/schedule"
)

func TestByPerson(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := full(t, s) // B and Z take shifts, A has a swap on 2026-04-14 from 00:00 to 12:00
	s.Grant(auth.SchedulesRead)
	window := `"start":1776009600,"end":1776182400`
	s.Scenarios(t, "/schedule/by-person", []apitest.Scenario{
		{Name: "golden", Key: apitest.KeyReader, Body: fmt.Sprintf(`{"person_ids":[%d,%d],%s}`, int64(A), int64(B), window), Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			apitest.Golden(t, "schedule_by-person", r.Body, fmt.Sprint(id), "5789640530410")
		}},
		{Name: "without permission", Key: apitest.KeyNothing, Body: `{"person_ids":[1],` + window + `}`, Code: "AccessDenied"},
		{Name: "other account", Key: apitest.KeyB, Body: fmt.Sprintf(`{"person_ids":[%d],%s}`, int64(A), window), Data: `{"items":[]}`},
		{Name: "an unknown person", Body: `{"person_ids":[42],` + window + `}`, Data: `{"items":[]}`},
		{Name: "no persons", Body: `{"person_ids":[],` + window + `}`, Code: "InvalidParameter", Says: []string{"person_ids", "1"}},
		{Name: "without a window", Body: `{"person_ids":[1]}`, Code: "InvalidParameter", Says: []string{"start"}},
		{Name: "no second", Body: `{"person_ids":[1],"start":1776009600,"end":1776009600}`, Code: "InvalidParameter", Says: []string{"end", "after start"}},
		{Name: "a second more", Body: `{"person_ids":[1],"start":1776009600,"end":1779897601}`, Code: "InvalidParameter", Says: []string{"end", "45 days"}},
	})
	s.Exec(`UPDATE schedule SET status = 1 WHERE schedule_id = $1`, id)
	s.Exec(`UPDATE account SET revision = revision + 1`)
	if r := s.Call(apitest.KeyA, "/schedule/by-person", fmt.Sprintf(`{"person_ids":[%d],%s}`, int64(B), window)); string(r.Data) != `{"items":[]}` {
		t.Errorf("a disabled schedule: %s", r.Body)
	}
}

// TestByPersonAgreesWithTimelines compares the items of each person with the final timelines of random schedules, second by second
// at all edges.
func TestByPersonAgreesWithTimelines(t *testing.T) {
	t.Parallel()
	s, r := start(t), newRandom(t)
	s.Clock.Add(time.Second)
	for range apitest.Setting(t, "TOCSIN_SCHEDULE_CASES", 8) {
		from := 1775500000 + r.Int64N(2_000_000)
		to := from + 1 + r.Int64N(20*86400)
		id := create(t, s, r.body())
		final := info(t, s, id, from, to).FinalSchedule.Schedules
		var reply api.Items[schedule.PersonShift]
		s.Call(apitest.KeyA, "/schedule/by-person", object{"person_ids": []int64{A, B, Z}, "start": from, "end": to}).Into(&reply)
		edges := []int64{from, to - 1}
		onCall := func(person, at int64) bool {
			for _, entry := range *final {
				for _, m := range entry.Group.Members {
					for _, p := range m.PersonIDs {
						if p == person && entry.Start <= at && at < entry.End {
							return true
						}
					}
				}
			}
			return false
		}
		for _, entry := range *final {
			edges = append(edges, entry.Start, entry.End-1)
		}
		for _, person := range []int64{A, B, Z} {
			for _, at := range edges {
				times := 0
				for _, item := range reply.Items {
					if item.ScheduleID == id && item.PersonID == person && item.Start <= at && at < item.End {
						times++
					}
				}
				if want := onCall(person, at); times > 1 || (times == 1) != want {
					t.Fatalf("person %d at %d is in %d items, on call %v: %s", person, at, times, want, text(t, reply))
				}
			}
		}
		s.Exec(`DELETE FROM schedule WHERE schedule_id = $1`, id)
		s.Exec(`UPDATE account SET revision = revision + 1`)
	}
}
