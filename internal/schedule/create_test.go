package schedule_test

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/schedule"
)

// with returns the body of a schedule with one layer of person A, with changes.
func with(t *testing.T, changes object) string {
	t.Helper()
	return text(t, object{"schedule_name": "S", "layers": []any{layer(1776009600, []int64{A}, changes)}})
}

func TestCreate(t *testing.T) {
	t.Parallel()
	s := start(t)
	name40, name41 := strings.Repeat("值", 40), strings.Repeat("值", 41)
	invalid := func(name, body string, parts ...string) apitest.Scenario {
		return apitest.Scenario{Name: name, Body: body, Code: "InvalidParameter", Says: parts}
	}
	fine := func(name, body string) apitest.Scenario { return apitest.Scenario{Name: name, Body: body} }

	s.Scenarios(t, "/schedule/create", []apitest.Scenario{
		{Name: "golden", Body: text(t, object{"schedule_name": "Production", "team_id": apitest.TeamA,
			"layers": []any{layer(1776009600, []int64{A, B})}}),
			Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
				var reply schedule.Created
				r.Into(&reply)
				apitest.Golden(t, "schedule_create", r.Body, fmt.Sprint(reply.ScheduleID), "6294534917601")
			}},
		{Name: "reader is denied", Key: apitest.KeyNothing, Body: `{"schedule_name":"x"}`, Code: "AccessDenied",
			Says: []string{"Schedules Manage (on-call)"}},
		invalid("malformed", `{"schedule_name":`),
		invalid("no name", `{}`, "schedule_name", "1 to 40"),
		invalid("empty names", `{"schedule_name":"","name":""}`, "schedule_name"),
		invalid("null names", `{"schedule_name":null,"name":null}`, "schedule_name"),
		fine("name of 40", `{"schedule_name":"`+name40+`"}`),
		invalid("name of 41", `{"schedule_name":"`+name41+`"}`, "schedule_name", "40"),
		fine("older name of 40", `{"name":"`+name40+`"}`),
		invalid("older name of 41", `{"name":"`+name41+`"}`, "name", "40"),
		invalid("name with U+0000", `{"schedule_name":"a\u0000"}`, "schedule_name", "U+0000"),
		fine("description of 500", `{"schedule_name":"x","description":"`+strings.Repeat("é", 500)+`"}`),
		invalid("description of 501", `{"schedule_name":"x","description":"`+strings.Repeat("é", 501)+`"}`, "description", "500"),
		invalid("negative team", `{"schedule_name":"x","team_id":-1}`, "team_id", "-1"),
		fine("disabled", `{"schedule_name":"x","status":1}`),
		invalid("status 2", `{"schedule_name":"x","status":2}`, "status", "2"),
		fine("with an id, which is used on update only", `{"schedule_name":"x","schedule_id":7}`),
		invalid("blank name", `{"schedule_name":" \t\u3000\u200b"}`, "schedule_name", "blank"),
		invalid("blank older name", `{"name":"  "}`, "name", "blank"),
		fine("with id 0", `{"schedule_name":"x","schedule_id":0}`),
		fine("with nulls", `{"schedule_name":"x","name":null,"description":null,"team_id":null,"layers":null,"notify":null,"schedule_id":null,"start":null,"end":null}`),
		fine("zone", `{"schedule_name":"x","time_zone":"Europe/London"}`),
		invalid("unknown zone", `{"schedule_name":"x","time_zone":"Mars/Base"}`, "time_zone", "Mars/Base"),
		invalid("machine's zone", `{"schedule_name":"x","time_zone":"Local"}`, "time_zone", "Local"),

		fine("window of 45 days", `{"schedule_name":"x","start":1712000000,"end":1715888000}`),
		invalid("window of 45 days and a second", `{"schedule_name":"x","start":1712000000,"end":1715888001}`, "end", "45 days"),
		invalid("start alone", `{"schedule_name":"x","start":1712000000}`, "end", "together"),
		invalid("end alone", `{"schedule_name":"x","end":1712000000}`, "start", "together"),
		invalid("nine digits", `{"schedule_name":"x","start":999999999,"end":1000000000}`, "start", "1000000000"),
		invalid("eleven digits", `{"schedule_name":"x","start":9999999999,"end":10000000000}`, "end", "9999999999"),
		invalid("empty window", `{"schedule_name":"x","start":1712000000,"end":1712000000}`, "end", "after start"),
	})
}

