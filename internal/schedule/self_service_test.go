package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

// shared starts a server with a schedule in which the Reader is on call now, then the Stranger, then the owner, each for a
// day. The owner is always the backup. Neither the Reader nor the Stranger may change schedules.
func shared(t *testing.T, changes ...object) (s *apitest.Server, id, now int64, events *[]schedule.CoverEvent) {
	t.Helper()
	events = new([]schedule.CoverEvent)
	r := &schedule.Service{Keyring: box(t), Covered: func(_ *db.Tx, e schedule.CoverEvent, _ time.Time) error {
		*events = append(*events, e)
		return nil
	}}
	s = apitest.Start(t, r.Ops())
	now = s.Clock.Now().Unix()
	groups := []any{}
	for _, p := range []int64{B, Z, A} {
		groups = append(groups, object{"group_name": "g", "members": []any{object{"role_id": 0, "person_ids": []int64{p}}, object{"role_id": 1, "person_ids": []int64{A}}}})
	}
	body := object{"layers": []any{object{"layer_name": "L", "layer_start": now - 3600, "rotation_unit": "day", "rotation_value": 1, "groups": groups}}}
	for _, c := range changes {
		for k, v := range c {
			body[k] = v
		}
	}
	return s, create(t, s, body), now, events
}

// asked makes the Reader ask for cover of an hour, and returns the request.
func asked(t *testing.T, s *apitest.Server, id, from int64, persons ...int64) int64 {
	t.Helper()
	var reply schedule.CoverRequested
	s.Call(apitest.KeyReader, "/schedule/cover/request", object{"schedule_id": id, "person_ids": persons, "start": from, "end": from + 3600}).Into(&reply)
	return reply.RequestID
}

// narrowed returns a key of the Reader that is narrowed to nothing.
func narrowed(s *apitest.Server) (secret string) {
	s.Write(func(tx *db.Tx) (err error) {
		_, secret, err = auth.CreateKey(tx, auth.NewKey{Account: apitest.AccountA, Person: B, Permissions: []string{}}, s.Clock.Now().Unix())
		return err
	})
	return secret
}

func TestShiftTake(t *testing.T) {
	t.Parallel()
	s, id, now, _ := shared(t)
	at := func(rest string) string {
		return fmt.Sprintf(`{"schedule_id":%d,"start":%d,"end":%d%s}`, id, now+60, now+3600, rest)
	}
	of := func(person int64) string { return fmt.Sprintf(`,"person_id":%d`, person) }
	narrow := narrowed(s)
	other := create(t, s, object{"layers": []any{layer(1776009600, []int64{A})}})
	s.Scenarios(t, "/schedule/shift/take", []apitest.Scenario{
		{Name: "golden", Key: apitest.KeyNothing, Body: at(of(B) + `,"reason":"dentist"`), Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			var reply schedule.ShiftTaken
			r.Into(&reply)
			apitest.Golden(t, "schedule_shift_take", r.Body, fmt.Sprint(reply.OverrideID), "5789640530999")
			o := (*info(t, s, id, now, now+86400).Overrides)[0]
			if o.By != Z || o.PersonID != B || o.CreateBy != Z || o.Start != now+60 || o.End != now+3600 {
				t.Errorf("took %s", text(t, o))
			}
		}},
		{Name: "dry run", Key: apitest.KeyNothing, Body: fmt.Sprintf(`{"schedule_id":%d,"role_id":1,"start":%d,"end":%d,"dry_run":true}`, id, now+7200, now+9000), Then: says(`"plan"`)},
		{Name: "a narrowed key", Key: narrow, Body: at(of(B)), Code: "AccessDenied", Says: []string{"narrowed"}},
		{Name: "other account", Key: apitest.KeyB, Body: at(of(B)), Code: "ResourceNotFound"},
		{Name: "not in the schedule", Key: apitest.KeyReader, Body: fmt.Sprintf(`{"schedule_id":%d,"person_id":%d,"start":%d,"end":%d}`, other, A, now, now+60), Code: "AccessDenied", Says: []string{"not in schedule"}},
		{Name: "no shift", Key: apitest.KeyNothing, Body: fmt.Sprintf(`{"schedule_id":%d,"person_id":%d,"start":%d,"end":%d,"role_id":7}`, id, B, now, now+60), Code: "BadRequest", Says: []string{"on call"}},
		{Name: "own", Key: apitest.KeyReader, Body: at(of(B)), Code: "BadRequest"},
		{Name: "past", Key: apitest.KeyNothing, Body: fmt.Sprintf(`{"schedule_id":%d,"person_id":%d,"start":%d,"end":%d}`, id, B, now-60, now), Code: "InvalidParameter", Says: []string{"end", "present moment"}},
		{Name: "46 days", Key: apitest.KeyNothing, Body: fmt.Sprintf(`{"schedule_id":%d,"person_id":%d,"start":%d,"end":%d}`, id, B, now, now+46*86400), Code: "InvalidParameter", Says: []string{"end", "45 days"}},
		{Name: "neither person nor role", Key: apitest.KeyNothing, Body: at(``), Code: "InvalidParameter", Says: []string{"person_id"}},
	})
}

