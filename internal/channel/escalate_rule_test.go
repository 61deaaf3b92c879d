package channel_test

import (
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
	"tocsin/internal/team"
)

const (
	templateID = "000000000000000000000001"
	layers     = `[{"max_times":2,"notify_step":0.5,"escalate_window":15,"target":{"person_ids":[2476123212131],"by":{"critical":["voice","sms"],"info":["email"]},"emails":["noc@example.com"]}},` +
		`{"force_escalate":true,"target":{"team_ids":[4291079133131],"webhooks":[{"type":"slack","settings":{"url":"https://hooks.example.com/T1/secret","alias":"#ops","sign_secret":"s3cr3t"}}]}}]`
)

func TestConversationEscalateRule(t *testing.T) {
	t.Parallel()
	keyring := apitest.Box(t)
	s := apitest.Start(t, channel.Ops(keyring), (&schedule.Service{Keyring: keyring}).Ops(), (&team.Service{}).Ops())
	s.Grant(auth.ChannelsRead)
	whole := `{"account_id":2451002751131,"channel_id":$ch,"priority":0,"rule_name":"Alle","description":"","status":"enabled","rule_id":"$id","updated_by":2476123212131,"created_at":1776052801,"updated_at":1776052801,
		"template_id":"` + templateID + `","aggr_window":30,"layers":` + layers + `,"time_filters":[],"filters":[]}`
	blank := strings.NewReplacer("https://hooks.example.com/T1/secret", "", "s3cr3t", "").Replace(whole)
	create := func(layers string) string {
		return `{"channel_id":$ch,"rule_name":"Alle","template_id":"` + templateID + `","aggr_window":30,"layers":` + layers + `}`
	}
	const path = "/channel/escalate/rule"
	s.Converse(t, []apitest.Turn{
		{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"x"}`, Keep: map[string]string{"ch": "channel_id"}},
		{Path: path + "/create", Body: create(`[]`), Code: "InvalidParameter", Says: []string{"layers"}},
		{Path: path + "/create", Body: create(`[{"target":{}}]`), Code: "InvalidParameter", Says: []string{"layers[0].target", "notifies no one"}},
		{Path: path + "/create", Body: create(`[{"target":{"person_ids":[2476123212131]}}]`), Code: "InvalidParameter", Says: []string{"layers[0].target.by"}},
		{Path: path + "/create", Body: create(`[{"target":{"person_ids":[2476123212131],"by":{}}}]`), Code: "InvalidParameter", Says: []string{"layers[0].target.by", "no method"}},
		{Path: path + "/create", Body: create(`[{"target":{"person_ids":[2476123212131,7],"by":{"follow_preference":true}}}]`), Code: "InvalidParameter", Says: []string{"layers[0].target.person_ids[1]", "person 7"}},
		{Path: path + "/create", Body: create(`[{"target":{"schedule_to_role_ids":{"9":[0]},"by":{"follow_preference":true}}}]`), Code: "InvalidParameter", Says: []string{"schedule_to_role_ids.9", "schedule 9"}},
		{Path: path + "/create", Body: create(`[{"target":{"schedule_to_role_ids":{"x":[0]},"by":{"follow_preference":true}}}]`), Code: "InvalidParameter", Says: []string{"schedule_to_role_ids"}},
		{Path: path + "/create", Body: create(`[{"target":{"emails":["nobody"]}}]`), Code: "InvalidParameter", Says: []string{"layers[0].target.emails[0]"}},
		{Path: path + "/create", Body: create(`[{"notify_step":0.4,"target":{"emails":["a@b.c"]}}]`), Code: "InvalidParameter", Says: []string{"notify_step"}},
		{Path: path + "/create", Body: strings.Replace(create(layers), templateID, "69db2f72a0fe7db6448b1506", 1), Code: "InvalidParameter", Says: []string{"template_id"}},
		{Path: path + "/create", Body: create(layers), Keep: map[string]string{"id": "rule_id"}, Golden: "channel_escalate_rule_create"},
		{Path: path + "/info", Body: `{"channel_id":$ch,"rule_id":"$id"}`, Data: whole, Golden: "channel_escalate_rule_info"},
		{Path: path + "/info", Key: apitest.KeyReader, Body: `{"channel_id":$ch,"rule_id":"$id"}`, Data: blank},
		{Path: path + "/update", Body: strings.Replace(strings.Replace(create(layers), templateID, "6321AAD26c12104586a88916", 1), "{", `{"rule_id":"$id",`, 1), Data: `{}`},
		{Path: path + "/info", Body: `{"channel_id":$ch,"rule_id":"$id"}`, Data: strings.Replace(whole, templateID, "6321AAD26c12104586a88916", 1)},
		{Path: path + "/update", Body: strings.Replace(create(layers), "{", `{"rule_id":"$id",`, 1), Data: `{}`},
		{Path: path + "/list", Body: `{"channel_id":$ch}`, Data: `{"items":[` + whole + `]}`, Golden: "channel_escalate_rule_list"},
		{Path: path + "/list", Key: apitest.KeyReader, Body: `{"channel_id":$ch}`, Data: `{"items":[` + blank + `]}`},
		// an update with what a reader sees changes nothing
		{Path: path + "/update", Body: strings.Replace(strings.NewReplacer("https://hooks.example.com/T1/secret", "", "s3cr3t", "").Replace(create(layers)), "{", `{"rule_id":"$id",`, 1), Data: `{}`, Golden: "channel_escalate_rule_update"},
		{Path: path + "/info", Body: `{"channel_id":$ch,"rule_id":"$id"}`, Data: whole},
		{Path: path + "/disable", Body: `{"channel_id":$ch,"rule_id":"$id"}`, Data: `{"warnings":["the channel has no enabled escalation rule, so its incidents reach only the account's fallback"]}`, Golden: "channel_escalate_rule_disable"},
		{Path: path + "/info", Body: `{"channel_id":$ch,"rule_id":"$id"}`, Data: strings.Replace(whole, `"enabled"`, `"disabled"`, 1)},
		{Path: path + "/enable", Body: `{"channel_id":$ch,"rule_id":"$id"}`, Data: `{}`, Golden: "channel_escalate_rule_enable"},
		{Path: path + "/info", Body: `{"channel_id":$ch,"rule_id":"$id"}`, Data: whole},
		{Path: "/team/delete", Body: `{"team_id":4291079133131}`, Code: "ReferenceExist", Has: `{"refs":[{"kind":"escalate_rule","id":"$id"}]}`},
		{Path: "/schedule/create", Body: `{"schedule_name":"Empty"}`, Keep: map[string]string{"sched": "schedule_id"}},
		{Path: path + "/update", Body: `{"channel_id":$ch,"rule_id":"$id","rule_name":"Alle","template_id":"` + templateID + `","layers":[{"max_times":1,"target":{"schedule_to_role_ids":{"$sched":[]},"by":{"follow_preference":true}}}]}`,
			Data: `{"warnings":["layers[0].target.schedule_to_role_ids.$sched: schedule $sched is disabled or has no layers, so no one is on call in it","layers[0].notify_step: is not set, so max_times has no effect"]}`},
		{Path: "/schedule/delete", Body: `{"schedule_ids":[$sched]}`, Code: "ReferenceExist", Has: `{"refs":[{"kind":"escalate_rule","id":"$id","name":"Alle"}]}`},
		{Path: path + "/delete", Key: apitest.KeyReader, Body: `{"channel_id":$ch,"rule_id":"$id"}`, Code: "AccessDenied"},
		{Path: path + "/delete", Body: `{"channel_id":$ch,"rule_id":"$id","dry_run":true}`, Has: `{"allowed":true}`},
		{Path: path + "/delete", Body: `{"channel_id":$ch,"rule_id":"$id"}`, Data: `{"warnings":["the channel has no enabled escalation rule, so its incidents reach only the account's fallback"]}`, Golden: "channel_escalate_rule_delete"},
		{Path: path + "/info", Body: `{"channel_id":$ch,"rule_id":"$id"}`, Data: `null`},
		{Path: path + "/info", Body: `{"channel_id":9,"rule_id":"$id"}`, Data: `null`},
		{Path: path + "/info", Key: apitest.KeyB, Body: `{"channel_id":$ch,"rule_id":"$id"}`, Data: `null`},
		{Path: path + "/info", Key: apitest.KeyNothing, Body: `{"channel_id":$ch,"rule_id":"$id"}`, Code: "AccessDenied"},
		{Path: path + "/update", Body: `{"channel_id":$ch,"rule_id":"$id","rule_name":"x","template_id":"` + templateID + `","layers":` + layers + `}`, Code: "ResourceNotFound"},
		{Path: "/schedule/delete", Body: `{"schedule_ids":[$sched]}`, Data: `{}`},
	})
}

func TestSecretsOfEscalateRulesAreSealed(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, channel.Ops(apitest.Box(t)))
	s.Converse(t, []apitest.Turn{
		{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"x"}`, Keep: map[string]string{"ch": "channel_id"}},
		{Path: "/channel/escalate/rule/create", Body: `{"channel_id":$ch,"rule_name":"a","template_id":"` + templateID + `","layers":` + layers + `}`},
	})
	var n int64
	s.Exec(`DELETE FROM object WHERE body NOT LIKE '%T1/secret%' AND body NOT LIKE '%s3cr3t%'`)
	if err := s.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
		n, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM object`)
		return err
	}); err != nil || n != 0 {
		t.Errorf("%d objects hold secrets in clear: %v", n, err)
	}
}
