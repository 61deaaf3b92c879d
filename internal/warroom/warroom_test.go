package warroom_test

import (
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
)

const room = "/incident/war-room/"

func TestWarRoomLifecycle(t *testing.T) {
	s, c := begin(t)
	create := `{"incident_id":"` + strings.ToUpper(busy) + `","integration_id":$app,"member_ids":[3122470302131,11,11],"add_observers":true}`
	one := `{"incident_id":"` + busy + `","integration_id":$app}`
	s.Converse(t, []apitest.Turn{
		app("slack_app", `{"token":"xoxb-s3cret","base_url":"`+c.URL+`/slack"}`),
		{Path: room + "list", Body: `{"incident_id":"` + busy + `"}`, Data: `{"items":[]}`},
		{Path: room + "delete", Body: one, Code: "ResourceNotFound"},
		{Path: room + "create", Body: `{"incident_id":"` + busy + `","integration_id":$app,"member_ids":[11,12]}`, Code: "InvalidParameter", Says: []string{"member_ids[1]", "person 12"}},
		{Path: room + "create", Body: create, Golden: "incident_war-room_create",
			Has: `{"chat_id":"C7","chat_name":"abcdf0-checkout-is-slow","share_link":"https://acme.slack.com/archives/C7","warnings":["slack: it does not know or could not add: Stan Stranger"]}`},
	})
	took := c.took()
	for _, want := range []string{`"name":"abcdf0-checkout-is-channel-slow"`, `"users":"U1,U2"`, `Checkout is &lt;!channel&gt; slow\nCritical, Triggered"`} {
		if !strings.Contains(took, want) {
			t.Errorf("%s was not openResult for in\n%s", want, took)
		}
	}
	if strings.Contains(took, "R@example.com") || strings.Count(took, "lookupByEmail") != 3 {
		t.Errorf("others were looked up in\n%s", took)
	}
	s.Converse(t, []apitest.Turn{
		{Path: room + "list", Body: `{"incident_id":"` + busy + `"}`, Keep: map[string]string{"app": "items.0.integration_id"}, Has: `{"items":[{"status":"open","plugin_type":"slack","created_by":2476123212131}]}`, Golden: "incident_war-room_list"},
		{Path: room + "list", Body: `{"incident_id":"` + busy + `","integration_id":7}`, Data: `{"items":[]}`},
		{Path: room + "create", Body: one, Has: `{"chat_id":"C7","share_link":"https://acme.slack.com/archives/C7"}`},
		{Path: room + "detail", Body: `{"integration_id":$app,"chat_id":"C8"}`, Code: "ResourceNotFound", Says: []string{"war room C8"}},
		{Path: room + "delete", Body: `{"incident_id":"` + busy + `","integration_id":$app,"dry_run":true}`, Has: `{"allowed":true,"removes":[{"kind":"war_room","id":"C7","name":"abcdf0-checkout-is-slow"}]}`},
	})
	if took := c.took(); took != "" {
		t.Errorf("the service was openResult although nothing was to be done:\n%s", took)
	}
	s.Converse(t, []apitest.Turn{
		{Path: room + "list", Body: `{"incident_id":"` + busy + `"}`, Keep: map[string]string{"app": "items.0.integration_id"}},
		{Path: room + "add-member", Body: `{"integration_id":$app,"chat_id":"C7","member_ids":[12]}`, Code: "InvalidParameter", Says: []string{"member_ids[0]"}},
		{Path: room + "add-member", Body: `{"integration_id":$app,"chat_id":"C7","member_ids":[11]}`, Data: `{}`, Golden: "incident_war-room_add-member"},
		{Path: room + "add-member", Body: `{"integration_id":$app,"chat_id":"C7","member_ids":[11,2659460982131]}`, Data: `{"warnings":["slack: it does not know or could not add: Rita Reader"]}`},
		{Path: room + "detail", Body: `{"integration_id":$app,"chat_id":"C7"}`, Golden: "incident_war-room_detail", Has: `{"chat_name":"abcdf0-checkout"}`},
		{Path: room + "delete", Body: one, Data: `{}`, Golden: "incident_war-room_delete"},
		{Path: room + "detail", Body: `{"integration_id":$app,"chat_id":"C7"}`, Code: "ResourceNotFound"},
		{Path: "/incident/feed", Body: `{"incident_id":"` + busy + `"}`, Has: `{"total":2,"items":[{"type":"i_wr_delete","detail":{"chat_id":"C7"}},{"type":"i_wr_create","creator_id":2476123212131,"detail":{"integration_id":$app,"plugin_type":"slack","share_link":"https://acme.slack.com/archives/C7"}}]}`},
		{Path: room + "create", Body: one, Has: `{"chat_id":"C7"}`},
		{Path: "/incident/remove", Body: `{"incident_ids":["` + busy + `"]}`},
		{Path: room + "detail", Body: `{"integration_id":$app,"chat_id":"C7"}`, Code: "ResourceNotFound"},
	})
}