func TestOnePersonCannotUseUpOverridesOfSchedule(t *testing.T) {
	t.Parallel()
	s, id, now, _ := shared(t)
	body := func(i int64) object {
		return object{"schedule_id": id, "role_id": 1, "start": now + 100*i, "end": now + 100*i + 50}
	}
	for i := range int64(50) {
		s.Call(apitest.KeyNothing, "/schedule/shift/take", body(i)).Into(&struct{}{})
	}
	if r := s.Call(apitest.KeyNothing, "/schedule/shift/take", body(50)); r.Code != "BadRequest" || !contains(string(r.Body), "50 overrides") {
		t.Errorf("the 51st answers %s", r.Body)
	}
	s.Call(apitest.KeyReader, "/schedule/shift/take", body(50)).Into(&struct{}{})
	s.Clock.Add(3 * time.Hour)
	if r := s.Call(apitest.KeyNothing, "/schedule/shift/take", body(120)); r.Code != "BadRequest" {
		t.Errorf("when they are past, another one answers %s", r.Body)
	}
	s.Clock.Add(21 * time.Hour)
	s.Call(apitest.KeyNothing, "/schedule/shift/take", body(900)).Into(&struct{}{})
}

func TestShiftHandOver(t *testing.T) {
	t.Parallel()
	s, id, now, events := shared(t)
	to := func(person int64, rest string) string {
		return fmt.Sprintf(`{"schedule_id":%d,"to":%d,"start":%d,"end":%d%s}`, id, person, now, now+3600, rest)
	}
	s.Scenarios(t, "/schedule/shift/hand-over", []apitest.Scenario{
		{Name: "golden", Key: apitest.KeyReader, Body: to(Z, `,"reason":"dentist"`), Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			var reply schedule.HandedOver
			r.Into(&reply)
			apitest.Golden(t, "schedule_shift_hand-over", r.Body, fmt.Sprint(reply.RequestID), "5789640530777")
			if len(*events) != 1 || fmt.Sprint((*events)[0].To) != fmt.Sprint([]int64{Z}) || len(*info(t, s, id, now, now+86400).Overrides) != 0 {
				t.Errorf("published %v", *events)
			}
		}},
		{Name: "twice", Key: apitest.KeyReader, Body: to(Z, ``), Code: "BadRequest", Says: []string{"cancel it first"}},
		{Name: "to the caller", Key: apitest.KeyReader, Body: to(B, ``), Code: "InvalidParameter", Says: []string{"to", "another person"}},
		{Name: "to an unknown", Key: apitest.KeyReader, Body: to(77, ``), Code: "InvalidParameter", Says: []string{"to", "77"}},
		{Name: "not on call", Key: apitest.KeyNothing, Body: to(B, ``), Code: "BadRequest", Says: []string{"not on call"}},
		{Name: "a manager", Key: apitest.KeyA, Body: to(Z, `,"role_id":1`), Then: func(t *testing.T, s *apitest.Server, _ apitest.Reply) {
			if o := (*info(t, s, id, now, now+86400).Overrides)[0]; o.By != Z || o.PersonID != A || *o.RoleID != 1 {
				t.Errorf("handed over %s", text(t, o))
			}
		}},
		{Name: "other account", Key: apitest.KeyB, Body: to(Z, ``), Code: "ResourceNotFound"},
	})
}

