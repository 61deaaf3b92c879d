package schedule_test

import (
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/ratelimit"
	"tocsin/internal/schedule"
)

func TestPreview(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Grant(auth.SchedulesRead)
	body := func(rest object) string {
		o := object{"schedule_name": "Preview Schedule",
			"layers": []any{layer(1775980800, []int64{A, B}, object{"day_mask": object{"repeat": []int{1, 2, 3, 4, 5}}})}}
		for k, v := range rest {
			o[k] = v
		}
		return text(t, o)
	}
	s.Scenarios(t, "/schedule/preview", []apitest.Scenario{
		{Name: "golden", Key: apitest.KeyReader, Golden: "schedule_preview",
			Body: body(object{"start": 1775980800, "end": 1776240000, "description": "d", "team_id": apitest.TeamA, "status": 1,
				"notify": object{"advance_in_time": 300}, "schedule_id": 5})},
		{Name: "without permission", Key: apitest.KeyNothing, Body: body(nil), Code: "AccessDenied"},
		{Name: "other account", Key: apitest.KeyB, Body: body(object{"start": 1775980800, "end": 1776240000})},
		{Name: "no name", Body: body(object{"schedule_name": nil, "start": 1775980800, "end": 1776240000})},
		{Name: "no layers", Body: `{"start":1775980800,"end":1776240000}`},
		{Name: "no window", Body: body(nil), Code: "InvalidParameter", Says: []string{"is required"}},
		{Name: "no start", Body: body(object{"end": 1776240000}), Code: "InvalidParameter", Says: []string{"start", "required"}},
		{Name: "no end", Body: body(object{"start": 1775980800}), Code: "InvalidParameter", Says: []string{"end", "required"}},
		{Name: "end null", Body: body(object{"start": 1775980800, "end": nil}), Code: "InvalidParameter", Says: []string{"end"}},
		{Name: "45 days", Body: body(object{"start": 1775980800, "end": 1775980800 + 45*86400})},
		{Name: "a second more", Body: body(object{"start": 1775980800, "end": 1775980801 + 45*86400}), Code: "InvalidParameter",
			Says: []string{"end", "45 days"}},
		{Name: "no second", Body: body(object{"start": 1775980800, "end": 1775980800}), Code: "InvalidParameter",
			Says: []string{"end", "after start"}},
		{Name: "nine digits", Body: body(object{"start": 999999999, "end": 1000000000}), Code: "InvalidParameter",
			Says: []string{"start", "1000000000"}},
		{Name: "eleven digits", Body: body(object{"start": 9999999999, "end": 10000000000}), Code: "InvalidParameter",
			Says: []string{"end", "9999999999"}},
		{Name: "name of 41", Body: body(object{"schedule_name": "12345678901234567890123456789012345678901", "start": 1775980800,
			"end": 1776240000}), Code: "InvalidParameter", Says: []string{"schedule_name", "40"}},
		{Name: "bad layer", Body: `{"start":1775980800,"end":1776240000,"layers":[{"layer_start":5}]}`, Code: "InvalidParameter",
			Says: []string{"layers[0].rotation_unit"}},
		{Name: "malformed", Body: `nope`, Code: "InvalidParameter"},
		{Name: "unknown person", Body: text(t, object{"start": 1775980800, "end": 1776240000, "layers": []any{layer(1775980800, []int64{99})}}),
			Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
				var reply schedule.Schedule
				if r.Into(&reply); len(reply.Warnings) != 1 || !contains(reply.Warnings[0].English(), "99") {
					t.Errorf("warnings %q", reply.Warnings)
				}
			}},
	})
	if n := column(t, s, `SELECT CAST(count(*) AS TEXT) FROM schedule`); n != "0" {
		t.Errorf("previews left %s schedules behind", n)
	}
}

func TestPreviewHasItsOwnRateLimit(t *testing.T) {
	t.Parallel()
	r := &schedule.Service{Keyring: box(t)}
	s := apitest.StartWith(t, ratelimit.Rate{PerMinute: 1000, PerSecond: 50}, r.Ops())
	for i := range 11 {
		r := s.Call(apitest.KeyA, "/schedule/preview", `{"start":1775980800,"end":1776240000}`)
		if want := map[bool]string{true: "RequestTooFrequently"}[i == 10]; r.Code != want {
			t.Fatalf("call %d in one second: code %q, want %q", i+1, r.Code, want)
		}
	}
	for _, op := range (&schedule.Service{}).Ops() {
		if want := (ratelimit.Rate{PerMinute: 60, PerSecond: 10}); op.Path == "/schedule/preview" && op.Rate != want {
			t.Errorf("limits %v, want %v", op.Rate, want)
		}
	}
}