// TestEveryService opens a group in each of the other services.
func TestEveryService(t *testing.T) {
	const left = "lets no app dissolve a group: it stays, and is now called \\\"[Closed] #ABCDF2 "
	for kind, one := range map[string]struct{ credentials, reply, left string }{
		"feishu_app":   {`{"app_id":"a","app_secret":"s3cret","base_url":"$url/feishu"}`, `{"chat_id":"oc_7","chat_name":"#ABCDF2 Quiet","share_link":"https://applink.example.com/x"}`, ``},
		"dingtalk_app": {`{"app_key":"k","app_secret":"s3cret","base_url":"$url/ding"}`, `{"chat_id":"chat7","chat_name":"#ABCDF2 Quiet","share_link":""}`, `DingTalk ` + left + `Qu…\"`},
		"wecom_app":    {`{"corp_id":"c","secret":"s3cret","owner":"boss","base_url":"$url/wecom"}`, `{"chat_id":"wc7","chat_name":"#ABCDF2 Quiet","share_link":""}`, `WeCom ` + left + `Quiet\"`},
	} {
		t.Run(kind, func(t *testing.T) {
			s, c := begin(t)
			gone := `{"warnings":["` + one.left + `"]}`
			if one.left == "" {
				gone = `{}`
			}
			s.Converse(t, []apitest.Turn{
				app(kind, strings.ReplaceAll(one.credentials, "$url", c.URL)),
				{Path: room + "create", Body: `{"incident_id":"` + quiet + `","integration_id":$app}`, Data: one.reply},
				{Path: room + "list", Body: `{"incident_id":"` + quiet + `"}`, Has: `{"items":[{"plugin_type":"` + strings.TrimSuffix(kind, "_app") + `"}]}`, Keep: map[string]string{"chat": "items.0.chat_id", "app": "items.0.integration_id"}},
				{Path: room + "detail", Body: `{"integration_id":$app,"chat_id":"$chat"}`, Data: strings.Replace(one.reply, "#ABCDF2 Quiet", "Quiet now", 1)},
				{Path: room + "delete", Body: `{"incident_id":"` + quiet + `","integration_id":$app}`, Data: gone},
				{Path: room + "list", Body: `{"incident_id":"` + quiet + `"}`, Data: `{"items":[]}`},
			})
		})
	}
}