func TestCoverRequest(t *testing.T) {
	t.Parallel()
	s, id, now, events := shared(t)
	at := func(from int64, rest string) string {
		return fmt.Sprintf(`{"schedule_id":%d,"start":%d,"end":%d%s}`, id, from, from+3600, rest)
	}
	outside := create(t, s, object{"layers": []any{layer(now-86400, []int64{B})}})
	s.Scenarios(t, "/schedule/cover/request", []apitest.Scenario{
		{Name: "golden", Key: apitest.KeyReader, Body: at(now+3600, `,"reason":"dentist"`), Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			var reply schedule.CoverRequested
			r.Into(&reply)
			apitest.Golden(t, "schedule_cover_request", r.Body, fmt.Sprint(reply.RequestID), "5789640530777")
			if len(*events) != 1 || fmt.Sprint((*events)[0].To) != fmt.Sprint([]int64{A, Z}) || (*events)[0].Actor != B {
				t.Errorf("published %v", *events)
			}
		}},
		{Name: "overlaps", Key: apitest.KeyReader, Body: at(now+7000, ``), Code: "BadRequest", Says: []string{"cancel it first"}},
		{Name: "beside it", Key: apitest.KeyReader, Body: at(now, ``), Then: says(fmt.Sprintf(`"expire_at":%d`, now+3600))},
		{Name: "not in the schedule", Key: apitest.KeyReader, Body: at(now+9000, `,"person_ids":[77]`), Code: "InvalidParameter", Says: []string{"person_ids[0]", "77"}},
		{Name: "the caller", Key: apitest.KeyReader, Body: at(now+9000, fmt.Sprintf(`,"person_ids":[%d]`, B)), Code: "InvalidParameter", Says: []string{"person_ids[0]", "another person"}},
		{Name: "no one else", Key: apitest.KeyReader, Body: fmt.Sprintf(`{"schedule_id":%d,"start":%d,"end":%d}`, outside, now, now+60), Code: "BadRequest", Says: []string{"no other person"}},
		{Name: "not on call", Key: apitest.KeyNothing, Body: at(now, ``), Code: "BadRequest", Says: []string{"not on call"}},
		{Name: "another role", Key: apitest.KeyReader, Body: at(now+9000, `,"role_id":1`), Code: "BadRequest", Says: []string{"not on call"}},
		{Name: "a narrowed key", Key: narrowed(s), Body: at(now, ``), Code: "AccessDenied", Says: []string{"narrowed"}},
		{Name: "other account", Key: apitest.KeyB, Body: at(now, ``), Code: "ResourceNotFound"},
	})
}

func TestPersonAsksSeldom(t *testing.T) {
	t.Parallel()
	s, id, now, _ := shared(t)
	for i := range int64(20) {
		s.Call(apitest.KeyReader, "/schedule/cover/cancel", object{"request_id": asked(t, s, id, now+3600*(i%20)+60, Z)}).Into(&struct{}{})
	}
	body := object{"schedule_id": id, "start": now, "end": now + 60}
	if r := s.Call(apitest.KeyReader, "/schedule/cover/request", body); r.Code != "BadRequest" || !contains(string(r.Body), "20 times") {
		t.Errorf("the 21st answers %s", r.Body)
	}
	s.Clock.Add(24 * time.Hour)
	s.Call(apitest.KeyNothing, "/schedule/cover/request", object{"schedule_id": id, "start": now + 86400, "end": now + 90000}).Into(&struct{}{})
}

