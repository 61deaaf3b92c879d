package incident_test

import (
	"testing"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/field"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

const window = `"start_time": 1776000000, "end_time": 1777000000`

func begin(t testing.TB) *apitest.Server {
	s := apitest.Start(t, (&incident.Service{Bus: &activity.Bus{}}).Ops(), field.Ops())
	s.Person(apitest.AccountA, 11, "Ann Again")
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1001, ChannelName: "Payments"}, {ChannelID: 1002, ChannelName: "Security", TeamID: 99, IsPrivate: true}}); err != nil {
			return err
		}
		return incident.Load(tx, apitest.AccountA, []incident.Incident{{IncidentID: "663a1b2c3d4e5f6789abcdf2", Title: "Secret", ChannelID: 1002, StartTime: 1776000001}})
	})
	return s
}

func TestIncidentLifecycle(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.Converse(t, []apitest.Turn{
		{Path: "/incident/create", Body: `{"incident_severity": "Warning", "title": "Checkout is slow", "channel_id": 1001, "description": "p99 above 2 s"}`, Keep: map[string]string{"one": "incident_id"}, Golden: "incident_create"},
		{Path: "/incident/info", Body: `{"incident_id": "$one"}`, Has: `{"progress": "Triggered", "incident_severity": "Warning", "channel_name": "Payments"}`},
		{Path: "/incident/assign", Body: `{"incident_id": "$one", "assigned_to": {"person_ids": [11]}}`, Golden: "incident_assign"},
		{Path: "/incident/responder/add", Body: `{"incident_id": "$one", "person_ids": [2659460982131]}`, Golden: "incident_responder_add"},
		{Path: "/incident/unack", Body: `{"incident_ids": ["$one"]}`, Code: "BadRequest", Says: []string{"no person has acknowledged it"}},
		{Path: "/incident/ack", Body: `{"incident_ids": ["$one"]}`, Golden: "incident_ack"},
		{Path: "/incident/ack", Body: `{"incident_ids": ["$one"]}`},
		{Path: "/incident/info", Body: `{"incident_id": "$one"}`, Has: `{"progress": "Processing", "ack_time": 1776052800}`, Keep: map[string]string{"assignment": "assigned_to.id"}, Golden: "incident_info"},
		{Path: "/incident/answer", Body: `{"incident_ids": ["$one"], "answer": "still"}`, Golden: "incident_answer"},
		{Path: "/incident/answer", Body: `{"incident_ids": ["$one"], "answer": "maybe"}`, Code: "InvalidParameter", Says: []string{"answer"}},
		{Path: "/incident/unack", Body: `{"incident_ids": ["$one"]}`, Golden: "incident_unack"},
		{Path: "/incident/answer", Body: `{"incident_ids": ["$one"], "answer": "never"}`, Code: "BadRequest", Says: []string{"no person has acknowledged it"}},
		{Path: "/incident/wake", Body: `{"incident_ids": ["$one"]}`, Code: "BadRequest", Says: []string{"not snoozed"}},
		{Path: "/incident/snooze", Body: `{"incident_ids": ["$one"], "minutes": 30}`, Golden: "incident_snooze"},
		{Path: "/incident/list", Body: `{` + window + `, "is_snoozed": true}`, Has: `{"total": 1, "items": [{"snoozed_before": 1776054600}]}`},
		{Path: "/incident/wake", Body: `{"incident_ids": ["$one"]}`, Golden: "incident_wake"},
		{Path: "/incident/comment", Body: `{"incident_ids": ["$one"], "comment": "Looking."}`, Golden: "incident_comment"},
		{Path: "/incident/reset", Body: `{"incident_id": "$one", "title": "Checkout is down", "incident_severity": "Critical", "impact": "Nobody can pay."}`, Golden: "incident_reset"},
		{Path: "/incident/reset", Body: `{"incident_id": "$one"}`, Code: "InvalidParameter", Says: []string{"title"}},
		{Path: "/field/create", Body: `{"field_name": "region", "display_name": "Region", "field_type": "single_select", "value_type": "string", "options": ["eu", "us"]}`},
		{Path: "/incident/field/reset", Body: `{"incident_id": "$one", "field_name": "region", "field_value": "mars"}`, Code: "InvalidParameter", Says: []string{"field_value", "options"}},
		{Path: "/incident/field/reset", Body: `{"incident_id": "$one", "field_name": "nothing", "field_value": "eu"}`, Code: "InvalidParameter", Says: []string{"field_name"}},
		{Path: "/incident/field/reset", Body: `{"incident_id": "$one", "field_name": "region", "field_value": "eu"}`, Golden: "incident_field_reset"},
		{Path: "/incident/info", Body: `{"incident_id": "$one"}`, Has: `{"fields": {"region": "eu"}, "title": "Checkout is down", "incident_severity": "Critical", "impact": "Nobody can pay.", "manual_overrides": ["title", "impact", "incident_severity"]}`},
		{Path: "/incident/create", Body: `{"incident_severity": "Critical", "title": "The same, seen by another", "channel_id": 1001}`, Keep: map[string]string{"two": "incident_id"}},
		{Path: "/incident/merge", Body: `{"source_incident_ids": ["$one"], "target_incident_id": "$one"}`, Code: "InvalidParameter", Says: []string{"source_incident_ids"}},
		{Path: "/incident/merge", Body: `{"source_incident_ids": ["$two"], "target_incident_id": "$one", "comment": "one cause"}`, Golden: "incident_merge"},
		{Path: "/incident/info", Body: `{"incident_id": "$two"}`, Has: `{"progress": "Closed", "merged_into": "$one"}`},
		{Path: "/incident/merge", Body: `{"source_incident_ids": ["$one"], "target_incident_id": "$two"}`, Code: "BadRequest", Says: []string{"closed"}},
		{Path: "/incident/disable-merge", Body: `{"incident_ids": ["$one"]}`, Golden: "incident_disable-merge"},
		{Path: "/incident/resolve", Body: `{"incident_ids": ["$one", "$two"]}`, Code: "BadRequest", Says: []string{"$two", "closed"}},
		{Path: "/incident/info", Body: `{"incident_id": "$one"}`, Has: `{"progress": "Triggered"}`}, // the call changed no incident
		{Path: "/incident/resolve", Body: `{"incident_ids": ["$one"], "root_cause": "A full disk", "resolution": "Emptied"}`, Golden: "incident_resolve"},
		{Path: "/incident/resolve", Body: `{"incident_ids": ["$one"]}`, Code: "BadRequest"},
		{Path: "/incident/ack", Body: `{"incident_ids": ["$one"]}`, Code: "BadRequest", Says: []string{"cannot be acknowledged", "closed"}},
		{Path: "/incident/snooze", Body: `{"incident_ids": ["$one"], "minutes": 5}`, Code: "BadRequest"},
		{Path: "/incident/assign", Body: `{"incident_id": "$one", "assigned_to": {"person_ids": [11]}}`, Code: "BadRequest"},
		{Path: "/incident/info", Body: `{"incident_id": "$one"}`, Has: `{"progress": "Closed", "incident_status": "Ok", "incident_severity": "Critical", "root_cause": "A full disk", "resolution": "Emptied", "close_time": 1776052800}`},
		{Path: "/incident/reopen", Body: `{"incident_ids": ["$one"], "reason": "it is back"}`, Golden: "incident_reopen"},
		{Path: "/incident/reopen", Body: `{"incident_ids": ["$one"]}`, Code: "BadRequest", Says: []string{"open"}},
		{Path: "/incident/feed", Body: `{"incident_id": "$one", "asc": true, "limit": 100}`, Golden: "incident_feed"},
		{Path: "/incident/feed", Body: `{"incident_id": "$one", "types": ["i_ack", "i_unack"]}`, Has: `{"total": 2, "items": [{"type": "i_unack"}, {"type": "i_ack"}]}`},
		{Path: "/incident/list", Body: `{` + window + `, "progress": "Triggered", "query": "DOWN"}`, Has: `{"total": 1, "items": [{"incident_id": "$one"}]}`, Golden: "incident_list"},
		{Path: "/incident/list-by-ids", Body: `{"incident_ids": ["$two", "$one", "$two"]}`, Has: `{"items": [{"incident_id": "$two"}, {"incident_id": "$one"}]}`, Golden: "incident_list-by-ids"},
		{Path: "/incident/list-by-ids", Body: `{"incident_ids": ["$two", "000000000000000000000000"]}`, Code: "ResourceNotFound"},
		{Path: "/incident/remove", Body: `{"incident_ids": ["$two"]}`, Golden: "incident_remove"},
		{Path: "/incident/info", Body: `{"incident_id": "$two"}`, Code: "ResourceNotFound"},
	})
}

