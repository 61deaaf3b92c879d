package incident_test

import (
	"fmt"
	"testing"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

var silenceAll = filter.Filter{{{Key: "severity", Oper: "IN", Vals: []string{"Info"}}}}

const (
	disk    = "663a1b2c3d4e5f6789ab0001" // of Alertmanager, in an incident with disk2
	disk2   = "663a1b2c3d4e5f6789ab0002" // another instance
	plain   = "663a1b2c3d4e5f6789ab0003" // of a source without identifying labels
	hidden  = "663a1b2c3d4e5f6789ab0004" // in a private channel
	severe  = "663a1b2c3d4e5f6789ab0005" // Critical, with the labels of disk
	strange = "663a1b2c3d4e5f6789ab0006" // whose key and label have the form of expressions
	full    = "663a1b2c3d4e5f6789ab00f0" // the incident of disk and disk2
	empty   = "663a1b2c3d4e5f6789ab00f1" // an incident without alerts
)

// beginSilences starts a server with alerts to silence.
func beginSilences(t *testing.T) *apitest.Server {
	s := apitest.Start(t, (&incident.Service{Bus: &activity.Bus{}}).Ops(), alert.Ops(),
		channel.Ops(apitest.Box(t)))
	identity := []string{"alertname", "instance", "job", "service"}
	labels := func(instance string) map[string]string {
		return map[string]string{"alertname": "DiskFull", "service": "db", "job": "node", "instance": instance, "summary": "3% left on " + instance}
	}
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1001, ChannelName: "Payments"}, {ChannelID: 1002, ChannelName: "Security", TeamID: 99, IsPrivate: true}}); err != nil {
			return err
		}
		of := &alert.Incident{IncidentID: full}
		if err := alert.Load(tx, apitest.AccountA, []alert.Alert{
			{AlertID: disk, ChannelID: 1001, AlertKey: "k1", Title: "Disk of db-1 has 3% left, and the title goes on", AlertSeverity: "Warning", AlertStatus: "Warning", StartTime: 1, Labels: labels("db-1"), Identifying: identity, Incident: of},
			{AlertID: disk2, ChannelID: 1001, AlertKey: "k2", Title: "Disk of db-2", AlertSeverity: "Info", AlertStatus: "Info", StartTime: 2, Labels: labels("db-2"), Identifying: identity, Incident: of},
			{AlertID: plain, ChannelID: 1001, AlertKey: "k3", Title: "Ping", AlertSeverity: "Warning", AlertStatus: "Warning", StartTime: 3, Labels: labels("db-3")},
			{AlertID: hidden, ChannelID: 1002, AlertKey: "k1", Title: "Secret", AlertSeverity: "Warning", AlertStatus: "Warning", StartTime: 4, Labels: labels("db-1"), Identifying: identity},
			{AlertID: severe, ChannelID: 1001, AlertKey: "k4", Title: "Disk of db-4", AlertSeverity: "Critical", AlertStatus: "Critical", StartTime: 5, Labels: labels("db-4"), Identifying: identity},
			{AlertID: strange, ChannelID: 1001, AlertKey: "k*", Title: "Strange", AlertSeverity: "Warning", AlertStatus: "Warning", StartTime: 6, Labels: map[string]string{"path": "/d/"}, Identifying: []string{"path"}},
		}); err != nil {
			return err
		}
		return incident.Load(tx, apitest.AccountA, []incident.Incident{
			{IncidentID: full, Title: "Disks", ChannelID: 1001, Severity: "Warning", Detail: incident.Detail{ManualOverrides: []string{"title"}}}, {IncidentID: empty, Title: "By hand", ChannelID: 1001}})
	})
	return s
}