func TestCoverAnswers(t *testing.T) {
	t.Parallel()
	s, id, now, events := shared(t)
	one := asked(t, s, id, now+3600, Z, A)
	two := asked(t, s, id, now+7200, Z, A)
	three := asked(t, s, id, now+10800, Z)
	of := func(request int64) string { return fmt.Sprintf(`{"request_id":%d}`, request) }
	names := []string{fmt.Sprint(id), "5789640530410", fmt.Sprint(one), "5789640530777", fmt.Sprint(two), "5789640530776", fmt.Sprint(three), "5789640530775"}
	s.Scenarios(t, "/schedule/cover/accept", []apitest.Scenario{
		{Name: "not asked", Key: apitest.KeyReader, Body: of(one), Code: "AccessDenied", Says: []string{"was not asked"}},
		{Name: "other account", Key: apitest.KeyB, Body: of(one), Code: "ResourceNotFound", Says: []string{"cover_request"}},
		{Name: "a narrowed key", Key: narrowed(s), Body: of(one), Code: "AccessDenied", Says: []string{"narrowed"}},
		{Name: "golden", Key: apitest.KeyNothing, Body: of(one), Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			var reply schedule.CoverTaken
			r.Into(&reply)
			names = append(names, fmt.Sprint(reply.OverrideID), "5789640530999")
			apitest.Golden(t, "schedule_cover_accept", r.Body, fmt.Sprint(reply.OverrideID), "5789640530999")
			if last := (*events)[len(*events)-1]; last.Request.Status != "accepted" || fmt.Sprint(last.To) != fmt.Sprint([]int64{A}) {
				t.Errorf("published %v", last)
			}
		}},
		{Name: "second", Key: apitest.KeyA, Body: of(one), Code: "BadRequest", Says: []string{"another person"}},
	})
	s.Scenarios(t, "/schedule/cover/decline", []apitest.Scenario{
		{Name: "not asked", Key: apitest.KeyReader, Body: of(two), Code: "AccessDenied", Says: []string{"was not asked"}},
		{Name: "other account", Key: apitest.KeyB, Body: of(two), Code: "ResourceNotFound"},
		{Name: "golden", Key: apitest.KeyNothing, Body: of(two), Golden: "schedule_cover_decline"},
		{Name: "after it was accepted", Key: apitest.KeyA, Body: of(one), Code: "BadRequest"},
	})
	s.Scenarios(t, "/schedule/cover/cancel", []apitest.Scenario{
		{Name: "another person's", Key: apitest.KeyNothing, Body: of(three), Code: "AccessDenied", Says: []string{"another person's"}},
		{Name: "other account", Key: apitest.KeyB, Body: of(three), Code: "ResourceNotFound"},
		{Name: "golden", Key: apitest.KeyReader, Body: of(three), Golden: "schedule_cover_cancel"},
		{Name: "again", Key: apitest.KeyReader, Body: of(three), Code: "BadRequest", Says: []string{"cancelled"}},
		{Name: "accepted", Key: apitest.KeyReader, Body: of(one), Code: "BadRequest"},
		{Name: "a manager", Key: apitest.KeyA, Body: of(two), Then: func(t *testing.T, _ *apitest.Server, _ apitest.Reply) {
			if last := (*events)[len(*events)-1]; fmt.Sprint(last.To) != fmt.Sprint([]int64{B}) {
				t.Errorf("published %v", last)
			}
		}},
	})
	s.Scenarios(t, "/schedule/cover/list", []apitest.Scenario{
		{Name: "golden", Key: apitest.KeyNothing, Body: `{"status":"accepted"}`, Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			apitest.Golden(t, "schedule_cover_list", r.Body, names...)
		}},
		{Name: "of the caller, as asked", Key: apitest.KeyNothing, Body: `{}`, Then: says(`"total":3`)},
		{Name: "of the caller, who asks", Key: apitest.KeyReader, Body: fmt.Sprintf(`{"schedule_ids":[%d]}`, id), Then: says(`"total":3`)},
		{Name: "of another person", Key: apitest.KeyA, Body: fmt.Sprintf(`{"person_id":%d}`, A), Then: says(`"total":0`)},
		{Name: "of another schedule", Key: apitest.KeyA, Body: `{"schedule_ids":[42]}`, Then: says(`"total":0`)},
		{Name: "other account", Key: apitest.KeyB, Body: `{}`, Then: says(`"total":0`)},
	})
	four := asked(t, s, id, now+14400, Z, A)
	waiting := func(key string, want int, what string) {
		t.Helper()
		if r := s.Call(key, "/schedule/cover/list", object{"for_me": true}); !contains(string(r.Body), fmt.Sprintf(`"total":%d`, want)) {
			t.Errorf("%s: %s", what, r.Body)
		}
	}
	waiting(apitest.KeyNothing, 1, "who is asked")
	waiting(apitest.KeyReader, 0, "who asks")
	s.Call(apitest.KeyNothing, "/schedule/cover/decline", of(four)).Into(&struct{}{})
	waiting(apitest.KeyNothing, 0, "who has declined")
	waiting(apitest.KeyA, 1, "the other who is asked")
	s.Clock.Add(4 * time.Hour)
	waiting(apitest.KeyA, 0, "who is asked, when the shift has begun")
	s.Exec(`UPDATE cover_request SET asked = ',5,', person_id = 6`)
	if r := s.Call(apitest.KeyNothing, "/schedule/cover/list", object{}); !contains(string(r.Body), `"total":0`) {
		t.Errorf("who is not concerned sees %s", r.Body)
	}
}