// TestServiceFailure checks that no record stays when no group was opened, and that the group stays when one was.
func TestServiceFailure(t *testing.T) {
	s, c := begin(t)
	create, list := room+"create", apitest.Turn{Path: room + "list", Body: `{"incident_id":"` + busy + `"}`, Data: `{"items":[]}`}
	one := `{"incident_id":"` + busy + `","integration_id":$app}`
	c.route("/slack/conversations.create", says(`{"ok":false,"error":"restricted_action"}`))
	s.Converse(t, []apitest.Turn{
		app("slack_app", `{"token":"xoxb-s3cret","base_url":"`+c.URL+`/slack"}`),
		{Path: create, Body: one, Code: "BadRequest", Says: []string{"slack: it refused with restricted_action"}}, list,
	})
	c.route("/slack/conversations.create", says(`{"ok":false,"error":"ratelimited"}`))
	again := apitest.Turn{Path: "/integration/list", Body: `{}`, Keep: map[string]string{"app": "items.0.integration_id"}}
	s.Converse(t, []apitest.Turn{again, {Path: create, Body: one, Code: "ServiceUnavailable", Says: []string{"slack: it refused with ratelimited"}}, list})
	c.route("/slack/conversations.create", says(`{"ok":true,"channel":{"id":"C7","name":"x"}}`))
	c.route("/slack/conversations.invite", says(`{"ok":false,"error":"ratelimited"}`))
	c.route("/slack/chat.postMessage", says(`{"ok":false,"error":"not_in_channel"}`))
	s.Converse(t, []apitest.Turn{again,
		{Path: create, Body: one, Has: `{"chat_id":"C7","warnings":["the group is open, but not all persons could be added; /incident/war-room/add-member tries again: it refused with ratelimited: see Slack's documentation of the method",
			"the group is open, but nothing could be posted to it: it refused with not_in_channel: see Slack's documentation of the method"]}`},
		{Path: room + "add-member", Body: `{"integration_id":$app,"chat_id":"C7","member_ids":[11]}`, Code: "ServiceUnavailable", Says: []string{"ratelimited"}},
		{Path: room + "detail", Body: `{"integration_id":$app,"chat_id":"C7"}`, Data: `{"chat_id":"C7","chat_name":"abcdf0-checkout","share_link":"https://acme.slack.com/archives/C7"}`},
	})
}

// TestLaterServiceFailure checks that the stored group is shown, and that no group is deleted that can still be closed.
func TestLaterServiceFailure(t *testing.T) {
	s, c := begin(t)
	one, chat := `{"incident_id":"`+busy+`","integration_id":$app}`, `{"integration_id":$app,"chat_id":"C7"}`
	again := apitest.Turn{Path: "/integration/list", Body: `{}`, Keep: map[string]string{"app": "items.0.integration_id"}}
	there := func(count int) apitest.Turn {
		return apitest.Turn{Path: room + "list", Body: `{"incident_id":"` + busy + `"}`, Has: []string{`{"items":[]}`, `{"items":[{"chat_id":"C7"}]}`}[count]}
	}
	stored := func(why string) string {
		return `{"chat_id":"C7","chat_name":"abcdf0-checkout-is-slow","share_link":"https://acme.slack.com/archives/C7","warnings":["this is the group as it was when it was opened: ` + why + `"]}`
	}
	s.Converse(t, []apitest.Turn{app("slack_app", `{"token":"xoxb-s3cret","base_url":"`+c.URL+`/slack"}`), {Path: room + "create", Body: one}})

	refuses := func(reason string) {
		for _, method := range []string{"info", "archive"} {
			c.route("/slack/conversations."+method, says(`{"ok":false,"error":"`+reason+`"}`))
		}
	}
	refuses("ratelimited")
	const words = ": see Slack's documentation of the method"
	s.Converse(t, []apitest.Turn{again,
		{Path: room + "detail", Body: chat, Data: stored("slack: it refused with ratelimited" + words)},
		{Path: room + "delete", Body: one, Code: "ServiceUnavailable", Says: []string{"slack: it refused with ratelimited"}}, there(1),
	})
	refuses("missing_scope")
	s.Converse(t, []apitest.Turn{again,
		{Path: room + "detail", Body: chat, Data: stored("slack: it refused with missing_scope" + words)},
		{Path: room + "delete", Body: one, Data: `{"warnings":["the group stays at the service: slack: it refused with missing_scope` + words + `"]}`}, there(0),
		{Path: room + "create", Body: one}, there(1),
	})
	refuses("channel_not_found")
	s.Converse(t, []apitest.Turn{again,
		{Path: room + "detail", Body: chat, Data: `{}`}, there(1),
		{Path: room + "delete", Body: one, Data: `{}`}, there(0),
		{Path: room + "create", Body: one}, there(1),
		{Path: "/integration/disable", Body: `{"integration_id":$app}`},
	})
	c.took()
	s.Converse(t, []apitest.Turn{again,
		{Path: room + "detail", Body: chat, Data: stored("the integration $app (slack_app) is disabled")},
		{Path: room + "delete", Body: one, Data: `{"warnings":["the group stays at the service: the integration $app (slack_app) is disabled"]}`}, there(0),
	})
	if took := c.took(); took != "" {
		t.Errorf("a disabled app was used:\n%s", took)
	}
}