func TestSilence(t *testing.T) {
	t.Parallel()
	s := beginSilences(t)
	s.Grant(auth.IncidentsManage)
	const reader = apitest.KeyReader // with Incidents Manage alone
	s.Converse(t, []apitest.Turn{
		{Path: "/alert/silence/preview", Body: `{"alert_id": "` + disk + `"}`, Key: reader, Golden: "alert_silence_preview",
			Has: `{"severity": "Warning", "by_key": {"open_alerts": 1}, "by_labels": {"open_alerts": 3}, "labels": [{"name": "alertname", "ticked": true}, {"name": "service", "ticked": true}, {"name": "instance", "ticked": false}, {"name": "job", "ticked": false}]}`},
		{Path: "/alert/silence/preview", Body: `{"alert_id": "` + disk + `", "labels": ["instance"]}`, Has: `{"by_labels": {"open_alerts": 1}}`},
		{Path: "/alert/silence/preview", Body: `{"alert_id": "` + severe + `"}`, Has: `{"severity": "Critical", "by_labels": {"open_alerts": 4}}`},
		{Path: "/alert/silence/preview", Body: `{"alert_id": "` + plain + `"}`, Has: `{"by_key": {"open_alerts": 1}, "by_labels": {"open_alerts": 0}, "labels": []}`},
		{Path: "/alert/silence/preview", Body: `{"alert_id": "` + strange + `", "labels": ["path"]}`, Has: `{"by_key": {"open_alerts": 1}, "by_labels": {"open_alerts": 1}}`},
		{Path: "/incident/silence/preview", Body: `{"incident_id": "` + full + `"}`, Key: reader, Golden: "incident_silence_preview",
			Has: `{"rule_name": "Disks", "severity": "Warning", "by_key": {"open_alerts": 2}, "by_labels": {"open_alerts": 3}}`},
		{Path: "/incident/silence/preview", Body: `{"incident_id": "` + empty + `"}`, Code: "BadRequest", Says: []string{"none of its alerts is open"}},

		{Path: "/alert/silence", Body: `{"alert_id": "` + disk + `", "minutes": 60}`, Key: reader, Golden: "alert_silence", Keep: map[string]string{"rule": "rule_id"},
			Has: `{"rule_name": "Disk of db-1 has 3% left, and the title", "channel_id": 1001, "until": 1776056401, "severity": "Warning"}`},
		{Path: "/channel/silence/rule/list", Body: `{"channel_id": 1001}`, Has: `{"items": [{"rule_id": "$rule", "is_by_responder": true, "is_auto_delete": true, "is_effective": true, "from_alert_id": "` + disk + `",
			"filters": [[{"key": "alert_key", "oper": "IN", "vals": ["k1"]}, {"key": "severity", "oper": "IN", "vals": ["Info", "Warning"]}]]}]}`},
		{Path: "/alert/feed", Body: `{"alert_id": "` + disk + `"}`, Has: `{"items": [{"type": "a_silence", "detail": {"minutes": 60, "severity": "Warning"}}]}`},
		{Path: "/incident/feed", Body: `{"incident_id": "` + full + `"}`, Has: `{"items": [{"type": "i_silence"}]}`},
		{Path: "/alert/silence/list", Body: `{"alert_id": "` + disk + `"}`, Key: reader, Golden: "alert_silence_list", Has: `{"items": [{"rule_id": "$rule", "until": 1776056401}]}`},
		{Path: "/alert/silence/list", Body: `{"incident_id": "` + full + `"}`, Has: `{"items": [{"rule_id": "$rule"}]}`},
		{Path: "/alert/silence/list", Body: `{"alert_id": "` + severe + `"}`, Data: `{"items": []}`},
		{Path: "/alert/silence/list", Body: `{}`, Code: "InvalidParameter", Says: []string{"alert_id", "incident_id"}},
		{Path: "/alert/silence/undo", Body: `{"rule_id": "$rule"}`, Key: reader, Golden: "alert_silence_undo"},
		{Path: "/alert/silence/undo", Body: `{"rule_id": "$rule"}`, Key: reader, Code: "ResourceNotFound"},
		{Path: "/channel/silence/rule/list", Body: `{"channel_id": 1001}`, Data: `{"items": []}`},
		{Path: "/alert/feed", Body: `{"alert_id": "` + disk + `"}`, Has: `{"total": 2, "items": [{"type": "a_undone"}, {"type": "a_silence"}]}`},
		{Path: "/incident/feed", Body: `{"incident_id": "` + full + `"}`, Has: `{"items": [{"type": "i_undone"}, {"type": "i_silence"}]}`},

		{Path: "/alert/silence", Body: `{"alert_id": "` + strange + `", "minutes": 1, "by": "labels", "labels": ["path"], "rule_name": "Mine"}`, Keep: map[string]string{"rule": "rule_id"}},
		{Path: "/channel/silence/rule/list", Body: `{"channel_id": 1001}`, Has: `{"items": [{"rule_name": "Mine", "filters": [[{"key": "labels.path", "vals": ["/^/d/$/"]}, {"key": "severity"}]]}]}`},
		{Path: "/channel/silence/rule/update", Body: `{"channel_id": 1001, "rule_id": "$rule", "rule_name": "Ours"}`},
		{Path: "/alert/silence/undo", Body: `{"rule_id": "$rule"}`, Key: reader, Code: "AccessDenied", Says: []string{"/channel/silence/rule/delete"}},
		{Path: "/channel/silence/rule/delete", Body: `{"channel_id": 1001, "rule_id": "$rule"}`},
		{Path: "/incident/silence", Body: `{"incident_id": "` + full + `", "minutes": 1440, "by": "labels"}`, Key: reader, Golden: "incident_silence", Keep: map[string]string{"rule": "rule_id"}},
		{Path: "/channel/silence/rule/list", Body: `{"channel_id": 1001}`, Has: `{"items": [{"from_incident_id": "` + full + `", "filters": [[{"key": "labels.alertname", "vals": ["DiskFull"]}, {"key": "labels.service", "vals": ["db"]}, {"key": "severity"}]]}]}`},
		{Path: "/alert/silence", Body: `{"alert_id": "` + severe + `", "minutes": 5}`, Has: `{"severity": "Critical"}`},
		{Path: "/alert/info", Body: `{"alert_id": "` + disk + `"}`, Has: `{"identifying_labels": ["alertname", "instance", "job", "service"]}`},
	})
}

