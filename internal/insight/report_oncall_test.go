package insight_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

func TestNotificationReport(t *testing.T) {
	s := begin(t)
	sent(s, 1, 10, first, apitest.OwnerA, "voice", "")
	sent(s, 2, 20, second, apitest.Reader, "sms", "b1") // 03:00 on a Sunday in Berlin; two incidents share it
	sent(s, 3, 20, first, apitest.Reader, "sms", "b1")
	sent(s, 4, 86400, first, 0, "slack", "")
	sent(s, 5, 86400, third, apitest.OwnerA, "email", "") // of a private channel
	sent(s, 6, 86401, "", apitest.Reader, "slack_app:7", "")
	s.Exec(`UPDATE notice SET status = 'failed' WHERE notice_id = $1`, "never")
	none := `"app_cnt":0,"chat_cnt":0,"email_cnt":0,"sms_cnt":0,"voice_cnt":0`
	hours := func(at ...int) string {
		all := [24]int{}
		for _, h := range at {
			all[h]++
		}
		text := "["
		for n, h := range all {
			if n > 0 {
				text += ","
			}
			text += fmt.Sprint(h)
		}
		return text + "]"
	}
	s.Scenarios(t, "/report/oncall/notifications", []apitest.Scenario{
		{Name: "by day", Key: apitest.KeyReader, Body: `{` + window + `,"step":"day"}`, Golden: "report_oncall_notifications"},
		{Name: "the owner sees all", Body: `{` + window + `,"person_ids":[` + fmt.Sprint(apitest.OwnerA) + `]}`,
			Data: fmt.Sprintf(`{"items":[{"ts":%d,"sms_cnt":0,"voice_cnt":1,"email_cnt":1,"app_cnt":0,"chat_cnt":0,"total_cnt":2,"interrupting_cnt":1,"sleep_cnt":0,"weekend_cnt":1,"hour_cnts":%s}],"total":1}`, start, hours(9))},
		{Name: "by person", Key: apitest.KeyReader, Body: `{` + window + `,"channel_ids":[1001],"group_by":"person","team_ids":[` + fmt.Sprint(apitest.TeamA) + `]}`,
			Data: fmt.Sprintf(`{"items":[{"ts":%[1]d,"person_id":%[2]d,"person_name":"Olga Owner","sms_cnt":0,"voice_cnt":1,"email_cnt":0,"app_cnt":0,"chat_cnt":0,"total_cnt":1,"interrupting_cnt":1,"sleep_cnt":0,"weekend_cnt":1,"hour_cnts":%[3]s},
				{"ts":%[1]d,"person_id":%[4]d,"person_name":"Rita Reader","sms_cnt":1,"voice_cnt":0,"email_cnt":0,"app_cnt":0,"chat_cnt":0,"total_cnt":1,"interrupting_cnt":1,"sleep_cnt":1,"weekend_cnt":1,"hour_cnts":%[5]s}],"total":2}`,
				start, int64(apitest.OwnerA), hours(9), int64(apitest.Reader), hours(3))},
		{Name: "a team without members", Body: `{` + window + `,"team_ids":[99]}`,
			Data: fmt.Sprintf(`{"items":[{"ts":%d,%s,"total_cnt":0,"interrupting_cnt":0,"sleep_cnt":0,"weekend_cnt":0,"hour_cnts":%s}],"total":1}`, start, none, hours())},
		{Name: "by team", Body: `{` + window + `,"group_by":"team","person_ids":[` + fmt.Sprint(apitest.Stranger) + `]}`, Data: `{"items":[],"total":0}`},
		{Name: "no permission", Key: apitest.KeyNothing, Body: `{` + window + `}`, Code: "AccessDenied"},
		{Name: "no step", Body: `{` + window + `,"step":"hour"}`, Code: "InvalidParameter", Says: []string{"step"}},
		{Name: "more than a year", Body: `{"start_time":1,"end_time":31622402}`, Code: "InvalidParameter", Says: []string{"366 days"}},
		{Name: "another account's", Key: apitest.KeyB, Body: `{` + window + `,"group_by":"person"}`, Data: `{"items":[],"total":0}`},
	})
}

func TestChangeReport(t *testing.T) {
	s := begin(t)
	put := func(id string, channel int, at int64, events string) {
		s.Exec(`INSERT INTO change (account_id, change_id, integration_id, channel_id, change_key, start_time, last_time, body) VALUES ($1, $2, 5, $3, $2, $4, $4, $5)`,
			apitest.AccountA, id, channel, start+at, fmt.Sprintf(`{"change_id":%q,"start_time":%d,"channel_id":%d,"events":%s}`, id, start+at, channel, events))
	}
	put("c1", 1001, 5, `[{"event_id":"a"},{"event_id":"b"}]`)
	put("c2", 1001, 86400+5, `[{"event_id":"c"}]`)
	put("c3", 1002, 6, `[{"event_id":"d"}]`)
	s.Write(func(tx *db.Tx) error {
		return schedule.Load(tx, apitest.Box(t), apitest.AccountA, []schedule.Record{rotation(t)})
	})
	s.Grant(auth.ChannelsRead)
	s.Scenarios(t, "/report/oncall/changes", []apitest.Scenario{
		{Name: "by day", Key: apitest.KeyA, Body: `{` + window + `,"step":"day","schedule_ids":[7]}`, Golden: "report_oncall_changes"},
		{Name: "a reader", Key: apitest.KeyReader, Body: `{` + window + `}`,
			Data: fmt.Sprintf(`{"items":[{"ts":%d,"change_cnt":2,"change_event_cnt":3,"handoff_cnt":0}],"total":1,"handoffs":[]}`, start)},
		{Name: "handoffs need the permission", Key: apitest.KeyReader, Body: `{` + window + `,"schedule_ids":[7]}`, Code: "AccessDenied", Says: []string{"Schedules Read"}},
		{Name: "no such schedule", Body: `{` + window + `,"schedule_ids":[8]}`, Code: "ResourceNotFound"},
		{Name: "of a channel", Body: `{` + window + `,"channel_ids":[1002]}`,
			Data: fmt.Sprintf(`{"items":[{"ts":%d,"change_cnt":1,"change_event_cnt":1,"handoff_cnt":0}],"total":1,"handoffs":[]}`, start)},
		{Name: "no permission", Key: apitest.KeyNothing, Body: `{` + window + `}`, Code: "AccessDenied"},
		{Name: "another account's", Key: apitest.KeyB, Body: `{` + window + `,"schedule_ids":[7]}`, Code: "ResourceNotFound"},
	})
}

// rotation is a schedule that changes hands every day at 09:00 in Shanghai, from Olga to Rita and back.
func rotation(t *testing.T) (r schedule.Record) {
	t.Helper()
	group := func(name string, person int64) string {
		return fmt.Sprintf(`{"group_name":%q,"members":[{"role_id":0,"person_ids":[%d]}]}`, name, person)
	}
	text := fmt.Sprintf(`{"schedule_id":7,"schedule_name":"Days","time_zone":"Asia/Shanghai","layers":[{"layer_name":"L","mode":0,"layer_start":%d,"rotation_unit":"day","rotation_value":1,"groups":[%s,%s]}]}`,
		start, group("a", apitest.OwnerA), group("b", apitest.Reader))
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r
}
