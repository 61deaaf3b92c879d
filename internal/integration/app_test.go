package integration_test

import (
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
)

func TestAppLifecycle(t *testing.T) {
	keyring := apitest.Box(t)
	s := apitest.Start(t, (&integration.Service{Keyring: keyring}).Ops(), channel.Ops(keyring))
	s.Grant(auth.IntegrationsRead)
	refused := func(kind, settings string, says ...string) apitest.Turn {
		return apitest.Turn{Path: "/integration/create", Body: `{"integration_name":"a","integration_type":"` + kind + `","settings":` + settings + `}`, Code: "InvalidParameter", Says: says}
	}
	s.Converse(t, []apitest.Turn{
		refused("slack_app", `{}`, "settings.app.token", "required"),
		refused("slack_app", `{"app":{"token":""}}`, "settings.app.token", "required"),
		refused("slack_app", `{"app":{"token":"x","color":"red"}}`, "settings.app.color", "slack_app"),
		refused("slack_app", `{"app":{"token":"x","private":"maybe"}}`, "settings.app.private", "maybe"),
		refused("feishu_app", `{"app":{"app_secret":"x"}}`, "settings.app.app_id"),
		refused("dingtalk_app", `{"app":{"app_key":"x"}}`, "settings.app.app_secret"),
		refused("wecom_app", `{"app":{"corp_id":"","secret":"x"}}`, "settings.app.corp_id"),
		refused("wecom_app", `{"app":{"corp_id":"a","secret":"x","base_url":"ftp://x"}}`, "settings.app.base_url"),
		refused("wecom_app", `{"app":{"corp_id":"a","secret":"x","agent_id":"one"}}`, "settings.app.agent_id", "one"),
		refused("teams_app", `{"war_room_enabled":true}`, "settings.war_room_enabled", "Teams"),
		refused("webhook_alert", `{"endpoint":"https://example.com","war_room_enabled":true}`, "settings.app", "webhook_alert"),
		refused("standard", `{"app":{"token":"x"}}`, "settings.app", "standard"),
		{Path: "/integration/create", Body: `{"integration_name":"a","integration_type":"slack_app"}`, Code: "InvalidParameter", Says: []string{"settings.app.token"}},
		{Path: "/integration/create", Body: `{"integration_name":"T","integration_type":"teams_app"}`, Has: `{"integration_key":"","push_url":""}`},
		{Path: "/integration/create", Body: `{"integration_name":"S","integration_type":"slack_app","settings":{"app":{"token":"xoxb-tok3n","base_url":"http://127.0.0.1:1"},"war_room_enabled":true}}`, Keep: map[string]string{"id": "integration_id"},
			Has: `{"integration_key":"","push_url":"","warnings":["settings.app.base_url: is an address of this network; calls go there only where the server allows it"]}`},
		{Path: "/integration/info", Body: `{"integration_id":$id}`, Has: `{"settings":{"app":{"token":"xoxb-tok3n"},"war_room_enabled":true}}`},
		{Path: "/integration/info", Key: apitest.KeyReader, Body: `{"integration_id":$id}`, Has: `{"settings":{"app":{"token":"","base_url":"http://127.0.0.1:1"}}}`},
		{Path: "/integration/update", Body: `{"integration_id":$id,"settings":{"app":{"token":"","private":"true"},"war_room_enabled":true}}`, Data: `{}`},
		{Path: "/integration/info", Body: `{"integration_id":$id}`, Has: `{"settings":{"app":{"token":"xoxb-tok3n","private":"true"}}}`},
		refused("feishu_app", `{"app":{"app_id":"a","app_secret":"s3cr3t"},"war_room_enabled":true}`, "settings.war_room_enabled", "$id (S)", "only one"),
		{Path: "/integration/create", Body: `{"integration_name":"F","integration_type":"feishu_app","settings":{"app":{"app_id":"a","app_secret":"s3cr3t"}}}`, Keep: map[string]string{"other": "integration_id"}},
		{Path: "/integration/key/rotate", Body: `{"integration_id":$id}`, Code: "InvalidParameter", Says: []string{"slack_app"}},
		{Path: "/integration/update", Body: `{"integration_id":$id,"settings":{"app":{"token":""}}}`, Data: `{}`},
		{Path: "/integration/update", Body: `{"integration_id":$other,"settings":{"app":{"app_id":"a","app_secret":""},"war_room_enabled":true}}`, Data: `{}`},
		{Path: "/integration/info", Body: `{"integration_id":$other}`, Has: `{"settings":{"app":{"app_id":"a","app_secret":"s3cr3t"},"war_room_enabled":true}}`},
	})
	s.Read(func(tx *db.Tx) error {
		n, _, err := db.One(tx, db.Column[int64], `SELECT (SELECT count(*) FROM object WHERE body LIKE '%tok3n%' OR body LIKE '%s3cr3t%') + (SELECT count(*) FROM audit_log WHERE body LIKE '%tok3n%' OR body LIKE '%s3cr3t%')`)
		if n != 0 {
			t.Errorf("%d rows hold secrets in clear", n)
		}
		return err
	})
}

func TestLoadApps(t *testing.T) {
	apitest.RoundTrip(t, integration.Kind, []integration.Integration{
		{AccountID: apitest.AccountA, IntegrationID: 11, IntegrationName: "a", IntegrationType: "slack_app", Status: "enabled", Settings: &integration.Settings{App: map[string]string{"token": "t0ken"}, WarRoomEnabled: true}},
		{AccountID: apitest.AccountA, IntegrationID: 12, IntegrationName: "b", IntegrationType: "wecom_app", Status: "enabled", Settings: &integration.Settings{App: map[string]string{"corp_id": "c", "secret": "s3cret", "owner": "o"}}},
	}, map[string]func(*integration.Integration){
		"settings.app.token": func(i *integration.Integration) { i.Settings = nil },
		"settings.app.color": func(i *integration.Integration) {
			i.Settings = &integration.Settings{App: map[string]string{"color": "x"}}
		},
		"settings.app.private": func(i *integration.Integration) {
			i.Settings = &integration.Settings{App: map[string]string{"token": "x", "private": "x"}}
		},
	})
	s, keyring := apitest.Start(t), apitest.Box(t)
	app := func(id int64) integration.Integration {
		return integration.Integration{IntegrationID: id, IntegrationName: "a", IntegrationType: "slack_app", Settings: &integration.Settings{App: map[string]string{"token": "x"}, WarRoomEnabled: true}}
	}
	err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
		return integration.Load(tx, keyring, apitest.AccountA, []integration.Integration{app(1), app(2)})
	})
	if err == nil || !strings.Contains(err.Error(), "integrations[0].settings.war_room_enabled") {
		t.Errorf("two with war rooms: %v", err)
	}
}
