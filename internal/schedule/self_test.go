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

func TestSelf(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := full(t, s) // B and Z take shifts, A has a swap on 2026-04-14 from 00:00 to 12:00
	s.Grant(auth.SchedulesRead)
	var reply api.Items[schedule.Schedule]
	is := func(want int) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			if r.Into(&reply); len(reply.Items) != want {
				t.Errorf("want %d schedules, got %s", want, r.Data)
			}
		}
	}
	s.Scenarios(t, "/schedule/self", []apitest.Scenario{
		{Name: "golden", Key: apitest.KeyReader, Body: `{}`, Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			apitest.Golden(t, "schedule_self", r.Body, fmt.Sprint(id), "5789640530410")
		}},
		{Name: "without permission", Key: apitest.KeyNothing, Body: `{}`, Code: "AccessDenied"},
		{Name: "other account", Key: apitest.KeyB, Body: `{}`, Data: `{"items":[]}`},
		{Name: "another person", Key: apitest.KeyReader, Body: fmt.Sprintf(`{"person_id":%d,"start":1776096000,"end":1776096001}`, int64(A)), Then: is(1)},
		{Name: "an unknown person", Body: `{"person_id":42}`, Data: `{"items":[]}`},
		{Name: "in any group", Body: ``, Then: is(1)},
		{Name: "on call", Body: `{"start":1776096000,"end":1776096001}`, Then: is(1)},
		{Name: "not on call", Body: `{"start":1776139200,"end":1776182400}`, Then: is(0)},
		{Name: "on call until then", Key: apitest.KeyReader, Body: `{"start":1776096000,"end":1776139200}`, Then: is(0)}, // preempted
		{Name: "30 days", Body: `{"start":1776009600,"end":1778601600}`, Then: is(1)},
		{Name: "a second more", Body: `{"start":1776009600,"end":1778601601}`, Code: "InvalidParameter", Says: []string{"end", "30 days"}},
		{Name: "no second", Body: `{"start":1776009600,"end":1776009600}`, Code: "InvalidParameter", Says: []string{"end", "after start"}},
		{Name: "end alone", Body: `{"end":1776009600}`, Code: "InvalidParameter", Says: []string{"start", "together"}},
		{Name: "nine digits", Body: `{"start":999999999,"end":1000000000}`, Code: "InvalidParameter", Says: []string{"start", "1000000000"}},
		{Name: "malformed", Body: `{"start":"now"}`, Code: "InvalidParameter", Says: []string{"start", "integer"}},
	})
}

// TestSelfIgnoresDigitsElsewhere has the caller's digits in a name and in another person's identifier.
func TestSelfIgnoresDigitsElsewhere(t *testing.T) {
	t.Parallel()
	s := start(t)
	create(t, s, object{"layers": []any{layer(1776009600, []int64{10*A + 1, B}, object{"layer_name": fmt.Sprint(A)})}})
	var reply api.Items[schedule.Schedule]
	if s.Call(apitest.KeyA, "/schedule/self", `{}`).Into(&reply); len(reply.Items) != 0 {
		t.Errorf("got %s", text(t, reply))
	}
}

// TestReadersAgree compares /schedule/info, /schedule/preview, /schedule/list and /schedule/self for one window.
// TOCSIN_SCHEDULE_CASES sets how many windows the test tries.
func TestReadersAgree(t *testing.T) {
	t.Parallel()
	s, r := start(t), newRandom(t)
	s.Exec(`UPDATE account SET time_zone = 'America/New_York' WHERE account_id = $1`, apitest.AccountA)
	s.Clock.Add(time.Second)
	for i := range apitest.Setting(t, "TOCSIN_SCHEDULE_CASES", 12) {
		from := 1775500000 + r.Int64N(2_000_000)
		to := from + 1 + r.Int64N(30*86400)
		body := r.body()
		id := create(t, s, body)
		byInfo := info(t, s, id, from, to)

		body["start"], body["end"] = from, to
		var byPreview schedule.Schedule
		s.Call(apitest.KeyA, "/schedule/preview", body).Into(&byPreview)
		if text(t, byPreview.ScheduleLayers) != text(t, byInfo.ScheduleLayers) ||
			text(t, byPreview.FinalSchedule) != text(t, byInfo.FinalSchedule) {
			t.Fatalf("case %d: preview and info differ for %s", i, text(t, body))
		}

		var page schedule.Page
		s.Call(apitest.KeyA, "/schedule/list", object{"start": from, "end": to, "limit": 100}).Into(&page)
		for _, item := range page.Items {
			if item.ScheduleID == id && text(t, item) != text(t, byInfo) {
				t.Fatalf("case %d: list and info differ for %s", i, text(t, body))
			}
		}

		serves := false
		for _, e := range *byInfo.FinalSchedule.Schedules {
			for _, m := range e.Group.Members {
				for _, p := range m.PersonIDs {
					serves = serves || p == A
				}
			}
		}
		var mine api.Items[schedule.Schedule]
		s.Call(apitest.KeyA, "/schedule/self", object{"start": from, "end": to}).Into(&mine)
		if (len(mine.Items) == 1) != serves {
			t.Fatalf("case %d: on call by info %t, schedules by self %d for %s", i, serves, len(mine.Items), text(t, body))
		}
		s.Call(apitest.KeyA, "/schedule/delete", object{"schedule_ids": []int64{id}}).Into(&struct{}{})
	}
}