func TestSilenceIsRefused(t *testing.T) {
	t.Parallel()
	s := beginSilences(t)
	silence := func(more string) string { return `{"alert_id": "` + disk + `", ` + more + `}` }
	s.Scenarios(t, "/alert/silence", []apitest.Scenario{
		{Name: "without the permission", Key: apitest.KeyReader, Body: silence(`"minutes": 60`), Code: "AccessDenied", Says: []string{"Incidents Manage (on-call)"}},
		{Name: "another account's", Key: apitest.KeyB, Body: silence(`"minutes": 60`), Code: "ResourceNotFound"},
		{Name: "unknown", Body: `{"alert_id": "663a1b2c3d4e5f6789abffff", "minutes": 60}`, Code: "ResourceNotFound"},
		{Name: "no minutes", Body: silence(`"minutes": 0`), Code: "InvalidParameter", Says: []string{"minutes", "at least 1", "got 0"}},
		{Name: "more than a day", Body: silence(`"minutes": 1441`), Code: "InvalidParameter", Says: []string{"minutes", "at most 1440", "got 1441"}},
		{Name: "another way", Body: silence(`"minutes": 60, "by": "title"`), Code: "InvalidParameter", Says: []string{"by"}},
		{Name: "no label", Body: silence(`"minutes": 60, "by": "labels", "labels": []`), Code: "InvalidParameter", Says: []string{"labels", "at least 1", "got 0"}},
		{Name: "a label that does not identify", Body: silence(`"minutes": 60, "by": "labels", "labels": ["service", "summary"]`), Code: "InvalidParameter", Says: []string{"labels", "element 1", "alertname, service, instance, job", "summary"}},
		{Name: "labels beside key", Body: silence(`"minutes": 60, "labels": ["service"]`), Code: "InvalidParameter", Says: []string{"labels", "unless by is labels"}},
		{Name: "labels of a source without identity", Body: `{"alert_id": "` + plain + `", "minutes": 60, "by": "labels"}`, Code: "InvalidParameter", Says: []string{"labels", "there are none"}},
		{Name: "a long name", Body: silence(`"minutes": 60, "rule_name": "0123456789012345678901234567890123456789"`), Code: "InvalidParameter", Says: []string{"rule_name", "39"}},
	})
	s.Grant(auth.IncidentsManage)
	s.Scenarios(t, "/alert/silence", []apitest.Scenario{
		{Name: "of a private channel", Key: apitest.KeyReader, Body: `{"alert_id": "` + hidden + `", "minutes": 60}`, Code: "AccessDenied", Says: []string{"channel 1002 is private"}},
	})
	s.Scenarios(t, "/alert/silence/preview", []apitest.Scenario{
		{Name: "of a private channel", Key: apitest.KeyReader, Body: `{"alert_id": "` + hidden + `"}`, Code: "AccessDenied"},
		{Name: "another account's", Key: apitest.KeyB, Body: `{"alert_id": "` + disk + `"}`, Code: "ResourceNotFound"},
	})
	s.Scenarios(t, "/alert/silence/list", []apitest.Scenario{
		{Name: "of a private channel", Key: apitest.KeyReader, Body: `{"alert_id": "` + hidden + `"}`, Code: "AccessDenied"},
		{Name: "another account's", Key: apitest.KeyB, Body: `{"incident_id": "` + full + `"}`, Code: "ResourceNotFound"},
	})
	s.Scenarios(t, "/incident/silence", []apitest.Scenario{
		{Name: "another account's", Key: apitest.KeyB, Body: `{"incident_id": "` + full + `", "minutes": 60}`, Code: "ResourceNotFound"},
		{Name: "without alerts", Body: `{"incident_id": "` + empty + `", "minutes": 60}`, Code: "BadRequest", Says: []string{"none of its alerts is open"}},
	})
}