// TestCloseOfFormerGroup checks that a war room that was opened again while its former group is closed is not deleted.
func TestCloseOfFormerGroup(t *testing.T) {
	s, c := begin(t)
	one := `{"incident_id":"` + busy + `","integration_id":$app}`
	s.Converse(t, []apitest.Turn{app("slack_app", `{"token":"xoxb-s3cret","base_url":"`+c.URL+`/slack"}`), {Path: room + "create", Body: one}})
	again := apitest.Turn{Path: "/integration/list", Body: `{}`, Keep: map[string]string{"app": "items.0.integration_id"}}
	c.route("/slack/conversations.archive", func(string) string {
		s.Exec(`UPDATE war_room SET chat_id = 'C8'`)
		return `{"ok":true}`
	})
	s.Converse(t, []apitest.Turn{again, {Path: room + "delete", Body: one, Code: "BadRequest", Says: []string{"opened again"}}, {Path: room + "list", Body: `{"incident_id":"` + busy + `"}`, Has: `{"items":[{"chat_id":"C8"}]}`}})
}

// TestConcurrentOpen checks that no second group is opened, and that the record of a stopped server expires.
func TestConcurrentOpen(t *testing.T) {
	s, c := begin(t)
	one := `{"incident_id":"` + busy + `","integration_id":$app}`
	again := apitest.Turn{Path: "/integration/list", Body: `{}`, Keep: map[string]string{"app": "items.0.integration_id"}}
	s.Converse(t, []apitest.Turn{app("slack_app", `{"token":"xoxb-s3cret","base_url":"`+c.URL+`/slack"}`)})
	c.route("/slack/conversations.create", func(string) string {
		s.Converse(t, []apitest.Turn{again,
			{Path: room + "list", Body: `{"incident_id":"` + busy + `"}`, Has: `{"items":[{"status":"creating","chat_id":""}]}`},
			{Path: room + "create", Body: one, Code: "BadRequest", Says: []string{"being opened"}},
			{Path: room + "delete", Body: one, Code: "BadRequest", Says: []string{"being opened"}},
			{Path: "/incident/remove", Body: `{"incident_ids":["` + quiet + `"]}`},
		})
		return `{"ok":true,"channel":{"id":"C7","name":"x"}}`
	})
	s.Converse(t, []apitest.Turn{again, {Path: room + "create", Body: one, Has: `{"chat_id":"C7"}`}})

	s.Exec(`UPDATE war_room SET status = 'creating', chat_id = ''`)
	c.route("/slack/conversations.create", says(`{"ok":true,"channel":{"id":"C8","name":"x"}}`))
	s.Converse(t, []apitest.Turn{again, {Path: room + "create", Body: one, Code: "BadRequest"}})
	s.Clock.Add(2 * time.Minute)
	s.Converse(t, []apitest.Turn{again, {Path: room + "create", Body: one, Has: `{"chat_id":"C8"}`}})

	s.Exec(`UPDATE war_room SET status = 'creating', chat_id = '', created_at = 0`)
	s.Converse(t, []apitest.Turn{again, {Path: room + "delete", Body: one, Data: `{}`}, {Path: room + "list", Body: `{"incident_id":"` + busy + `"}`, Data: `{"items":[]}`}})

	c.route("/slack/conversations.create", func(string) string {
		s.Converse(t, []apitest.Turn{{Path: "/incident/remove", Body: `{"incident_ids":["` + busy + `"]}`}})
		return `{"ok":true,"channel":{"id":"C9","name":"nine"}}`
	})
	s.Converse(t, []apitest.Turn{again, {Path: room + "create", Body: one, Code: "BadRequest", Says: []string{`"nine"`, "stays at the service"}}})
}

