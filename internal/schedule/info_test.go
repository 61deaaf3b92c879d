package schedule_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/schedule"
)

// full is a schedule with every kind of layer, created by the owner.
func full(t testing.TB, s *apitest.Server) int64 {
	return create(t, s, object{
		"schedule_name": "Production On-Call", "description": "Primary rotation", "team_id": apitest.TeamA,
		"layers": []any{
			layer(1767542400, []int64{B, Z}, object{"layer_name": "Weekdays", "day_mask": object{"repeat": []int{1, 2, 3, 4, 5}}}),
			layer(1776096000, []int64{A}, object{"layer_name": "Swap", "mode": 1, "layer_end": 1776139200, "weight": 1, "rotation_unit": nil,
				"rotation_value": nil}),
		},
		"notify": object{
			"advance_in_time": 300,
			"by":              object{"follow_preference": false, "personal_channels": []string{"email"}},
			"webhooks": []any{object{"type": "feishu_app",
				"settings": object{"data_source_id": 5427276014131, "chat_ids": []string{"oc_60a6"}, "verify_token": "hush", "reply_mode": "threads"}}},
		},
	})
}

func TestInfo(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := full(t, s)
	bare := create(t, s, object{"schedule_name": "Nobody"})
	s.Grant(auth.SchedulesRead)
	at := func(id int64, window string) string {
		return fmt.Sprintf(`{"schedule_id":%d%s}`, id, window)
	}

	s.Scenarios(t, "/schedule/info", []apitest.Scenario{
		{Name: "golden", Key: apitest.KeyReader, Body: at(id, `,"start":1776009600,"end":1776268800`),
			Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
				apitest.Golden(t, "schedule_info", r.Body, fmt.Sprint(id), "5789640530410")
			}},
		{Name: "no one on call", Body: at(bare, ``), Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			apitest.Golden(t, "schedule_info_nobody", r.Body, fmt.Sprint(bare), "5432326025106")
		}},
		{Name: "without permission", Key: apitest.KeyNothing, Body: at(id, ``), Code: "AccessDenied", Says: []string{"Schedules Read (on-call)"}},
		{Name: "other account", Key: apitest.KeyB, Body: at(id, ``), Code: "ResourceNotFound"},
		{Name: "unknown", Body: at(42, ``), Code: "ResourceNotFound", Says: []string{"42"}},
		{Name: "no id", Body: `{}`, Code: "InvalidParameter", Says: []string{"schedule_id", "required"}},
		{Name: "id null", Body: `{"schedule_id":null}`, Code: "InvalidParameter", Says: []string{"schedule_id"}},
		{Name: "malformed", Body: `[]`, Code: "InvalidParameter"},
		{Name: "default window", Body: at(id, `,"start":null,"end":null`), Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			now := s.Clock.Now().Unix()
			explicit := s.Call(apitest.KeyA, "/schedule/info", at(id, fmt.Sprintf(`,"start":%d,"end":%d`, now, now+7*86400)))
			if !apitest.SameJSON(r.Data, explicit.Data) {
				t.Error("without start and end the window must be the next seven days")
			}
		}},
		{Name: "45 days", Body: at(id, `,"start":1776009600,"end":1779897600`)},
		{Name: "a second more", Body: at(id, `,"start":1776009600,"end":1779897601`), Code: "InvalidParameter",
			Says: []string{"end", "45 days", "1779897601"}},
		{Name: "one second", Body: at(id, `,"start":1776009600,"end":1776009601`)},
		{Name: "no second", Body: at(id, `,"start":1776009600,"end":1776009600`), Code: "InvalidParameter", Says: []string{"end", "after start"}},
		{Name: "start alone", Body: at(id, `,"start":1776009600`), Code: "InvalidParameter", Says: []string{"end", "together"}},
		{Name: "end alone", Body: at(id, `,"end":1776009600`), Code: "InvalidParameter", Says: []string{"start", "together"}},
		{Name: "lowest ten digits", Body: at(id, `,"start":1000000000,"end":1000000001`)},
		{Name: "nine digits", Body: at(id, `,"start":999999999,"end":1000000001`), Code: "InvalidParameter",
			Says: []string{"start", "1000000000", "999999999"}},
		{Name: "zero", Body: at(id, `,"start":0,"end":0`), Code: "InvalidParameter", Says: []string{"1000000000", "got 0"}},
		{Name: "highest ten digits", Body: at(id, `,"start":9999999998,"end":9999999999`)},
		{Name: "eleven digits", Body: at(id, `,"start":9999999999,"end":10000000000`), Code: "InvalidParameter",
			Says: []string{"end", "9999999999", "10000000000"}},
		{Name: "too many names", Body: at(create(t, s, object{"layers": []any{layer(1776009600, []int64{A}, object{"rotation_unit": "hour",
			"groups": []any{object{"members": []any{object{"person_ids": many(2000)}}}}})}}), `,"start":1776009600,"end":1779897600`),
			Code: "InvalidParameter", Says: []string{"end", "shorter window"}},
	})
}