func TestIncidentList(t *testing.T) {
	t.Parallel()
	s := begin(t)
	for range 5 {
		s.Call(apitest.KeyA, "/incident/create", `{"incident_severity": "Info", "title": "A", "channel_id": 1001}`)
	}
	s.Converse(t, []apitest.Turn{
		{Path: "/incident/list", Body: `{` + window + `, "limit": 2}`, Has: `{"total": 6, "has_next_page": true}`, Keep: map[string]string{"next": "search_after_ctx", "a": "items.1.incident_id"}},
		{Path: "/incident/list", Body: `{` + window + `, "limit": 3, "search_after_ctx": "$next"}`, Has: `{"total": 6, "has_next_page": true}`, Keep: map[string]string{"after": "search_after_ctx"}},
		{Path: "/incident/list", Body: `{` + window + `, "limit": 3, "search_after_ctx": "$after"}`, Has: `{"has_next_page": false, "search_after_ctx": "", "items": [{"title": "Secret"}]}`},
		{Path: "/incident/list", Body: `{` + window + `, "asc": true, "search_after_ctx": "$after"}`, Code: "InvalidParameter", Says: []string{"search_after_ctx"}},
		{Path: "/incident/list", Body: `{` + window + `, "p": 2, "limit": 5}`, Has: `{"total": 6, "has_next_page": false, "items": [{"title": "Secret"}]}`},
		{Path: "/incident/list", Body: `{` + window + `, "channel_ids": [0]}`, Has: `{"total": 0, "items": []}`},
		{Path: "/incident/list", Body: `{` + window + `, "creator_ids": [0]}`, Has: `{"total": 1}`},
		{Path: "/incident/list", Body: `{` + window + `, "incident_severity": "Bad"}`, Code: "InvalidParameter", Says: []string{"incident_severity"}},
		{Path: "/incident/list", Body: `{` + window + `, "progress": "Open"}`, Code: "InvalidParameter", Says: []string{"progress"}},
		{Path: "/incident/list", Body: `{"start_time": 1776000000, "end_time": 1786000000}`, Code: "InvalidParameter", Says: []string{"31 days"}},
		{Path: "/incident/list", Body: `{"start_time": 1776000000, "end_time": 1776000000}`, Code: "InvalidParameter", Says: []string{"end_time"}},
	})
}

