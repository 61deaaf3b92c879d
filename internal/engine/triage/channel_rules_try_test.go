package triage_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/triage"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
)

// startTry starts a server with a channel that has a rule of each kind.
func startTry(t *testing.T) *apitest.Server {
	t.Helper()
	bus, keyring := &activity.Bus{}, apitest.Box(t)
	notifier := notify.New(notify.Config{Bus: bus, Keyring: keyring, Clock: clock.At(apitest.Now), Can: func(string) bool { return true }})
	r := triage.New(triage.Config{Bus: bus, Escalation: &escalation.Service{Bus: bus, Keyring: keyring, Notify: notifier}})
	s := apitest.Start(t, r.Ops())
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1001, ChannelName: "Payments"}, {ChannelID: 1002, ChannelName: "Security", TeamID: 99, IsPrivate: true}}); err != nil {
			return err
		}
		read := func(text string, into any) {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				t.Fatal(err)
			}
		}
		var drops []channel.DropRule
		read(`[{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "channel_id": 1001, "rule_name": "Noise", "filters": [[{"key": "labels.env", "oper": "IN", "vals": ["test"]}]]},
			{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e02", "channel_id": 1001, "rule_name": "Off", "status": "disabled", "filters": [[{"key": "labels.env", "oper": "IN", "vals": ["prod"]}]]}]`, &drops)
		var silences []channel.SilenceRule
		read(`[{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e03", "channel_id": 1001, "rule_name": "Moving", "filters": [[{"key": "labels.env", "oper": "IN", "vals": ["test", "moving"]}]], "time_filter": {"start_time": 1770000000, "end_time": 1790000000}},
			{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e04", "channel_id": 1001, "rule_name": "Past", "filters": [[{"key": "labels.env", "oper": "IN", "vals": ["prod"]}]], "time_filter": {"start_time": 1700000000, "end_time": 1700000001}}]`, &silences)
		var inhibits []channel.InhibitRule
		read(`[{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e05", "channel_id": 1001, "rule_name": "Host down", "source_filters": [[{"key": "labels.check", "oper": "IN", "vals": ["host"]}]], "target_filters": [[{"key": "labels.check", "oper": "IN", "vals": ["web"]}]], "equals": ["labels.host"]}]`, &inhibits)
		var rules []channel.EscalateRule
		read(`[{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e06", "channel_id": 1001, "rule_name": "Rita", "template_id": "000000000000000000000001", "layers": [{"target": {"person_ids": [2659460982131], "by": {"follow_preference": true}}, "escalate_window": 10}]}]`, &rules)
		for _, load := range []func() error{
			func() error { return channel.Drops.Load(tx, keyring, apitest.AccountA, drops) },
			func() error { return channel.Silences.Load(tx, keyring, apitest.AccountA, silences) },
			func() error { return channel.Inhibits.Load(tx, keyring, apitest.AccountA, inhibits) },
			func() error { return channel.Escalates.Load(tx, keyring, apitest.AccountA, rules) },
			func() error {
				return alert.Load(tx, apitest.AccountA, []alert.Alert{{AlertID: "663a1b2c3d4e5f6789abcdef", ChannelID: 1001, Title: "Host down", AlertKey: "h", AlertSeverity: "Critical", AlertStatus: "Critical",
					StartTime: apitest.Now.Unix() - 60, LastTime: apitest.Now.Unix() - 60, Labels: map[string]string{"check": "host", "host": "a"}}})
			},
		} {
			if err := load(); err != nil {
				return err
			}
		}
		return nil
	})
	return s
}

// TestRulesTry tries alerts on a channel: each of its rules answers, and the first that applies decides.
func TestRulesTry(t *testing.T) {
	t.Parallel()
	s := startTry(t)
	s.Converse(t, []apitest.Turn{
		{Path: "/channel/rules/try", Body: `{"channel_id": 1001, "alert": {"title": "Disk full", "alert_severity": "Critical", "labels": {"env": "prod", "check": "disk"}}}`, Golden: "channel_rules_try"},
		{Path: "/channel/rules/try", Body: `{"channel_id": 1001, "alert": {"labels": {"env": "test"}}}`,
			Has: `{"outcome": "dropped", "escalation": null, "rules": [{"rule_name": "Noise", "matched": true, "decides": true}, {"rule_name": "Moving", "matched": true, "decides": false}, {"rule_name": "Past", "matched": false}, {"rule_name": "Host down", "matched": false}]}`},
		{Path: "/channel/rules/try", Body: `{"channel_id": 1001, "alert": {"labels": {"env": "moving"}}}`,
			Has: `{"outcome": "silenced", "escalation": null, "rules": [{"decides": false}, {"rule_name": "Moving", "decides": true, "until": 1790000000}, {"rule_name": "Past"}, {"rule_name": "Host down"}]}`},
		{Path: "/channel/rules/try", Body: `{"channel_id": 1001, "alert": {"labels": {"check": "web", "host": "a"}}}`,
			Has: `{"outcome": "inhibited", "rules": [{}, {}, {}, {"rule_name": "Host down", "decides": true, "why": "alert \"Host down\" (663a1b2c3d4e5f6789abcdef) is active"}]}`},
		{Path: "/channel/rules/try", Body: `{"channel_id": 1001, "alert": {"labels": {"check": "web", "host": "b"}}}`,
			Has: `{"outcome": "opened", "rules": [{}, {}, {}, {"rule_name": "Host down", "matched": false}]}`},
		{Path: "/channel/rules/try", Body: `{"channel_id": 1001, "alert_id": "663a1b2c3d4e5f6789abcdef"}`, Has: `{"outcome": "opened", "title": "Host down", "escalation": {"rules": [{"rule_name": "Rita", "matched": true}]}}`},
		{Path: "/channel/rules/try", Body: `{"channel_id": 1001, "alert": {"alert_severity": "Ok"}}`, Has: `{"outcome": "unmatched"}`},
		{Path: "/channel/rules/try", Body: `{"channel_id": 1001, "alert": {"integration_id": 5}}`, Code: "ResourceNotFound"},
		{Path: "/channel/rules/try", Body: `{"channel_id": 1001}`, Code: "InvalidParameter"},
		{Path: "/channel/rules/try", Key: apitest.KeyReader, Body: `{"channel_id": 1002, "alert": {}}`, Code: "AccessDenied"},
		{Path: "/channel/rules/try", Key: apitest.KeyB, Body: `{"channel_id": 1001, "alert": {}}`, Code: "ResourceNotFound"},
	})
}