func TestIntegrationsForWarRooms(t *testing.T) {
	s, c := begin(t)
	const path = "/datasource/im/war-room-enabled/list"
	s.Converse(t, []apitest.Turn{
		{Path: path, Body: `{}`, Data: `{"items":[],"total":0,"has_next_page":false}`},
		{Path: "/integration/create", Body: `{"integration_name":"s","integration_type":"standard"}`},
		{Path: "/integration/create", Body: `{"integration_name":"t","integration_type":"teams_app"}`},
		app("slack_app", `{"token":"xoxb-s3cret","base_url":"`+c.URL+`/slack"}`),
		{Path: path, Key: apitest.KeyReader, Body: `{}`, Has: `{"items":[{"integration_id":$app,"integration_type":"slack_app","plugin_type":"slack","status":"enabled"}],"total":1}`, Golden: "datasource_im_war-room-enabled_list"},
		{Path: path, Key: apitest.KeyNothing, Body: `{}`, Code: "AccessDenied"},
		{Path: path, Key: apitest.KeyB, Body: `{}`, Has: `{"total":0}`},
		{Path: "/integration/update", Body: `{"integration_id":$app,"settings":{"war_room_enabled":false,"app":{"token":""}}}`},
		{Path: path, Body: `{}`, Has: `{"total":0}`},
		{Path: "/integration/update", Body: `{"integration_id":$app,"settings":{"war_room_enabled":true,"app":{"token":""}}}`},
		{Path: "/integration/disable", Body: `{"integration_id":$app}`},
		{Path: path, Body: `{}`, Has: `{"total":0}`},
	})
}

func TestWarRoomPermissions(t *testing.T) {
	s, c := begin(t)
	const both = `{"incident_id":"` + secret + `","integration_id":$app,"chat_id":"C7","member_ids":[11]}`
	turns := []apitest.Turn{
		{Path: "/integration/create", Body: `{"integration_name":"t","integration_type":"teams_app"}`, Keep: map[string]string{"teams": "integration_id"}},
		{Path: "/integration/create", Body: `{"integration_name":"s","integration_type":"standard"}`, Keep: map[string]string{"source": "integration_id"}},
		{Path: room + "create", Body: `{"incident_id":"` + busy + `","integration_id":$teams}`, Code: "InvalidParameter", Says: []string{"integration_id", "cannot open groups in Microsoft Teams"}},
		{Path: room + "create", Body: `{"incident_id":"` + busy + `","integration_id":$source}`, Code: "InvalidParameter", Says: []string{"integration_id", "standard"}},
		{Path: room + "create", Body: `{"incident_id":"` + busy + `","integration_id":7}`, Code: "ResourceNotFound"},
		app("slack_app", `{"token":"xoxb-s3cret","base_url":"`+c.URL+`/slack"}`),
		{Path: room + "create", Body: `{"incident_id":"663a1b2c3d4e5f6789abcdff","integration_id":$app}`, Code: "ResourceNotFound"},
		{Path: room + "create", Body: both},
		{Path: "/integration/disable", Body: `{"integration_id":$app}`},
		{Path: room + "create", Body: `{"incident_id":"` + busy + `","integration_id":$app}`, Code: "BadRequest", Says: []string{"slack_app", "disabled"}},
		{Path: "/integration/enable", Body: `{"integration_id":$app}`},
		{Path: "/integration/update", Body: `{"integration_id":$app,"settings":{"app":{"token":""}}}`},
		{Path: room + "create", Body: `{"incident_id":"` + busy + `","integration_id":$app}`, Code: "InvalidParameter", Says: []string{"war_room_enabled"}},
	}
	for _, op := range []string{"create", "list", "detail", "delete", "add-member"} {
		turns = append(turns, apitest.Turn{Path: room + op, Key: apitest.KeyNothing, Body: both, Code: "AccessDenied"},
			apitest.Turn{Path: room + op, Key: apitest.KeyReader, Body: both, Code: "AccessDenied", Says: []string{"private"}},
			apitest.Turn{Path: room + op, Key: apitest.KeyB, Body: both, Code: "ResourceNotFound"})
	}
	s.Converse(t, turns)
	s.Grant(auth.IncidentsRead)
	for _, op := range []string{"create", "delete", "add-member"} {
		if r := s.Call(apitest.KeyReader, room+op, strings.ReplaceAll(both, "$app", "7")); r.Code != "AccessDenied" {
			t.Errorf("%s: %s", op, r.Body)
		}
	}
}