// TestOtherIncidentsAreRefused calls every operation on an incident of a private channel and of another account.
func TestOtherIncidentsAreRefused(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.Grant(auth.IncidentsManage)
	secret := `{"incident_id": "663a1b2c3d4e5f6789abcdf2", "incident_ids": ["663a1b2c3d4e5f6789abcdf2"], "comment": "x", "person_ids": [11], "minutes": 1, "title": "x", "assigned_to": {"person_ids": [11]}}`
	for _, path := range []string{"info", "list-by-ids", "past/list", "alert/list", "feed", "ack", "unack", "snooze", "wake", "resolve", "reopen", "disable-merge", "assign", "responder/add", "comment", "reset", "remove"} {
		s.Scenarios(t, "/incident/"+path, []apitest.Scenario{
			{Name: "private", Key: apitest.KeyReader, Body: secret, Code: "AccessDenied"},
			{Name: "no permission", Key: apitest.KeyNothing, Body: secret, Code: "AccessDenied"},
			{Name: "another account's", Key: apitest.KeyB, Body: secret, Code: "ResourceNotFound"},
		})
	}
	r := s.Call(apitest.KeyReader, "/incident/list", `{`+window+`}`)
	if string(r.Data) != `{"items":[],"total":0,"has_next_page":false,"search_after_ctx":""}` {
		t.Errorf("the list shows %s", r.Data)
	}
}