func many(n int64) []int64 {
	ids := []int64{}
	for i := range n {
		ids = append(ids, i+1)
	}
	return ids
}

// TestInfoShowsWorkedExamples checks the numbered examples of docs/timeline.md, section 2.
func TestInfoShowsWorkedExamples(t *testing.T) {
	t.Parallel()
	s := start(t)

	t.Run("W1", func(t *testing.T) {
		id := create(t, s, object{"layers": []any{layer(1766372400, []int64{11, 12, 13, 14, 15})}})
		s.Clock.Set(time.Unix(1778475795, 0))
		defer s.Clock.Set(apitest.Now)
		got := info(t, s, id, 1778468400, 1778641200)
		want := "A 1778468400-1778554800 0; B 1778554800-1778641200 1"
		if line((*got.ScheduleLayers)[0]) != want || line(got.FinalSchedule) != want {
			t.Errorf("got %s and finally %s", line((*got.ScheduleLayers)[0]), line(got.FinalSchedule))
		}
		now := fmt.Sprintf("%s %d-%d, %s %d-%d", got.CurOncall.Group.Name, got.CurOncall.Start, got.CurOncall.End, got.NextOncall.Group.Name,
			got.NextOncall.Start, got.NextOncall.End)
		if now != "A 1778468400-1778554800, B 1778554800-1778641200" {
			t.Errorf("now %s", now)
		}
	})

	t.Run("W7", func(t *testing.T) {
		id := create(t, s, object{"layers": []any{
			layer(1776042000, []int64{11, 12}),
			object{"mode": 1, "layer_start": 1776096000, "layer_end": 1776182400,
				"groups": []any{object{"group_name": "Z", "members": []any{object{"person_ids": []int64{13}}}}}},
		}})
		got := info(t, s, id, 1776042000, 1776301200)
		if want := "A 1776042000-1776096000 0; Z 1776096000-1776182400 0; B 1776182400-1776214800 1; A 1776214800-1776301200 0"; line(
			got.FinalSchedule) != want {
			t.Errorf("finally %s", line(got.FinalSchedule))
		}
		if want := "A 1776042000-1776128400 0; B 1776128400-1776214800 1; A 1776214800-1776301200 0"; line((*got.ScheduleLayers)[0]) != want {
			t.Errorf("layer %s", line((*got.ScheduleLayers)[0]))
		}
	})

	t.Run("W8", func(t *testing.T) {
		s.Exec(`UPDATE account SET time_zone = 'America/New_York' WHERE account_id = $1`, apitest.AccountA)
		defer s.Exec(`UPDATE account SET time_zone = 'Asia/Shanghai' WHERE account_id = $1`, apitest.AccountA)
		s.Clock.Add(time.Second) // found keys, and with them the account's zone, are trusted for half a second
		days := create(t, s, object{"layers": []any{layer(1772805600, []int64{11, 12})}})
		hours := create(t, s, object{"layers": []any{layer(1772805600, []int64{11, 12}, object{"rotation_unit": "hour", "rotation_value": 24})}})
		if got, want := line(info(t, s, days, 1772805600,
			1773147600).FinalSchedule), "A 1772805600-1772892000 0; B 1772892000-1772974800 1; A 1772974800-1773061200 0; B 1773061200-1773147600 1"; got != want {
			t.Errorf("by days %s", got)
		}
		if got, want := line(info(t, s, hours, 1772805600,
			1773064800).FinalSchedule), "A 1772805600-1772892000 0; B 1772892000-1772978400 1; A 1772978400-1773064800 0"; got != want {
			t.Errorf("by hours %s", got)
		}
	})
}

func TestTimeZonesOfLayerScheduleAndAccount(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := create(t, s, object{"time_zone": "Europe/London", "layers": []any{
		layer(1776009600, []int64{A}, object{"restrict_mode": 1, "restrict_periods": []any{object{"restrict_start": 0, "restrict_end": 3600}}}),
		layer(1776009600, []int64{A}, object{"restrict_mode": 1, "restrict_periods": []any{object{"restrict_start": 0, "restrict_end": 3600}},
			"time_zone": "Asia/Tokyo"}),
	}})
	got := info(t, s, id, 1776009600, 1776009600+86400)
	for i, want := range []string{"A 1776034800-1776038400 0", "A 1776092400-1776096000 0"} { // midnight in London (BST) and in Tokyo
		if line((*got.ScheduleLayers)[i]) != want {
			t.Errorf("layer %d: %s, want %s", i, line((*got.ScheduleLayers)[i]), want)
		}
	}
	if got.TimeZone != "Europe/London" || (*got.Layers)[1].TimeZone != "Asia/Tokyo" || (*got.Layers)[0].TimeZone != "" {
		t.Errorf("zones must be shown where they were set")
	}
	s.Call(apitest.KeyA, "/schedule/update", object{"schedule_id": id, "time_zone": ""}).Into(&struct{}{})
	if got := info(t, s, id, 1776009600, 1776009600+86400); line((*got.ScheduleLayers)[0]) != "A 1776009600-1776013200 0" {
		t.Errorf("without a zone the account's counts: %s", line((*got.ScheduleLayers)[0]))
	}
}