func TestCreateLayers(t *testing.T) {
	t.Parallel()
	s := start(t)
	cases := []struct {
		name    string
		changes object
		want    []string // nil: accepted
	}{
		{"no start", object{"layer_start": nil}, []string{"layers[0].layer_start", "required"}},
		{"start under its older name", object{"layer_start": nil, "enable_time": 1776009600}, nil},
		{"start in milliseconds", object{"layer_start": 1776009600000}, []string{"layers[0].layer_start", "1776009600000"}},
		{"negative start", object{"layer_start": -1}, []string{"layers[0].layer_start", "-1"}},
		{"end after start", object{"layer_end": 1776009601}, nil},
		{"end at start", object{"layer_end": 1776009600}, []string{"layers[0].layer_end", "after"}},
		{"older end at start", object{"expire_time": 1776009600}, []string{"layers[0].layer_end", "after"}},
		{"override without end", object{"mode": 1}, []string{"layers[0].layer_end", "required"}},
		{"override without rotation", object{"mode": 1, "layer_end": 1776096000, "rotation_unit": nil, "rotation_value": nil}, nil},
		{"override with empty rotation", object{"mode": 1, "layer_end": 1776096000, "rotation_unit": "", "rotation_value": 0,
			"rotation_duration": 0}, nil},
		{"mode 2", object{"mode": 2}, []string{"layers[0].mode", "2"}},
		{"hidden 2", object{"hidden": 2}, []string{"layers[0].hidden", "2"}},
		{"no groups", object{"groups": []any{}}, []string{"layers[0].groups", "person"}},
		{"null groups", object{"groups": nil}, []string{"layers[0].groups", "person"}},
		{"group without members", object{"groups": []any{object{"group_name": "A"}}}, []string{"layers[0].groups", "person"}},
		{"group without persons", object{"groups": []any{object{"members": []any{object{"role_id": 0, "person_ids": []int{}}}}}},
			[]string{"layers[0].groups", "person"}},
		{"person 0", object{"groups": []any{object{"members": []any{object{"person_ids": []int{0}}}}}},
			[]string{"layers[0].groups[0].members[0].person_ids[0]", "got 0"}},
		{"negative role", object{"groups": []any{object{"members": []any{object{"role_id": -1, "person_ids": []int64{A}}}}}},
			[]string{"layers[0].groups[0].members[0].role_id", "-1"}},
		{"value 30", object{"rotation_value": 30}, nil},
		{"value 31", object{"rotation_value": 31}, []string{"layers[0].rotation_value", "30", "31"}},
		{"value 0", object{"rotation_value": 0}, []string{"layers[0].rotation_value", "1", "0"}},
		{"value without unit", object{"rotation_unit": nil}, []string{"layers[0].rotation_unit", "hour, day, week or month"}},
		{"unit year", object{"rotation_unit": "year"}, []string{"layers[0].rotation_unit", "year"}},
		{"no rotation", object{"rotation_unit": nil, "rotation_value": nil}, []string{"layers[0].rotation_unit", "required"}},
		{"duration of 31 days", object{"rotation_unit": nil, "rotation_value": nil, "rotation_duration": 31 * 86400},
			[]string{"layers[0].rotation_duration", "2678400"}},
		{"duration of half an hour", object{"rotation_unit": nil, "rotation_value": nil, "rotation_duration": 1800},
			[]string{"layers[0].rotation_duration", "1800"}},
		{"negative duration", object{"rotation_duration": -1}, []string{"layers[0].rotation_duration", "-1"}},
		{"handoff 604799", object{"rotation_unit": "week", "handoff_time": 604799}, nil},
		{"handoff 604800", object{"rotation_unit": "week", "handoff_time": 604800}, []string{"layers[0].handoff_time", "604799", "604800"}},
		{"restrict_mode 3", object{"restrict_mode": 3}, []string{"layers[0].restrict_mode", "3"}},
		{"offset 86400 of a day", object{"restrict_mode": 1, "restrict_periods": []any{object{"restrict_start": 0, "restrict_end": 86400}}}, nil},
		{"offset 86401 of a day", object{"restrict_mode": 1, "restrict_periods": []any{object{"restrict_start": 0, "restrict_end": 86401}}},
			[]string{"layers[0].restrict_periods[0].restrict_end", "86400", "86401"}},
		{"offset 604800 of a week", object{"restrict_mode": 2, "restrict_periods": []any{object{"restrict_start": 604800, "restrict_end": 0}}},
			nil},
		{"offset 604801 of a week", object{"restrict_mode": 2, "restrict_periods": []any{object{"restrict_start": 604801, "restrict_end": 0}}},
			[]string{"layers[0].restrict_periods[0].restrict_start", "604800", "604801"}},
		{"older offset 86401 of a day", object{"restrict_mode": 1, "restrict_start": 86401},
			[]string{"layers[0].restrict_start", "86400", "86401"}},
		{"older offset 604801", object{"restrict_end": 604801}, []string{"layers[0].restrict_end", "604800", "604801"}},
		{"mask", object{"day_mask": object{"repeat": []int{0, 6}}}, nil},
		{"mask null", object{"day_mask": nil}, nil},
		{"mask of null", object{"day_mask": object{"repeat": nil}}, nil},
		{"day 7", object{"day_mask": object{"repeat": []int{0, 7}}}, []string{"layers[0].day_mask.repeat[1]", "7"}},
		{"day -1", object{"day_mask": object{"repeat": []int{-1}}}, []string{"layers[0].day_mask.repeat[0]", "-1"}},
		{"zone", object{"time_zone": "Asia/Tokyo"}, nil},
		{"unknown zone", object{"time_zone": "Mars/Base"}, []string{"layers[0].time_zone", "Mars/Base"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := s.Call(apitest.KeyA, "/schedule/create", with(t, c.changes))
			if (r.Code == "InvalidParameter") != (c.want != nil) || r.Code != "" && r.Code != "InvalidParameter" {
				t.Fatalf("code %q: %s", r.Code, r.Body)
			}
			for _, part := range c.want {
				if !strings.Contains(r.Message, part) {
					t.Errorf("message %q does not contain %q", r.Message, part)
				}
			}
		})
	}
}