// TestPastIncidents: the most similar first, with reasons; only earlier ones, no drills, and none of a channel that the
// caller may not read.
func TestPastIncidents(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.Grant(auth.IncidentsRead)
	prod := func(service string) incident.Detail {
		return incident.Detail{Labels: map[string]string{"env": "prod", "service": service}}
	}
	s.Write(func(tx *db.Tx) error {
		drill := prod("checkout")
		drill.Test = true
		err := incident.Load(tx, apitest.AccountA, []incident.Incident{
			{IncidentID: "663a1b2c3d4e5f6789abc000", Title: "Checkout is slow", ChannelID: 1001, Progress: "Closed", StartTime: 1776000100, Detail: prod("checkout")},
			{IncidentID: "663a1b2c3d4e5f6789abc001", Title: "Search is slow", ChannelID: 1001, StartTime: 1776000101, Detail: prod("search")},
			{IncidentID: "663a1b2c3d4e5f6789abc002", Title: "Checkout is slow", ChannelID: 1001, StartTime: 1776000102, Detail: drill},
			{IncidentID: "663a1b2c3d4e5f6789abc003", Title: "Checkout is slow", ChannelID: 1002, StartTime: 1776000103, Detail: prod("checkout")},
			{IncidentID: "663a1b2c3d4e5f6789abc004", Title: "A disk is full", ChannelID: 1001, StartTime: 1776000104},
			{IncidentID: "663a1b2c3d4e5f6789abc005", Title: "Checkout is slow", ChannelID: 1001, StartTime: 1776000200, Detail: prod("checkout")},
			{IncidentID: "663a1b2c3d4e5f6789abc006", Title: "Checkout is slow", ChannelID: 1001, StartTime: 1776000200, Detail: prod("checkout")},
		})
		if err != nil {
			return err
		}
		return incident.Load(tx, apitest.AccountB, []incident.Incident{{IncidentID: "663a1b2c3d4e5f6789abc000", Title: "Checkout is slow", StartTime: 1776000100}})
	})
	s.Exec(`UPDATE incident SET body = '{' WHERE incident_id = '663a1b2c3d4e5f6789abc004'`) // cannot be read, and blocks no other
	const body = `{"incident_id": "663a1b2c3d4e5f6789abc005"`
	s.Converse(t, []apitest.Turn{
		{Path: "/incident/past/list", Key: apitest.KeyReader, Body: body + `}`, Golden: "incident_past_list", Has: `{"items": [
			{"incident_id": "663a1b2c3d4e5f6789abc000", "progress": "Closed", "score": 1, "reasons": ["the same title", "shared labels: env=prod, service=checkout"]},
			{"incident_id": "663a1b2c3d4e5f6789abc001", "score": 0.5, "reasons": ["shared words of the title: is, slow", "shared labels: env=prod"]}]}`},
		{Path: "/incident/past/list", Body: body + `, "limit": 1}`, Has: `{"items": [{"incident_id": "663a1b2c3d4e5f6789abc003", "score": 1}]}`},
		{Path: "/incident/past/list", Body: body + `, "limit": 101}`, Code: "InvalidParameter", Says: []string{"limit"}},
		{Path: "/incident/past/list", Body: `{"incident_id": "663a1b2c3d4e5f6789abc000", "limit": 100}`, Data: `{"items":[]}`},
	})
}

// flood stores n incidents of account A that began one after the other from a moment on, by SQL because they are many.
func flood(s *apitest.Server, n int, from int64) {
	s.Exec(`WITH RECURSIVE t(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM t WHERE n < $2 - 1)
		INSERT INTO incident (account_id, incident_id, title, channel_id, progress, severity, start_time, last_time, body, search_folded)
		SELECT $1, 'f100d' || substr(CAST(10000000 + n AS TEXT) || '000000000000', 2, 19), 'Host ' || n || ' does not answer', 1001, 'Closed', 'Warning', $3 + n, $3 + n,
			'{"labels":{"env":"prod","host":"web-' || n || '"},"description":"The host has not answered for five minutes."}',
			'HOST ' || n || ' DOES NOT ANSWER' || $4 || 'PROD' || $4 || 'WEB-' || n || $4 || 'THE HOST HAS NOT ANSWERED FOR FIVE MINUTES.' FROM t`,
		apitest.AccountA, n, from, "\n")
}

// TestPastIncidentsInFlood: a recurrence is found by the key of its alert, however many other incidents came between.
func TestPastIncidentsInFlood(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.Write(func(tx *db.Tx) error {
		err := incident.Load(tx, apitest.AccountA, []incident.Incident{
			{IncidentID: "663a1b2c3d4e5f6789abc000", Title: "Certificate expires", ChannelID: 1001, StartTime: 1776000000},
			{IncidentID: "663a1b2c3d4e5f6789abc001", Title: "Certificate expires", ChannelID: 1001, StartTime: 1776000001},
			{IncidentID: "663a1b2c3d4e5f6789abc002", Title: "Certificate expires", ChannelID: 1001, StartTime: 1776900000},
		})
		if err != nil {
			return err
		}
		of := func(id, incident string) alert.Alert {
			return alert.Alert{AlertID: id, ChannelID: 1001, Title: "Certificate expires", AlertKey: "cert", AlertSeverity: "Info", AlertStatus: "Info", EventCnt: 1, StartTime: 1, Incident: &alert.Incident{IncidentID: incident}}
		}
		return alert.Load(tx, apitest.AccountA, []alert.Alert{of("663a1b2c3d4e5f6789abcd00", "663a1b2c3d4e5f6789abc000"), of("663a1b2c3d4e5f6789abcd02", "663a1b2c3d4e5f6789abc002")})
	})
	flood(s, 3500, 1776000100)
	s.Converse(t, []apitest.Turn{{Path: "/incident/past/list", Body: `{"incident_id": "663a1b2c3d4e5f6789abc002"}`, Has: `{"items": [{"incident_id": "663a1b2c3d4e5f6789abc000"}]}`}})
}

