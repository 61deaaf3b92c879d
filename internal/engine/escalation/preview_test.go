package escalation_test

import (
	"encoding/json"
	"testing"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

// begin starts a server with a channel and a rule: first the person on call in a schedule that is empty by day, then
// Reader, then the same schedule with a fallback.
func begin(t *testing.T) *apitest.Server {
	bus, keyring := &activity.Bus{}, apitest.Box(t)
	notifier := notify.New(notify.Config{Bus: bus, Keyring: keyring, Clock: clock.At(apitest.Now), Can: func(method string) bool { return method == "email" }})
	s := apitest.Start(t, (&escalation.Service{Bus: bus, Keyring: keyring, Notify: notifier}).Ops())
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1001, ChannelName: "Payments"}, {ChannelID: 1002, ChannelName: "Security", TeamID: 99, IsPrivate: true}, {ChannelID: 1003, ChannelName: "Silent"}}); err != nil {
			return err
		}
		if err := incident.Load(tx, apitest.AccountA, []incident.Incident{{IncidentID: "663a1b2c3d4e5f6789abcdf0", Title: "Disk", ChannelID: 1001, Severity: "Critical"}}); err != nil {
			return err
		}
		var schedules []schedule.Record
		if err := json.Unmarshal([]byte(`[{"schedule_id": 31, "schedule_name": "Night", "layers": [{"layer_name": "n", "mode": 0, "layer_start": 1767225600, "rotation_unit": "day", "rotation_value": 1, "restrict_mode": 1, "restrict_periods": [{"restrict_start": 79200, "restrict_end": 21600}], "groups": [{"group_name": "N", "members": [{"role_id": 0, "person_ids": [2659460982131]}]}]}]}]`), &schedules); err != nil {
			return err
		}
		if err := schedule.Load(tx, keyring, apitest.AccountA, schedules); err != nil {
			return err
		}
		var rules []channel.EscalateRule
		if err := json.Unmarshal([]byte(`[
			{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e00", "channel_id": 1001, "rule_name": "Info only", "priority": 0, "template_id": "000000000000000000000001", "layers": [{"target": {"emails": ["i@example.com"]}}], "filters": [[{"key": "severity", "oper": "IN", "vals": ["Info"]}]]},
			{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "channel_id": 1001, "rule_name": "Night, then Rita", "priority": 1, "template_id": "000000000000000000000001", "aggr_window": 60, "layers": [
				{"target": {"schedule_to_role_ids": {"31": []}, "by": {"follow_preference": true}}, "escalate_window": 10},
				{"target": {"person_ids": [2659460982131], "by": {"follow_preference": true}, "webhooks": [{"type": "slack", "settings": {"token": "T"}}]}, "max_times": 1, "notify_step": 5, "escalate_window": 15},
				{"target": {"schedule_to_role_ids": {"31": []}, "by": {"follow_preference": true}}, "on_nobody": {"then": "fallback", "person_id": 2476123212131}}]}]`), &rules); err != nil {
			return err
		}
		return channel.Escalates.Load(tx, keyring, apitest.AccountA, rules)
	})
	return s
}

func TestPreview(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.Scenarios(t, "/incident/escalation/preview", []apitest.Scenario{
		{Name: "of what might be", Body: `{"channel_id": 1001, "labels": {"service": "checkout"}}`, Golden: "incident_escalation_preview"},
		{Name: "by a draft", Body: `{"channel_id": 1001, "at": 1776052800, "rule": {"channel_id": 1001, "rule_name": "Draft", "template_id": "000000000000000000000001", "layers": [{"target": {"emails": ["d@example.com"]}}]}}`, Golden: "incident_escalation_preview_draft"},
		{Name: "by a draft that names no one", Body: `{"channel_id": 1001, "rule": {"channel_id": 1001, "rule_name": "Draft", "template_id": "000000000000000000000001", "layers": [{"target": {}}]}}`, Code: "InvalidParameter", Says: []string{"rule.layers[0].target"}},
		{Name: "by a draft of another channel", Body: `{"channel_id": 1001, "rule": {"channel_id": 1003, "rule_name": "Draft", "template_id": "000000000000000000000001", "layers": [{"target": {"emails": ["d@example.com"]}}]}}`, Code: "InvalidParameter", Says: []string{"must be the channel of the incident, 1001, got 1003"}},
		{Name: "of an incident", Body: `{"incident_id": "663a1b2c3d4e5f6789abcdf0"}`},
		{Name: "at night", Body: `{"channel_id": 1001, "at": 1776092400}`, Golden: "incident_escalation_preview_night"},
		{Name: "another severity", Body: `{"channel_id": 1001, "incident_severity": "Info"}`},
		{Name: "a channel without rules", Body: `{"channel_id": 1003, "at": 1776052800}`, Data: `{"at": 1776052800, "rules": [], "steps": [], "ends": "no escalation rule matches, so the account's fallback is notified"}`},
		{Name: "a private channel", Key: apitest.KeyReader, Body: `{"channel_id": 1002}`, Code: "AccessDenied"},
		{Name: "an unknown channel", Body: `{"channel_id": 9}`, Code: "ResourceNotFound"},
		{Name: "an unknown incident", Body: `{"incident_id": "000000000000000000000000"}`, Code: "ResourceNotFound"},
		{Name: "nothing", Body: `{}`, Code: "InvalidParameter", Says: []string{"channel_id"}},
	})
}