func TestScheduleMayForbidSelfService(t *testing.T) {
	t.Parallel()
	s, id, now, _ := shared(t, object{"self_service": false})
	if info(t, s, id, now, now+60).SelfService {
		t.Error("it is shown as allowed")
	}
	body := object{"schedule_id": id, "person_id": B, "to": Z, "start": now, "end": now + 60}
	for path, key := range map[string]string{"/schedule/shift/take": apitest.KeyNothing, "/schedule/shift/hand-over": apitest.KeyReader, "/schedule/cover/request": apitest.KeyReader} {
		if r := s.Call(key, path, body); r.Code != "AccessDenied" || !contains(string(r.Body), "manages schedules") {
			t.Errorf("%s answers %s", path, r.Body)
		}
	}
	s.Call(apitest.KeyA, "/schedule/shift/take", body).Into(&struct{}{})
	var records []schedule.Record
	s.Read(func(tx *db.Tx) (err error) {
		records, err = schedule.Dump(tx, box(t), apitest.AccountA, true)
		return err
	})
	if records[0].SelfService == nil || *records[0].SelfService {
		t.Error("the record of an account file does not forbid it")
	}
	s.Call(apitest.KeyA, "/schedule/update", object{"schedule_id": id, "status": 1}).Into(&struct{}{})
	if r := s.Call(apitest.KeyA, "/schedule/shift/take", body); r.Code != "BadRequest" || !contains(string(r.Body), "disabled") {
		t.Errorf("a disabled schedule answers %s", r.Body)
	}
}

// Whatever persons take, hand over, accept and take back, each moment keeps a person with each role that had one.
func TestSelfServiceLeavesNoShiftWithoutPerson(t *testing.T) {
	t.Parallel()
	const seed = 20261124
	r := rand.New(rand.NewPCG(seed, 1))
	s, id, now, _ := shared(t)
	keys, persons := []string{apitest.KeyReader, apitest.KeyNothing, apitest.KeyA}, []int64{B, Z, A}
	var requests []int64
	done := map[string]int{}
	for range 300 {
		i, from := r.IntN(3), now+r.Int64N(3*86400)
		part := object{"schedule_id": id, "start": from, "end": from + 1 + r.Int64N(86400), "person_id": persons[r.IntN(3)], "to": persons[r.IntN(3)], "role_id": r.Int64N(3) - 1}
		path := []string{"/schedule/shift/take", "/schedule/shift/hand-over", "/schedule/cover/request", "/schedule/cover/accept", "/schedule/cover/decline"}[r.IntN(5)]
		if len(requests) > 0 {
			part["request_id"] = requests[r.IntN(len(requests))]
		} else {
			part["request_id"] = 1
		}
		s.Clock.Add(time.Minute)
		reply := s.Call(keys[i], path, part)
		if reply.Code != "" {
			continue
		}
		done[path]++
		var made schedule.HandedOver
		reply.Into(&made)
		if made.RequestID != 0 {
			requests = append(requests, made.RequestID)
		}
	}
	if len(done) < 5 {
		t.Fatalf("seed %d: only %v were done", seed, done)
	}
	at := now
	for _, e := range *info(t, s, id, now, now+4*86400).FinalSchedule.Schedules {
		served := map[int64]bool{}
		for _, m := range e.Group.Members {
			served[m.RoleID] = served[m.RoleID] || len(m.PersonIDs) > 0
		}
		if e.Start != at || !served[0] || !served[1] {
			t.Fatalf("seed %d: from %d on the roles are %v, after %d", seed, e.Start, served, at)
		}
		at = e.End
	}
	if at != now+4*86400 {
		t.Errorf("seed %d: no one is on call from %d on", seed, at)
	}
}

func TestRequestsForCoverAreDeletedLater(t *testing.T) {
	t.Parallel()
	s, id, now, _ := shared(t)
	asked(t, s, id, now, Z)
	prune := func(at int64) string {
		for _, kept := range (&schedule.Service{}).Module().Prune {
			s.Write(func(tx *db.Tx) error { _, err := kept.Of(tx, apitest.AccountA, time.Unix(at, 0)); return err })
		}
		return column(t, s, `SELECT CAST(count(*) AS TEXT) FROM cover_request`)
	}
	if n := prune(now + 3600 + 30*86400); n != "1" {
		t.Error("deleted before 30 days")
	}
	if n := prune(now + 3601 + 30*86400); n != "0" {
		t.Error("kept after 30 days")
	}
	asked(t, s, id, now, Z)
	s.Call(apitest.KeyA, "/schedule/delete", object{"schedule_ids": []int64{id}}).Into(&struct{}{})
	if n := prune(now); n != "0" {
		t.Error("kept without its schedule")
	}
}