func TestCreateNotify(t *testing.T) {
	t.Parallel()
	s := start(t)
	cases := []struct {
		name, notify string
		want         []string // nil: accepted
	}{
		{"empty", `{}`, nil},
		{"at the start of a shift", `{"advance_in_time":0}`, nil},
		{"after the start of a shift", `{"advance_in_time":-1}`, []string{"notify.advance_in_time", "-1"}},
		{"every morning", `{"fixed_time":{"cycle":"day","start":"23:59"}}`, nil},
		{"every week", `{"fixed_time":{"cycle":"week","start":"08:00"}}`, []string{"notify.fixed_time.cycle", "week"}},
		{"at midnight by another name", `{"fixed_time":{"cycle":"day","start":"24:00"}}`, []string{"notify.fixed_time.start", "24:00"}},
		{"half a fixed time", `{"fixed_time":{"cycle":"day"}}`, nil},
		{"carrier pigeon", `{"webhooks":[{"type":"pigeon","settings":{}}]}`, []string{"notify.webhooks[0].type", "pigeon", "teams_app"}},
		{"no type", `{"webhooks":[{"settings":{}}]}`, []string{"notify.webhooks[0].type"}},
		{"token of another kind", `{"webhooks":[{"type":"slack","settings":{"token":5}}]}`, []string{"notify.webhooks[0].settings.token"}},
	}
	for _, kind := range []string{"feishu", "dingtalk", "wecom", "slack", "telegram", "zoom", "feishu_app", "dingtalk_app", "wecom_app",
		"slack_app", "teams_app"} {
		cases = append(cases, struct {
			name, notify string
			want         []string
		}{kind, `{"webhooks":[{"type":"` + kind + `","settings":{"token":"t","alias":"a","data_source_id":1,"chat_ids":["c"],"verify_token":"v"}}]}`, nil})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := s.Call(apitest.KeyA, "/schedule/create", `{"schedule_name":"S","notify":`+c.notify+`}`)
			if (r.Code == "InvalidParameter") != (c.want != nil) || r.Code != "" && r.Code != "InvalidParameter" {
				t.Fatalf("code %q: %s", r.Code, r.Body)
			}
			for _, part := range c.want {
				if !strings.Contains(r.Message, part) {
					t.Errorf("message %q does not contain %q", r.Message, part)
				}
			}
		})
	}
}

// A method that no sender knows would be stored and notify no one.
func TestUnknownMethodsAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Grant(auth.SchedulesManage)
	s.Converse(t, []apitest.Turn{
		{Key: apitest.KeyReader, Path: "/schedule/create", Body: `{"schedule_name":"S","notify":{"by":{"follow_preference":false,"personal_channels":["email","telepathy"]}}}`,
			Code: "InvalidParameter", Says: []string{"notify.by.personal_channels[1]", "one of email, sms, voice", "telepathy"}},
		{Key: apitest.KeyReader, Path: "/schedule/create", Body: `{"schedule_name":"S","notify":{"by":{"follow_preference":false,"personal_channels":["phone","ntfy","feishu_app:5"]}}}`, Has: `{}`},
	})
}

