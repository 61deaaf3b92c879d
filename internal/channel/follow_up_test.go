package channel_test

import (
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/platform/db"
)

func TestRepeatOfARule(t *testing.T) {
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
func TestRepeatAndRemindersOfAnAccountFile(t *testing.T) {
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

func TestRemindersOfAChannel(t *testing.T) {
	t.Parallel()
	s := start(t)
	update := func(members string) string { return fmt.Sprintf(`{"channel_id":%d,%s}`, open, members) }
	s.Scenarios(t, "/channel/update", []apitest.Scenario{
		{Name: "at the bounds", Body: update(`"reminder":{"critical":10080,"warning":5,"info":0},"joined_interval":1440`)},
		{Name: "too often", Body: update(`"reminder":{"warning":4}`), Code: "InvalidParameter", Says: []string{"reminder.warning", "5", "4"}},
		{Name: "too rarely", Body: update(`"reminder":{"critical":10081}`), Code: "InvalidParameter", Says: []string{"reminder.critical", "10080"}},
		{Name: "no interval", Body: update(`"joined_interval":0`), Code: "InvalidParameter", Says: []string{"joined_interval", "1"}},
		{Name: "too long", Body: update(`"joined_interval":1441`), Code: "InvalidParameter", Says: []string{"joined_interval", "1440"}},
		{Name: "without permission", Key: apitest.KeyReader, Body: update(`"joined_interval":5`), Code: "AccessDenied"},
	})
	s.Converse(t, []apitest.Turn{{
		Path: "/channel/info", Body: update(`"x":1`), Has: `{"reminder":{"critical":10080,"warning":5,"info":0},"joined_interval":1440}`,
	}})
}

// What is not set has its default: reminders of Critical every four hours, one message in five minutes.
func TestDefaultsOfReminders(t *testing.T) {
	t.Parallel()
	var s channel.Settings
	if c, w, i, j := s.ReminderInterval("Critical"), s.ReminderInterval("Warning"), s.ReminderInterval("Info"), s.JoinedSeconds(); c != 4*3600 || w != 0 || i != 0 || j != 300 {
		t.Errorf("%d, %d, %d and %d seconds", c, w, i, j)
	}
	s.Reminder = &channel.Reminder{Warning: new(int64(30))}
	if c, w := s.ReminderInterval("Critical"), s.ReminderInterval("Warning"); c != 4*3600 || w != 1800 {
		t.Errorf("%d and %d seconds", c, w)
	}
}
