package schedule_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
)

func TestUpdate(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := full(t, s)
	s.Grant(auth.SchedulesRead)
	at := func(rest string) string { return fmt.Sprintf(`{"schedule_id":%d%s}`, id, rest) }
	before := read(t, s, id)
	untouched := func(t *testing.T, s *apitest.Server, _ apitest.Reply) {
		if after := read(t, s, id); !reflect.DeepEqual(before, after) {
			t.Errorf("changed from %s\nto %s", text(t, before), text(t, after))
		}
	}
	s.Scenarios(t, "/schedule/update", []apitest.Scenario{
		{Name: "reader is denied", Key: apitest.KeyReader, Body: at(`,"name":"x"`), Code: "AccessDenied", Then: untouched},
		{Name: "other account", Key: apitest.KeyB, Body: at(`,"name":"x"`), Code: "ResourceNotFound", Then: untouched},
		{Name: "unknown", Body: `{"schedule_id":42,"name":"x"}`, Code: "ResourceNotFound", Says: []string{"42"}},
		{Name: "no id", Body: `{"name":"x"}`, Code: "InvalidParameter", Says: []string{"schedule_id"}},
		{Name: "malformed", Body: `{`, Code: "InvalidParameter"},
		{Name: "fields before existence", Body: `{"schedule_id":42,"layers":[{}]}`, Code: "InvalidParameter",
			Says: []string{"layers[0].layer_start"}},
		{Name: "name of 41", Body: at(`,"schedule_name":"` + strings.Repeat("x", 41) + `"`), Code: "InvalidParameter",
			Says: []string{"schedule_name", "40"}, Then: untouched},
		{Name: "bad layer", Body: at(`,"layers":[{"layer_start":1776009600,"mode":1}]`), Code: "InvalidParameter",
			Says: []string{"layers[0].layer_end"}, Then: untouched},
		{Name: "bad window", Body: at(`,"start":1776009600`), Code: "InvalidParameter", Says: []string{"end"}, Then: untouched},
		{Name: "golden", Body: at(`,"schedule_name":"Renamed","description":"Second","team_id":` + fmt.Sprint(int64(apitest.TeamA))),
			Golden: "schedule_update"},
		{Name: "with a warning", Body: at(`,"team_id":7`), Data: `{"revision":3,"warnings":["layers: no one is on call every Saturday 00:00 to Monday 00:00, 13 times from 2026-04-18 to 2026-07-13 (Asia/Shanghai)","team_id: team 7 does not exist"]}`},
	})
}

// TestUpdateKeepsUnsentMembers checks that absent and null members stay, and the stamps of the change.
func TestUpdateKeepsUnsentMembers(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := full(t, s)
	s.Grant(auth.SchedulesManage)
	s.Call(apitest.KeyA, "/schedule/update", object{"schedule_id": id, "time_zone": "Asia/Shanghai", "status": 1}).Into(&struct{}{})
	now := func() float64 { return float64(s.Clock.Now().Unix()) }
	for _, c := range []struct {
		sent    string
		changes object // what is shown besides the stamps
	}{
		{`"schedule_name":"Other"`, object{"schedule_name": "Other", "name": "Other"}},
		{`"name":"Older","schedule_name":""`, object{"schedule_name": "Older", "name": "Older"}},
		{`"schedule_name":null,"name":null,"description":null,"team_id":null,"group_id":null,"status":null,"disabled":null,"time_zone":null,"layers":null,"notify":null`, nil},
		{`"description":""`, object{"description": ""}},
		{`"group_id":0`, object{"team_id": 0., "group_id": 0.}},
		{`"disabled":0`, object{"status": 0., "disabled": 0.}},
		{`"time_zone":""`, object{"time_zone": nil}},
		{`"notify":{}`, object{"notify": map[string]any{"fixed_time": nil, "by": nil, "webhooks": nil}}},
		{`"layers":[]`, object{"layers": []any{}, "schedule_layers": []any{}, "layer_schedules": []any{}, "cur_oncall": nil, "next_oncall": nil,
			"final_schedule": map[string]any{"layer_name": "", "name": "", "mode": 0., "schedules": []any{}}}},
	} {
		t.Run(c.sent, func(t *testing.T) {
			want := read(t, s, id)
			s.Call(apitest.KeyReader, "/schedule/update", fmt.Sprintf(`{"schedule_id":%d,%s}`, id, c.sent)).Into(&struct{}{})
			for name, value := range c.changes {
				want[name] = value
				if name == "time_zone" {
					delete(want, name)
				}
			}
			stamp := func(o map[string]any) { o["update_at"], o["update_by"] = now(), float64(apitest.Reader) }
			stamp(want)
			want["revision"] = want["revision"].(float64) + 1
			for _, l := range want["layers"].([]any) {
				stamp(l.(map[string]any))
			}
			got := read(t, s, id)
			for name := range got {
				if !reflect.DeepEqual(got[name], want[name]) {
					t.Errorf("%s is %s, want %s", name, text(t, got[name]), text(t, want[name]))
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d members, want %d", len(got), len(want))
			}
		})
	}
}