func TestCreateWarns(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Grant(auth.SchedulesManage)
	cases := []struct {
		name, body string
		want       []string
	}{
		{"nothing to say", text(t, object{"schedule_name": "S", "team_id": apitest.TeamA, "layers": []any{layer(1776009600, []int64{A, B})}}),
			nil},
		{"unknown team", `{"schedule_name":"S","team_id":42}`, []string{"team_id", "42"}},
		{"id of another schedule", `{"schedule_name":"S","schedule_id":7}`, []string{"schedule_id: 7 is not used", "/schedule/update"}},
		{"nights under a mask", text(t, object{"schedule_name": "S", "status": 1, "layers": []any{layer(1776009600, []int64{A}, object{
			"day_mask": object{"repeat": []int{1, 2, 3, 4, 5}}, "restrict_mode": 1,
			"restrict_periods": []any{object{"restrict_start": 19 * 3600, "restrict_end": 7 * 3600}}})}}),
			[]string{`layers: layers[0] "L": `, "19:00 to 07:00 of Friday end on Saturday at 00:00", "Monday is on call from 00:00 to 07:00", "mask_continuous_enabled"}},
		{"hours in a zone with clock changes", text(t, object{"schedule_name": "S", "layers": []any{layer(1776009600, []int64{A}, object{
			"time_zone": "Europe/Berlin", "rotation_unit": "hour", "rotation_value": 12})}}),
			[]string{`layers: layers[0] "L": `, "Europe/Berlin on 2026-10-25", "rotation_unit day"}},
		{"unknown persons", text(t, object{"schedule_name": "S", "layers": []any{layer(1776009600, []int64{A, 77, apitest.OwnerB, 77})}}),
			[]string{"layers", fmt.Sprintf("77, %d", int64(apitest.OwnerB))}},
		{"a hole each week", text(t, object{"schedule_name": "S", "layers": []any{layer(1776009600, []int64{A}, object{
			"day_mask": object{"repeat": []int{1, 2, 3, 4, 5}}})}}),
			[]string{"layers: no one is on call every Saturday 00:00 to Monday 00:00, 13 times from 2026-04-18 to 2026-07-13 (Asia/Shanghai)"}},
		{"a person in two layers", text(t, object{"schedule_name": "S", "layers": []any{layer(1776009600, []int64{A}), layer(1776009600, []int64{A})}}),
			[]string{"layers: ", "is on call twice at once, by layers[0]", "and layers[1]"}},
		{"a layer that has ended", text(t, object{"schedule_name": "S", "layers": []any{layer(1776009600, []int64{A}),
			layer(1766009600, []int64{B}, object{"layer_end": 1776009600})}}), []string{"layers: layers[1]", "has ended"}},
		{"hours without a mode", text(t, object{"schedule_name": "S", "layers": []any{layer(1776009600, []int64{A}, object{
			"restrict_periods": []any{object{"restrict_start": 0, "restrict_end": 3600}}})}}), []string{"layers[0].restrict_periods", "restrict_mode is 0"}},
		{"weekly hours under a mask", text(t, object{"schedule_name": "S", "status": 1, "layers": []any{layer(1776009600, []int64{A}, object{
			"day_mask": object{"repeat": []int{1}}, "restrict_mode": 2,
			"restrict_periods": []any{object{"restrict_start": 0, "restrict_end": 3600}}})}}), []string{"layers[0]"}},
		{"robot without token", `{"schedule_name":"S","notify":{"webhooks":[{"type":"slack","settings":{}}]}}`,
			[]string{"notify.webhooks[0].settings", "token"}},
		{"application without chats", `{"schedule_name":"S","notify":{"webhooks":[{"type":"feishu_app","settings":{"integration_id":5}}]}}`,
			[]string{"notify.webhooks[0].settings", "chat_ids"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var reply schedule.Created
			r := s.Call(apitest.KeyReader, "/schedule/create", c.body)
			r.Into(&reply)
			if c.want == nil {
				if strings.Contains(string(r.Data), "warnings") {
					t.Fatalf("want no warnings, got %s", r.Data)
				}
				return
			}
			if len(reply.Warnings.Warnings) != 1 {
				t.Fatalf("want one warning, got %q", reply.Warnings.Warnings)
			}
			for _, part := range c.want {
				if !strings.Contains(reply.Warnings.Warnings[0].English(), part) {
					t.Errorf("warning %q does not contain %q", reply.Warnings.Warnings[0].English(), part)
				}
			}
		})
	}
}