func TestOverridesComeAfterRotations(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := create(t, s, object{"layers": []any{
		layer(1776009600, []int64{A}, object{"layer_name": "O", "mode": 1, "layer_end": 1776096000}),
		layer(1776009600, []int64{B}, object{"layer_name": "R"}),
	}})
	got := info(t, s, id, 1776009600, 1776096000)
	if names := (*got.Layers)[0].Name + (*got.Layers)[1].Name; names != "OR" {
		t.Errorf("layers are shown in the order sent, got %s", names)
	}
	if names := (*got.ScheduleLayers)[0].Name + (*got.ScheduleLayers)[1].Name; names != "RO" {
		t.Errorf("computed layers are shown rotations first, got %s", names)
	}
}

func TestStackedLayersAreMerged(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := create(t, s, object{"layers": []any{layer(1776009600, []int64{A}), layer(1776009600, []int64{B, A}, object{"weight": 1})}})
	// The second day is A's in the first layer; in the second, which is heavier, it is A's as well.
	want := schedule.Entry{Start: 1776096000, End: 1776182400, Index: 1, Group: schedule.Group{
		GroupName: "B+A", Name: "B+A", Start: 1776096000, End: 1776182400, Members: []schedule.Member{{PersonIDs: []int64{A}}},
	}}
	got := info(t, s, id, 1776096000, 1776182400)
	if final := *got.FinalSchedule.Schedules; text(t, final) != text(t, []schedule.Entry{want}) {
		t.Errorf("got %s", text(t, final))
	}
}

func TestDisabledScheduleIsComputed(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := create(t, s, object{"status": 1, "layers": []any{layer(1776009600, []int64{A})}})
	got := info(t, s, id, 1776009600, 1776096000)
	if *got.Status != 1 || *got.Disabled != 1 || len(*got.FinalSchedule.Schedules) != 1 || got.CurOncall == nil {
		t.Errorf("got %s", text(t, got))
	}
}

func TestOnlyManagersSeeSecrets(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := create(t, s, object{"notify": object{"webhooks": []any{
		object{"type": "slack", "settings": object{"token": "tok-1", "alias": "a"}},
		object{"type": "zoom", "settings": object{"token": "tok-2", "verify_token": "ver-2", "sign_secret": "sig-2", "url": "url-2",
			"mode": "kept", "auth": object{"user": "u", "api_key": 12345678901234567890.0, "scopes": []string{"a"}}, "limit": 5}},
	}}})
	read := func(key string) string {
		var reply struct{ Notify json.RawMessage }
		s.Call(key, "/schedule/info", object{"schedule_id": id}).Into(&reply)
		return string(reply.Notify)
	}
	want := `{"fixed_time":null,"by":null,"webhooks":[` +
		`{"type":"slack","settings":{"token":%q,"alias":"a"}},` +
		`{"type":"zoom","settings":{"token":%q,"verify_token":%q,"sign_secret":%q,"url":%q,"mode":"kept","auth":%s,"limit":5}}]}`
	s.Grant(auth.SchedulesManage)
	for _, key := range []string{apitest.KeyA, apitest.KeyReader} {
		if got := read(key); !apitest.SameJSON([]byte(got),
			fmt.Appendf(nil, want, "tok-1", "tok-2", "ver-2", "sig-2", "url-2", `{"user":"u","api_key":12345678901234567000,"scopes":["a"]}`)) {
			t.Errorf("manager sees %s", got)
		}
	}
	s.Grant(auth.SchedulesRead)
	if got := read(apitest.KeyReader); !apitest.SameJSON([]byte(got), fmt.Appendf(nil, want, "", "", "", "", "", `""`)) {
		t.Errorf("reader sees %s", got)
	}
	for _, path := range []string{"/schedule/list", "/schedule/infos"} {
		for key, clear := range map[string]bool{apitest.KeyA: true, apitest.KeyReader: false} {
			if got := string(s.Call(key, path, object{"schedule_ids": []int64{id}}).Body); contains(got, "tok-1", "tok-2", "ver-2", "sig-2",
				"url-2") != clear {
				t.Errorf("%s shows %s", path, got)
			}
		}
	}
	if raw := column(t, s, `SELECT notify FROM schedule WHERE schedule_id = $1`,
		id); contains(raw, "tok-") || contains(raw, "ver-2") || contains(raw, "sig-2") || contains(raw, "url-2") || contains(raw, "123456") {
		t.Errorf("the database holds secrets in clear: %s", raw)
	}
	s.Call(apitest.KeyA, "/schedule/update", object{"schedule_id": id, "schedule_name": "Renamed"}).Into(&struct{}{})
	if got := read(apitest.KeyA); !contains(got, "tok-1", "tok-2", "ver-2", "sig-2") {
		t.Errorf("after an update of the name: %s", got)
	}
}
