package integration_test

import (
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
)

func TestUsable(t *testing.T) {
	s, keyring := apitest.Start(t), apitest.Box(t)
	app := func(id int64, kind, status string, credentials map[string]string) integration.Integration {
		return integration.Integration{IntegrationID: id, IntegrationName: "a", IntegrationType: kind, Status: status, Settings: &integration.Settings{App: credentials}}
	}
	slack := map[string]string{"token": "x"}
	s.Write(func(tx *db.Tx) error {
		return integration.Load(tx, keyring, apitest.AccountA, []integration.Integration{
			app(1, "slack_app", "enabled", slack), app(2, "slack_app", "disabled", slack), app(3, "teams_app", "enabled", nil),
			app(4, "feishu_app", "enabled", map[string]string{"app_id": "a", "app_secret": "x"}), app(5, "feishu_app", "enabled", map[string]string{"app_id": "b", "app_secret": "x"}),
			app(6, "dingtalk_app", "enabled", map[string]string{"app_key": "a", "app_secret": "x"}), app(7, "wecom_app", "enabled", map[string]string{"corp_id": "a", "secret": "x"}),
		})
	})
	for _, c := range []struct {
		account int64
		kind    string
		id      int64
		want    string
	}{
		{apitest.AccountA, "slack_app", 1, "slack.App"},
		{apitest.AccountA, "feishu_app", 4, "feishu.App"},
		{apitest.AccountA, "dingtalk_app", 6, "dingtalk.App"},
		{apitest.AccountA, "wecom_app", 7, "wecom.App"},
		{apitest.AccountB, "slack_app", 1, "the integration 1 does not exist"},
		{apitest.AccountA, "slack_app", 2, "the integration 2 (a) is disabled"},
		{apitest.AccountA, "slack_app", 4, "the integration 4 (a) is a feishu_app, not a slack_app"},
		{apitest.AccountA, "teams_app", 3, "Tocsin cannot send messages to persons in Microsoft Teams"},
	} {
		s.Read(func(tx *db.Tx) error {
			service, err := integration.Open(tx, keyring, c.account, c.kind, c.id)
			got := fmt.Sprintf("%T", service)
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%s %d of %d: %s, want %s", c.kind, c.id, c.account, got, c.want)
			}
			return nil
		})
	}
	for kind, want := range map[string]string{"slack_app": "1 ", "feishu_app": "0 the account has 2 apps of the type feishu_app, and feishu_app:ID must select one", "x": "0 the account has no x that is enabled"} {
		s.Read(func(tx *db.Tx) error {
			id, why, err := integration.Only(tx, apitest.AccountA, kind)
			if got := fmt.Sprint(id, " ", why); got != want || err != nil {
				t.Errorf("%s: %s %v, want %s", kind, got, err, want)
			}
			return nil
		})
	}
}
