package channel_test

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/calendar"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

func TestConversationChannel(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, channel.Ops(apitest.Box(t)))
	group := `{"method":"p","equals":[["labels.service","labels.cluster"],["labels.host"]],"time_window":0,"all_equals_required":false,"window_type":"tumbling","storm_threshold":0,"storm_thresholds":[10,100]}`
	whole := `{"account_id":2451002751131,"channel_id":$id,"channel_name":"Zahlungen (EU)","team_id":4291079133131,"managing_team_ids":[],"creator_id":2476123212131,"status":"enabled","description":"Geld","is_private":false,
		"created_at":1776052800,"updated_at":1776052800,"group":` + group + `,"flapping":{"is_disabled":false,"mute_mins":0},"auto_resolve_timeout":0,"disable_auto_close":false,"is_starred":false}`
	s.Converse(t, []apitest.Turn{
		{Path: "/channel/create", Body: `{"team_id":5,"channel_name":"x"}`, Code: "InvalidParameter", Says: []string{"team_id", "team 5 does not exist"}},
		{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"x","managing_team_ids":[4291079133131,6]}`, Code: "InvalidParameter", Says: []string{"managing_team_ids[1]"}},
		{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"x","group":{"method":"p","cases":[{"if":[[{"key":"a","oper":"LIKE","vals":["b"]}]]}]}}`, Code: "InvalidParameter", Says: []string{"group.cases[0].if[0][0].oper"}},
		{Path: "/channel/create", Body: `{"team_id":4291079133131,"channel_name":"Zahlungen","group":` + group + `}`, Keep: map[string]string{"id": "channel_id"}, Golden: "channel_create"},
		{Path: "/channel/info", Body: `{"channel_id":$id}`, Has: `{"channel_name":"Zahlungen","group":` + group + `}`},
		{Path: "/channel/update", Body: `{"channel_id":$id,"channel_name":"Zahlungen (EU)","description":"Geld","flapping":{"is_disabled":false,"mute_mins":0},"auto_resolve_timeout":0,"disable_auto_close":false}`, Data: `{}`, Golden: "channel_update"},
		{Path: "/channel/info", Body: `{"channel_id":$id}`, Data: whole, Golden: "channel_info"},
		{Path: "/channel/update", Body: `{"channel_id":$id,"channel_name":"Zahlungen (EU)","description":"Geld","group":` + group + `,"flapping":{"is_disabled":false,"mute_mins":0},"auto_resolve_timeout":0,"disable_auto_close":false}`, Data: `{}`},
		{Path: "/channel/info", Body: `{"channel_id":$id}`, Data: whole},
		{Path: "/channel/update", Body: `{"channel_id":$id,"group":{"method":"i"}}`, Data: `{"warnings":["group.method: i is treated as n, every alert becomes its own incident"]}`},
		{Path: "/channel/update", Body: `{"channel_id":$id,"group":` + group + `}`, Data: `{}`},
		{Path: "/channel/list", Body: `{"query":"ZAHL"}`, Data: `{"items":[` + whole + `],"total":1,"has_next_page":false,"search_after_ctx":""}`, Golden: "channel_list"},
		{Path: "/channel/list", Body: `{"channel_name":"zahlungen (eu)"}`, Has: `{"total":0}`},
		{Path: "/channel/list", Body: `{"channel_name":"Zahlungen (EU)","query":"nothing"}`, Has: `{"total":1}`},
		{Path: "/channel/list", Body: `{"is_brief":true}`, Has: `{"items":[{"channel_id":$id,"channel_name":"Zahlungen (EU)"}]}`},
		{Path: "/channel/list", Key: apitest.KeyB, Body: `{}`, Has: `{"total":0}`},
		{Path: "/channel/list", Body: `{"p":101,"limit":100}`, Code: "InvalidParameter", Says: []string{"p", "10000"}},
		{Path: "/channel/star", Body: `{"channel_id":$id}`, Data: `{}`, Golden: "channel_star"},
		{Path: "/channel/list", Body: `{"is_my_starred":true}`, Has: `{"total":1,"items":[{"is_starred":true}]}`},
		{Path: "/channel/unstar", Body: `{"channel_id":$id}`, Data: `{}`, Golden: "channel_unstar"},
		{Path: "/channel/list", Body: `{"is_my_starred":true}`, Has: `{"total":0}`},
		{Path: "/channel/list", Body: `{"is_my_starred":true,"is_my_team":true}`, Code: "InvalidParameter", Says: []string{"is_my_starred"}},
		{Path: "/channel/infos", Body: `{"channel_ids":[$id,7,$id]}`, Data: `{"items":[{"channel_id":$id,"channel_name":"Zahlungen (EU)","status":"enabled"}]}`, Golden: "channel_infos"},
		{Path: "/channel/delete", Body: `{"channel_id":$id}`, Code: "BadRequest", Says: []string{"disable it"}},
		{Path: "/channel/delete", Body: `{"channel_id":$id,"dry_run":true}`, Has: `{"allowed":false,"error":{"code":"BadRequest"}}`},
		{Path: "/channel/disable", Body: `{"channel_id":$id}`, Data: `{}`, Golden: "channel_disable"},
		{Path: "/channel/info", Body: `{"channel_id":$id}`, Has: `{"status":"disabled"}`},
		{Path: "/channel/enable", Body: `{"channel_id":$id}`, Data: `{}`, Golden: "channel_enable"},
		{Path: "/channel/disable", Body: `{"channel_id":$id}`, Data: `{}`},
		{Path: "/channel/unsubscribe/rule/create", Body: `{"channel_id":$id,"rule_name":"r","filters":[[{"key":"a","oper":"IN","vals":["b"]}]]}`, Keep: map[string]string{"rule": "rule_id"}},
		{Path: "/channel/delete", Body: `{"channel_id":$id,"dry_run":true}`, Has: `{"allowed":true,"removes":[{"kind":"channel","id":"$id"},{"kind":"drop_rule","id":"$rule"}]}`},
		{Path: "/channel/delete", Key: apitest.KeyB, Body: `{"channel_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/channel/delete", Body: `{"channel_id":$id}`, Data: `{}`, Golden: "channel_delete"},
		{Path: "/channel/info", Body: `{"channel_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/channel/delete", Body: `{"channel_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/channel/unsubscribe/rule/list", Body: `{"channel_id":$id}`, Code: "ResourceNotFound"},
	})
}

func TestChannelInUse(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Call(apitest.KeyA, "/channel/disable", fmt.Sprintf(`{"channel_id":%d}`, open)).Into(&struct{}{})
	s.Write(func(tx *db.Tx) error {
		return configstore.SetReferences(tx, apitest.AccountA, configstore.RefFrom(configstore.Route, "7", "Shared"), configstore.RefTo(configstore.Channel, open))
	})
	if r := s.Call(apitest.KeyA, "/channel/delete", fmt.Sprintf(`{"channel_id":%d}`, open)); r.Code != "ReferenceExist" || !strings.Contains(string(r.Data), "Shared") {
		t.Errorf("%s", r.Body)
	}
}

// The owner, the creator and members of a private channel's teams may use it. Other callers with Channels
// Manage may not, and do not see it in lists.
func TestPrivateChannel(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Grant(auth.ChannelsManage)
	s.Exec(`INSERT INTO person_role (account_id, person_id, role_id) VALUES ($1, $2, 1)`, apitest.AccountA, apitest.Stranger)
	s.Clock.Add(1e9)
	try := func(key string, want string) {
		t.Helper()
		for path, body := range map[string]string{
			"/channel/info": `{"channel_id":%d}`, "/channel/update": `{"channel_id":%d,"description":"x"}`, "/channel/disable": `{"channel_id":%d}`,
			"/channel/silence/rule/list": `{"channel_id":%d}`, "/channel/unsubscribe/rule/create": `{"channel_id":%d,"rule_name":"r","filters":[[{"key":"a","oper":"IN","vals":["b"]}]]}`,
		} {
			if r := s.Call(key, path, fmt.Sprintf(body, private)); r.Code != want {
				t.Errorf("%s: %q, want %q: %s", path, r.Code, want, r.Body)
			}
		}
		var listed struct{ Total int }
		s.Call(key, "/channel/list", `{"query":"security"}`).Into(&listed)
		if (listed.Total == 1) != (want == "") {
			t.Errorf("listed %d times", listed.Total)
		}
		var named struct{ Items []any }
		s.Call(key, "/channel/infos", fmt.Sprintf(`{"channel_ids":[%d]}`, private)).Into(&named)
		if (len(named.Items) == 1) != (want == "") {
			t.Errorf("named %d times", len(named.Items))
		}
	}
	try(apitest.KeyA, "")
	try(apitest.KeyReader, "") // in the team
	try(apitest.KeyNothing, "AccessDenied")
	s.Exec(`UPDATE channel SET creator_id = $1 WHERE channel_id = $2`, apitest.Stranger, private)
	try(apitest.KeyNothing, "")
	s.Exec(`UPDATE channel SET creator_id = 0, managing_teams = ',5,9,' WHERE channel_id = $1`, private)
	try(apitest.KeyNothing, "AccessDenied")
	s.Exec(`INSERT INTO team_person (account_id, team_id, person_id, position) VALUES ($1, 9, $2, 0)`, apitest.AccountA, apitest.Stranger)
	try(apitest.KeyNothing, "")
}

func TestConversationRules(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, channel.Ops(apitest.Box(t)), calendar.Ops())
	s.Grant(auth.ChannelsRead)
	base := `"account_id":2451002751131,"channel_id":$ch,"priority":%d,"rule_name":"%s","description":"","status":"%s","rule_id":"$id","updated_by":2476123212131,"created_at":1776052801,"updated_at":1776052801`
	filters := `[[{"key":"labels.env","oper":"IN","vals":["/^test-[0-9]+$/","a*"]},{"key":"severity","oper":"NOTIN","vals":["Critical"]}]]`
	for _, kind := range []struct{ path, name, more, golden string }{
		{"/channel/silence/rule", "silence_rule", `"time_filters":[{"start":"01:00","end":"03:30","repeat":[0],"cal_id":"","is_off":false}],"filters":` + filters, "channel_silence_rule"},
		{"/channel/unsubscribe/rule", "drop_rule", `"filters":` + filters, "channel_unsubscribe_rule"},
		{"/channel/inhibit/rule", "inhibit_rule", `"equals":["labels.b","labels.a"],"source_filters":` + filters + `,"target_filters":[[{"key":"severity","oper":"IN","vals":["Info"]}]],"is_directly_discard":true`, "channel_inhibit_rule"},
	} {
		t.Run(kind.name, func(t *testing.T) {
			golden := func(verb string) string { return kind.golden + "_" + verb }
			turns := []apitest.Turn{
				{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"x"}`, Keep: map[string]string{"ch": "channel_id"}},
				{Path: kind.path + "/create", Body: `{"channel_id":7,"rule_name":"One",` + kind.more + `}`, Code: "ResourceNotFound"},
				{Path: kind.path + "/create", Body: `{"channel_id":$ch,"rule_name":"One",` + strings.Replace(kind.more, "/^test-[0-9]+$/", "/[/", 1) + `}`, Code: "InvalidParameter", Says: []string{"filters[0][0].vals[0]"}},
				{Path: kind.path + "/create", Body: `{"channel_id":$ch,"rule_name":"One",` + strings.Replace(kind.more, `"IN"`, `"LIKE"`, 1) + `}`, Code: "InvalidParameter", Says: []string{"filters[0][0].oper", "IN or NOTIN"}},
				{Path: kind.path + "/create", Body: `{"channel_id":$ch,"rule_name":"` + strings.Repeat("ü", 40) + `",` + kind.more + `}`, Code: "InvalidParameter", Says: []string{"rule_name", "39"}},
				{Path: kind.path + "/create", Body: `{"channel_id":$ch,"rule_name":"One",` + kind.more + `}`, Keep: map[string]string{"id": "rule_id"}, Golden: golden("create")},
				{Path: kind.path + "/create", Body: `{"channel_id":$ch,"rule_name":"Never","priority":9,` + strings.Replace(kind.more, `{"key":"severity","oper":"NOTIN","vals":["Critical"]}`, `{"key":"severity","oper":"IN","vals":["Critical"]},{"key":"severity","oper":"IN","vals":["Info"]}`, 1) + `}`,
					Keep: map[string]string{"never": "rule_id"}},
				{Path: kind.path + "/list", Body: `{"channel_id":$ch}`, Has: `{"items":[{` + fmt.Sprintf(base, 0, "One", "enabled") + `,` + kind.more + `},{"rule_id":"$never"}]}`},
				{Path: kind.path + "/update", Body: `{"channel_id":$ch,"rule_id":"$id","rule_name":"Eins","priority":3,` + kind.more + `}`, Data: `{}`, Golden: golden("update")},
				{Path: kind.path + "/delete", Body: `{"channel_id":$ch,"rule_id":"$never"}`, Data: `{}`},
				{Path: kind.path + "/disable", Body: `{"channel_id":$ch,"rule_id":"$id"}`, Data: `{}`, Golden: golden("disable")},
				{Path: kind.path + "/list", Body: `{"channel_id":$ch}`, Has: `{"items":[{` + fmt.Sprintf(base, 3, "Eins", "disabled") + `,` + kind.more + `}]}`},
				{Path: kind.path + "/enable", Body: `{"channel_id":$ch,"rule_id":"$id"}`, Data: `{}`, Golden: golden("enable")},
				{Path: kind.path + "/list", Body: `{"channel_id":$ch}`, Has: `{"items":[{` + fmt.Sprintf(base, 3, "Eins", "enabled") + `,` + kind.more + `}]}`},
				{Path: kind.path + "/enable", Body: `{"channel_id":$ch,"rule_id":"69db2f72a0fe7db6448b1500"}`, Code: "ResourceNotFound"},
				{Path: kind.path + "/update", Key: apitest.KeyB, Body: `{"channel_id":$ch,"rule_id":"$id","rule_name":"x",` + kind.more + `}`, Code: "ResourceNotFound"},
				{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"y"}`, Keep: map[string]string{"other": "channel_id"}},
				{Path: kind.path + "/delete", Body: `{"channel_id":$other,"rule_id":"$id"}`, Code: "ResourceNotFound"},
				{Path: kind.path + "/delete", Body: `{"channel_id":$ch,"rule_id":"$id","dry_run":true}`, Data: `{"dry_run":true,"allowed":true,"removes":[{"kind":"` + kind.name + `","id":"$id","name":"Eins"}]}`},
				{Path: kind.path + "/delete", Body: `{"channel_id":$ch,"rule_id":"$id"}`, Data: `{}`, Golden: golden("delete")},
				{Path: kind.path + "/list", Body: `{"channel_id":$ch}`, Data: `{"items":[]}`},
				{Path: kind.path + "/update", Body: `{"channel_id":$ch,"rule_id":"$id","rule_name":"x",` + kind.more + `}`, Code: "ResourceNotFound"},
				{Path: kind.path + "/delete", Body: `{"channel_id":$ch,"rule_id":"$id"}`, Code: "ResourceNotFound"},
			}
			if kind.name == "inhibit_rule" {
				turns[7].Golden = golden("list")
			}
			turns = append(turns, apitest.Turn{Path: kind.path + "/create", Key: apitest.KeyReader, Body: `{"channel_id":$ch,"rule_name":"One",` + kind.more + `}`, Code: "AccessDenied"})
			s.Converse(t, turns)
		})
	}
}

func TestSuspiciousRules(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, channel.Ops(apitest.Box(t)), calendar.Ops())
	s.Converse(t, []apitest.Turn{
		{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"x"}`, Keep: map[string]string{"ch": "channel_id"}},
		{Path: "/channel/silence/rule/create", Body: `{"channel_id":$ch,"rule_name":"a","time_filter":{"start_time":1,"end_time":2},"filters":[[{"key":"a","oper":"IN","vals":["b"]},{"key":"a","oper":"IN","vals":["c"]}]]}`,
			Keep: map[string]string{"id": "rule_id"}},
		{Path: "/channel/silence/rule/update", Body: `{"channel_id":$ch,"rule_id":"$id","rule_name":"a"}`, Data: `{"warnings":["time_filter: its window is over","filters[0]: never matches, no a meets all conditions on it"]}`},
		{Path: "/channel/silence/rule/update", Body: `{"channel_id":$ch,"rule_id":"$id","rule_name":"a","filters":[[{"key":"a","oper":"IN","vals":["b*"]},{"key":"a","oper":"IN","vals":["bc"]}]],"time_filters":[{"start":"01:00","end":"02:00"}]}`, Data: `{}`},
		{Path: "/channel/silence/rule/list", Body: `{"channel_id":$ch}`, Has: `{"items":[{"time_filter":null,"time_filters":[{"start":"01:00"}]}]}`},
		{Path: "/channel/silence/rule/update", Body: `{"channel_id":$ch,"rule_id":"$id","rule_name":"a","time_filter":{"start_time":1,"end_time":2},"time_filters":[{"start":"01:00","end":"02:00"}]}`, Code: "InvalidParameter", Says: []string{"time_filter"}},
		{Path: "/channel/silence/rule/update", Body: `{"channel_id":$ch,"rule_id":"$id","rule_name":"a","time_filters":[{"start":"01:00","end":"02:00","cal_id":"cal.no"}]}`, Code: "InvalidParameter", Says: []string{"time_filters[0].cal_id", "cal.no"}},
		{Path: "/calendar/create", Body: `{"cal_name":"Always","workdays":[0,1,2,3,4,5,6]}`, Keep: map[string]string{"cal": "cal_id"}},
		{Path: "/channel/silence/rule/update", Body: `{"channel_id":$ch,"rule_id":"$id","rule_name":"a","time_filters":[{"start":"01:00","end":"02:00","cal_id":"$cal","is_off":true}]}`, Data: `{"warnings":["time_filters[0]: never starts, the calendar has no such day in the next year"]}`},
		{Path: "/channel/silence/rule/list", Body: `{"channel_id":$ch}`, Has: `{"items":[{"is_effective":false}]}`},
		{Path: "/channel/silence/rule/update", Body: `{"channel_id":$ch,"rule_id":"$id","rule_name":"a","time_filters":[{"start":"11:00","end":"13:00","cal_id":"$cal"}]}`, Data: `{}`},
		{Path: "/channel/silence/rule/list", Body: `{"channel_id":$ch}`, Has: `{"items":[{"is_effective":true}]}`},
		{Path: "/calendar/delete", Body: `{"cal_id":"$cal"}`, Code: "ReferenceExist", Has: `{"refs":[{"kind":"silence_rule","id":"$id","name":"a"}]}`},
		{Path: "/channel/inhibit/rule/create", Body: `{"channel_id":$ch,"rule_name":"b","equals":["labels.a"]}`, Has: `{"warnings":["source_filters and target_filters are the same: of two such alerts the first inhibits the second"]}`},
		{Path: "/channel/inhibit/rule/create", Body: `{"channel_id":$ch,"rule_name":"b","target_filters":[[{"key":"a","oper":"IN","vals":["b"]}]]}`, Keep: map[string]string{"without": "rule_id"},
			Has: `{"warnings":["equals: names no field, so an active source inhibits every target of the channel"]}`},
		{Path: "/channel/inhibit/rule/update", Body: `{"channel_id":$ch,"rule_id":"$without","rule_name":"b","equals":["labels.a"]}`, Data: `{}`},
		{Path: "/channel/inhibit/rule/update", Body: `{"channel_id":$ch,"rule_id":"$without","rule_name":"c"}`, Data: `{}`},
		{Path: "/channel/inhibit/rule/list", Body: `{"channel_id":$ch}`, Has: `{"items":[{},{"rule_name":"c","equals":["labels.a"]}]}`},
	})
}