// BenchmarkMillionIncidents measures what reads many rows when a month holds a million incidents.
func BenchmarkMillionIncidents(b *testing.B) {
	s := begin(b)
	flood(s, 1_000_000, 1776000000)
	const month = `{"start_time": 1775900000, "end_time": 1778500000`
	for name, call := range map[string][2]string{
		"list":           {"/incident/list", month + `}`},
		"search, one":    {"/incident/list", month + `, "query": "WEB-777777"}`},
		"search, none":   {"/incident/list", month + `, "query": "nothing like it"}`},
		"search, number": {"/incident/list", month + `, "query": "777777"}`},
		"past":           {"/incident/past/list", `{"incident_id": "f100d0000000000000777777"}`},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if r := s.Call(apitest.KeyA, call[0], call[1]); r.Status != 200 {
					b.Fatal(r.Body)
				}
			}
		})
	}
}

func TestIncidentAlerts(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.Write(func(tx *db.Tx) error {
		if err := incident.Load(tx, apitest.AccountA, []incident.Incident{{IncidentID: "663a1b2c3d4e5f6789abcdf0", Title: "Two", ChannelID: 1001, Severity: "Warning"}, {IncidentID: "663a1b2c3d4e5f6789abcdf1", Title: "One", ChannelID: 1001}}); err != nil {
			return err
		}
		one := func(id, incident string, start int64) alert.Alert {
			return alert.Alert{AlertID: id, ChannelID: 1001, Title: "Disk", AlertKey: id, AlertSeverity: "Critical", AlertStatus: "Critical", StartTime: start, EventCnt: 1, Incident: &alert.Incident{IncidentID: incident}}
		}
		return alert.Load(tx, apitest.AccountA, []alert.Alert{one("663a1b2c3d4e5f6789abcd01", "663a1b2c3d4e5f6789abcdf0", 1), one("663a1b2c3d4e5f6789abcd02", "663a1b2c3d4e5f6789abcdf0", 2), one("663a1b2c3d4e5f6789abcd03", "663a1b2c3d4e5f6789abcdf1", 3)})
	})
	const two, one = `"663a1b2c3d4e5f6789abcdf0"`, `"663a1b2c3d4e5f6789abcdf1"`
	s.Converse(t, []apitest.Turn{
		{Path: "/incident/alert/list", Body: `{"incident_id": ` + two + `}`, Has: `{"total": 2, "items": [{"alert_id": "663a1b2c3d4e5f6789abcd01"}, {"alert_id": "663a1b2c3d4e5f6789abcd02"}]}`, Golden: "incident_alert_list"},
		{Path: "/alert/close", Body: `{"alert_ids": ["663a1b2c3d4e5f6789abcd01"]}`, Golden: "alert_close"},
		{Path: "/alert/close", Body: `{"alert_ids": ["663a1b2c3d4e5f6789abcd02", "663a1b2c3d4e5f6789abcd01"]}`, Code: "BadRequest", Says: []string{"663a1b2c3d4e5f6789abcd01", "over"}},
		{Path: "/incident/alert/list", Body: `{"incident_id": ` + two + `, "is_active": true, "include_events": true}`, Has: `{"total": 1, "items": [{"alert_id": "663a1b2c3d4e5f6789abcd02"}]}`},
		{Path: "/alert/merge", Body: `{"alert_ids": ["663a1b2c3d4e5f6789abcd03"], "incident_id": ` + two + `}`, Golden: "alert_merge"},
		{Path: "/incident/info", Body: `{"incident_id": ` + one + `}`, Has: `{"progress": "Closed", "merged_into": ` + two + `}`},
		{Path: "/incident/info", Body: `{"incident_id": ` + two + `}`, Has: `{"progress": "Triggered", "alert_cnt": 3, "active_alert_cnt": 2, "incident_severity": "Critical"}`},
		{Path: "/alert/merge", Body: `{"alert_ids": ["663a1b2c3d4e5f6789abcd03"], "incident_id": ` + one + `}`, Code: "BadRequest", Says: []string{"closed"}},
		{Path: "/alert/close", Body: `{"alert_ids": ["663a1b2c3d4e5f6789abcd02", "663a1b2c3d4e5f6789abcd03"]}`},
		{Path: "/incident/info", Body: `{"incident_id": ` + two + `}`, Has: `{"progress": "Closed", "active_alert_cnt": 0}`},
	})
}
