package channel_test

import (
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/platform/db"
)

func TestRepeatOfRule(t *testing.T) {
	t.Parallel()
	s := start(t)
	rule := func(repeat string) string { return escalation(many(1, emailLayer), `,"repeat":`+repeat) }
	refused := func(name, repeat string, says ...string) apitest.Scenario {
		return apitest.Scenario{Name: name, Body: rule(repeat), Code: "InvalidParameter", Says: says}
	}
	s.Scenarios(t, "/channel/escalate/rule/create", []apitest.Scenario{
		{Name: "as often as possible", Body: rule(`{"times":20,"interval":5}`)},
		{Name: "until acknowledged", Body: rule(`{"until_acknowledged":true,"interval":1440}`)},
		{Name: "the default interval", Body: rule(`{"times":0}`)},
		refused("too often", `{"times":21}`, "repeat.times", "20", "21"),
		refused("too soon", `{"times":1,"interval":4}`, "repeat.interval", "5", "4"),
		refused("too late", `{"times":1,"interval":1441}`, "repeat.interval", "1440"),
		refused("both", `{"times":1,"until_acknowledged":true}`, "repeat", "either"),
		refused("neither", `{"interval":5}`, "repeat", "either"),
	})
	s.Converse(t, []apitest.Turn{
		{Path: "/channel/escalate/rule/create", Body: rule(`{"times":2,"interval":10}`), Keep: map[string]string{"id": "rule_id"}},
		{Path: "/channel/escalate/rule/update", Body: `{"rule_id":"$id",` + escalation(many(1, emailLayer), "")[1:]},
		{Path: "/channel/escalate/rule/info", Body: `{"channel_id":1001,"rule_id":"$id"}`, Has: `{"repeat":{"times":2,"interval":10}}`},
		{Path: "/channel/escalate/rule/update", Body: `{"rule_id":"$id",` + rule(`{"times":0}`)[1:]},
		{Path: "/channel/escalate/rule/info", Body: `{"channel_id":1001,"rule_id":"$id"}`, Has: `{"repeat":{"times":0}}`},
	})
}

// The account file has the bounds of the API.
func TestRepeatAndRemindersOfAccountFile(t *testing.T) {
	t.Parallel()
	s, keyring := start(t), apitest.Box(t)
	for want, repeat := range map[string]*channel.Repeat{
		"repeat.interval: must be from 5 to 1440 minutes, got 1": {Times: new(int64(1)), Interval: new(int64(1))},
		"repeat.times: must be from 0 to 20, got 99":             {Times: new(int64(99))},
		"repeat: must have either times or until_acknowledged":   {},
	} {
		r := channel.EscalateRule{Rule: channel.Rule{RuleID: templateID, ChannelID: open, RuleName: "r", Status: "enabled"}, TemplateID: templateID, Repeat: repeat}
		r.Layers = []channel.Layer{{Target: channel.Target{Emails: []string{"a@example.com"}}}}
		err := within(s.DB, func(tx *db.Tx) error {
			return channel.Escalates.Load(tx, keyring, apitest.AccountA, []channel.EscalateRule{r})
		})
		if err == nil || err.Error() != "escalate_rules[0]."+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for want, settings := range map[string]channel.Settings{
		"reminder.withdraw.warning: must be 0 or from 5 to 1440 minutes, got 4": {
			Reminder: &channel.Reminder{Withdraw: &channel.Withdrawal{Warning: new(int64(4))}},
		},
		"reminder.info: must be 0 or from 5 to 10080 minutes, got 4": {Reminder: &channel.Reminder{Info: new(int64(4))}},
		"joined_interval: must be from 1 to 1440, got 0":             {JoinedInterval: new(int64(0))},
	} {
		c := channel.Channel{ChannelID: 77, ChannelName: "c", Status: "enabled", Settings: settings}
		err := within(s.DB, func(tx *db.Tx) error { return channel.Load(tx, apitest.AccountA, []channel.Channel{c}) })
		if err == nil || err.Error() != "channels[0]."+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestRemindersOfChannel(t *testing.T) {
	t.Parallel()
	s := start(t)
	update := func(members string) string { return fmt.Sprintf(`{"channel_id":%d,%s}`, open, members) }
	s.Scenarios(t, "/channel/update", []apitest.Scenario{
		{Name: "at the bounds", Body: update(`"reminder":{"critical":10080,"warning":5,"info":0},"joined_interval":1440`)},
		{Name: "too often", Body: update(`"reminder":{"warning":4}`), Code: "InvalidParameter", Says: []string{"reminder.warning", "5", "4"}},
		{Name: "too rarely", Body: update(`"reminder":{"critical":10081}`), Code: "InvalidParameter", Says: []string{"reminder.critical", "10080"}},
		{Name: "withdrawn too soon", Body: update(`"reminder":{"withdraw":{"critical":4}}`), Code: "InvalidParameter", Says: []string{"reminder.withdraw.critical", "5", "4"}},
		{Name: "withdrawn too late", Body: update(`"reminder":{"withdraw":{"info":1441}}`), Code: "InvalidParameter", Says: []string{"reminder.withdraw.info", "1440"}},
		{Name: "withdrawn at the bounds", Body: update(`"reminder":{"critical":10080,"warning":5,"info":0,"withdraw":{"critical":0,"warning":5,"info":1440}}`)},
		{Name: "no interval", Body: update(`"joined_interval":0`), Code: "InvalidParameter", Says: []string{"joined_interval", "1"}},
		{Name: "too long", Body: update(`"joined_interval":1441`), Code: "InvalidParameter", Says: []string{"joined_interval", "1440"}},
		{Name: "without permission", Key: apitest.KeyReader, Body: update(`"joined_interval":5`), Code: "AccessDenied"},
	})
	s.Converse(t, []apitest.Turn{{
		Path: "/channel/info", Body: update(`"x":1`), Has: `{"reminder":{"critical":10080,"warning":5,"info":0,"withdraw":{"critical":0,"warning":5,"info":1440}},"joined_interval":1440}`,
	}})
}

// Absent settings have defaults. An acknowledged Critical incident is asked about after an hour, a Warning after eight. A
// Critical incident that no person has acknowledged reminds every four hours.
func TestDefaultsOfReminders(t *testing.T) {
	t.Parallel()
	every := func(s channel.Settings, acknowledged bool, want ...int64) {
		t.Helper()
		for n, severity := range []string{"Critical", "Warning", "Info"} {
			if got := s.ReminderInterval(severity, acknowledged); got != want[n]*60 {
				t.Errorf("%s, acknowledged %t: %d seconds, want %d minutes", severity, acknowledged, got, want[n])
			}
		}
	}
	withdraws := func(s channel.Settings, severity string, minutes int64, want bool) {
		t.Helper()
		if wait, got := s.Withdrawal(severity); wait != minutes*60 || got != want {
			t.Errorf("%s: %d seconds, %t", severity, wait, got)
		}
	}
	var s channel.Settings
	every(s, true, 60, 480, 0)
	every(s, false, 240, 0, 0)
	withdraws(s, "Critical", 10, true)
	withdraws(s, "Warning", 10, false)
	withdraws(s, "Info", 10, false)
	if got := s.JoinedSeconds(); got != 300 {
		t.Errorf("alerts join for %d seconds", got)
	}
	s.Reminder = &channel.Reminder{Warning: new(int64(30)), Withdraw: &channel.Withdrawal{Critical: new(int64(0)), Warning: new(int64(20))}}
	every(s, true, 60, 30, 0)
	every(s, false, 240, 30, 0)
	withdraws(s, "Critical", 10, false)
	withdraws(s, "Warning", 20, true)
}