// Responders cannot end a silence rule of the channel's configuration.
func TestSilenceUndoLeavesOtherRules(t *testing.T) {
	t.Parallel()
	s := beginSilences(t)
	s.Grant(auth.IncidentsManage)
	made := func(n int, in int64, end int64, byResponder bool) channel.SilenceRule {
		r := channel.SilenceRule{Rule: channel.Rule{ChannelID: in, RuleID: fmt.Sprintf("69b3c426b4a6f5abf1f5487%d", n), RuleName: "r"}, IsByResponder: byResponder,
			Filters: silenceAll, TimeFilter: &channel.OnceTimeFilter{StartTime: 1, EndTime: end}}
		return r
	}
	now := apitest.Now.Unix()
	s.Write(func(tx *db.Tx) error {
		return channel.Silences.Load(tx, nil, apitest.AccountA, []channel.SilenceRule{made(1, 1001, now+60, false), made(2, 1002, now+60, true), made(3, 1001, now, true)})
	})
	s.Scenarios(t, "/alert/silence/undo", []apitest.Scenario{
		{Name: "of the configuration", Body: `{"rule_id": "69b3c426b4a6f5abf1f54871"}`, Code: "AccessDenied"},
		{Name: "of a private channel", Key: apitest.KeyReader, Body: `{"rule_id": "69b3c426b4a6f5abf1f54872"}`, Code: "AccessDenied", Says: []string{"private"}},
		{Name: "over", Body: `{"rule_id": "69b3c426b4a6f5abf1f54873"}`, Code: "BadRequest", Says: []string{"is over"}},
		{Name: "another account's", Key: apitest.KeyB, Body: `{"rule_id": "69b3c426b4a6f5abf1f54871"}`, Code: "ResourceNotFound"},
	})
}

func TestSilenceByKeyIsBounded(t *testing.T) {
	t.Parallel()
	s := beginSilences(t)
	s.Exec(fmt.Sprintf(`WITH RECURSIVE t(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM t WHERE n < 499)
		INSERT INTO alert (account_id, alert_id, channel_id, incident_id, integration_id, integration_name, integration_type, integration_ref_id,
			alert_key, title, title_rule, description, alert_severity, alert_status, start_time, last_time, end_time, event_cnt, ever_muted,
			responder_name, responder_email, labels, images, created_at, updated_at, deleted_at)
		SELECT $1, substr(CAST(1000000 + n AS TEXT) || '00000000000000000', 1, 24), 1001, '%s', 1, '', '', '', 'many' || n, 't', '', '', 'Info', 'Info', 7, 0, 0, 1, FALSE,
			'', '', '{}', '[]', 0, 0, 0 FROM t`, full), apitest.AccountA)
	body := `{"incident_id": "` + full + `", "minutes": 60}`
	s.Converse(t, []apitest.Turn{
		{Path: "/incident/silence", Body: body, Code: "InvalidParameter", Says: []string{"by", "at most 500 alert keys", "502"}},
		{Path: "/incident/silence/preview", Body: `{"incident_id": "` + full + `"}`, Has: `{"by_key": {"open_alerts": 0}}`},
	})
	s.Exec(`UPDATE alert SET end_time = 9 WHERE account_id = $1 AND alert_key IN ('many0', 'many1')`, apitest.AccountA)
	s.Converse(t, []apitest.Turn{
		{Path: "/incident/silence/preview", Body: `{"incident_id": "` + full + `"}`, Has: `{"by_key": {"open_alerts": 500}}`},
		{Path: "/incident/silence", Body: body},
	})
}
