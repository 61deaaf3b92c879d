package alert_test

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
)

// withEvents stores three events of the complete alert, of which the newest ended it, and one dropped event.
func withEvents(s *apitest.Server) {
	for i, status := range []string{"Warning", "Critical", "Ok"} {
		s.Exec(fmt.Sprintf(`INSERT INTO verdict (account_id, verdict_id, decided_at, event_id, channel_id, outcome, alert_id, incident_id, integration_id, event_time, severity, body, trace) VALUES ($1, %d, %d, '663a1b2c3d4e5f6789aa000%d', 1001, 'grouped', $2, '', 6113996590131, %d, '%s', $3, '[]')`,
			i+1, (1712650000+i)*1000, i, 1712650000+i, status), apitest.AccountA, full,
			fmt.Sprintf(`{"event_id": "x", "title": "CPU usage > 90%%", "title_rule": "$service", "alert_key": "cpu/payments", "event_status": "%s", "event_severity": "Critical", "labels": {"service": "payments"}, "images": [{"src": "img_1"}], "event_time": %d}`, status, 1712650000+i))
	}
	s.Exec(`INSERT INTO verdict (account_id, verdict_id, decided_at, event_id, channel_id, outcome, alert_id, incident_id, integration_id, event_time, severity, body, trace) VALUES ($1, 9, 1712650005000, '663a1b2c3d4e5f6789aa0009', 1002, 'dropped', '', '', 5, 1712650005, 'Info', '{"title": "noise", "event_status": "Info", "event_severity": "Info", "event_time": 1712650005}', '[]')`, apitest.AccountA)
	s.Exec(`INSERT INTO feed (account_id, ref_id, feed_id, created_at, type, person_id, detail) VALUES ($1, $2, 1, 1712650001000, 'a_new', 0, '{"severity":"Warning"}'), ($1, $2, 2, 1712650002000, 'a_close', 0, '{}')`, apitest.AccountA, full)
}

// TestSearchByTitleIsBounded: an expression that would take a minute of the processor is not run to the end, and the reply
// has a warning.
func TestSearchByTitleIsBounded(t *testing.T) {
	s := start(t)
	s.Exec(`WITH RECURSIVE t(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM t WHERE n < 499)
		INSERT INTO alert (account_id, alert_id, channel_id, incident_id, integration_id, integration_name, integration_type, integration_ref_id,
			alert_key, title, title_rule, description, alert_severity, alert_status, start_time, last_time, end_time, event_cnt, ever_muted,
			responder_name, responder_email, labels, images, created_at, updated_at, deleted_at)
		SELECT $1, substr(CAST(1000000 + n AS TEXT) || '00000000000000000', 1, 24), 1001, '', 1, '', '', '', 'k' || n, $2 || substr(CAST(10000 + n AS TEXT), 2), '', '', 'Info', 'Info', 1712690000 + n, 0, 0, 1, FALSE,
			'', '', '{}', '[]', 0, 0, 0 FROM t`, apitest.AccountA, strings.Repeat("0", 1020))
	const span = `"start_time": 1712690000, "end_time": 1712700000`
	s.Converse(t, []apitest.Turn{
		{Path: "/alert/list", Body: `{` + span + `, "title": "/^0+(1|2)$/"}`, Has: `{"total": 2}`},
		{Path: "/alert/list", Body: `{` + span + `, "title": "0*7"}`, Has: `{"total": 50, "has_next_page": true}`},
	})
	r := s.Call(apitest.KeyA, "/alert/list", `{`+span+`, "title": "/(x|y){240}z|7$/"}`)
	var list struct {
		Total    int
		Warnings []string
	}
	r.Into(&list)
	if len(list.Warnings) != 1 || !strings.Contains(list.Warnings[0], "title: only the first") || list.Total == 0 || list.Total > 49 {
		t.Errorf("%+v", list)
	}
}

func TestLargeAlertsByIDEndEarly(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Exec(`UPDATE alert SET description = $2 WHERE account_id = $1`, apitest.AccountA, strings.Repeat("x", api.PageBytes))
	var reply struct {
		Items    []alert.Alert
		Warnings []string
	}
	s.Call(apitest.KeyA, "/alert/list-by-ids", `{"alert_ids": ["`+short+`", "`+full+`"]}`).Into(&reply)
	if len(reply.Items) != 1 || reply.Items[0].AlertID != short || len(reply.Warnings) != 1 {
		t.Errorf("%d alerts, warnings %q", len(reply.Items), reply.Warnings)
	}
}

func TestAlertsAndEvents(t *testing.T) {
	s := start(t)
	withEvents(s)
	const span = `"start_time": 1712600000, "end_time": 1712700000`
	s.Converse(t, []apitest.Turn{
		{Path: "/alert/list", Body: `{` + span + `}`, Has: `{"total": 3}`, Golden: "alert_list"},
		{Path: "/alert/list", Body: `{` + span + `, "limit": 2}`, Has: `{"total": 3, "has_next_page": true}`, Keep: map[string]string{"next": "search_after_ctx"}},
		{Path: "/alert/list", Body: `{` + span + `, "limit": 2, "search_after_ctx": "$next"}`, Has: `{"total": 3, "has_next_page": false, "search_after_ctx": "", "items": [{"channel_name": ""}]}`},
		{Path: "/alert/list", Body: `{` + span + `, "is_active": true, "search_after_ctx": "$next"}`, Code: "InvalidParameter", Says: []string{"search_after_ctx"}},
		{Path: "/alert/list", Body: `{` + span + `, "is_active": false}`, Has: `{"total": 1, "items": [{"alert_id": "` + full + `"}]}`},
		{Path: "/alert/list", Body: `{` + span + `, "ever_muted": true, "alert_severity": "Critical,Warning", "channel_ids": [1001], "alert_keys": ["cpu/payments"], "integration_ids": [6113996590131], "alert_ids": ["` + full + `"]}`, Has: `{"total": 1}`},
		{Path: "/alert/list", Body: `{` + span + `, "ever_muted": false, "asc": true}`, Has: `{"total": 2}`},
		{Path: "/alert/list", Body: `{` + span + `, "by_updated_at": true}`, Has: `{"total": 1}`},
		{Path: "/alert/list", Body: `{` + span + `, "alert_severity": "Bad"}`, Code: "InvalidParameter", Says: []string{"alert_severity", "Bad"}},
		{Path: "/alert/list", Body: `{"start_time": 1712600000, "end_time": 1722600000}`, Code: "InvalidParameter", Says: []string{"31 days"}},
		{Path: "/alert/list", Key: apitest.KeyNothing, Body: `{` + span + `}`, Code: "AccessDenied"},
		{Path: "/alert/list-by-ids", Body: `{"alert_ids": ["` + short + `", "` + full + `", "` + short + `"]}`, Has: `{"items": [{"alert_id": "` + short + `"}, {"alert_id": "` + full + `"}]}`, Golden: "alert_list-by-ids"},
		{Path: "/alert/list-by-ids", Body: `{"alert_ids": ["` + deleted + `"]}`, Code: "ResourceNotFound"},
		{Path: "/alert/event/list", Body: `{"alert_id": "` + full + `"}`, Has: `{"items": [{"event_status": "Warning"}, {"event_status": "Critical"}, {"event_status": "Ok"}]}`, Golden: "alert_event_list"},
		{Path: "/alert/event/list", Body: `{"alert_id": "` + full + `", "limit": 2}`, Has: `{"items": [{"event_status": "Ok"}, {"event_status": "Critical"}], "total": 3, "has_next_page": true}`, Keep: map[string]string{"after": "search_after_ctx"}},
		{Path: "/alert/event/list", Body: `{"alert_id": "` + full + `", "limit": 2, "search_after_ctx": "$after"}`, Has: `{"items": [{"event_status": "Warning"}], "total": 3, "has_next_page": false, "search_after_ctx": ""}`},
		{Path: "/alert/event/list", Body: `{"alert_id": "` + full + `", "asc": true, "p": 2, "limit": 1}`, Has: `{"items": [{"event_status": "Critical"}], "total": 3, "has_next_page": true}`},
		{Path: "/alert/event/list", Body: `{"alert_id": "` + full + `", "asc": true, "search_after_ctx": "$after"}`, Code: "InvalidParameter", Says: []string{"search_after_ctx"}},
		{Path: "/alert-event/list", Body: `{` + span + `}`, Has: `{"total": 4}`, Golden: "alert-event_list"},
		{Path: "/alert-event/list", Body: `{` + span + `, "severities": "Info", "outcomes": ["dropped"]}`, Has: `{"total": 1, "items": [{"title": "noise", "outcome": "dropped"}]}`},
		{Path: "/alert-event/list", Body: `{` + span + `, "limit": 3, "asc": true}`, Keep: map[string]string{"after": "search_after_ctx"}, Has: `{"has_next_page": true}`},
		{Path: "/alert-event/list", Body: `{` + span + `, "limit": 3, "asc": true, "search_after_ctx": "$after"}`, Has: `{"items": [{"title": "noise"}], "has_next_page": false}`},
		{Path: "/alert-event/list", Body: `{` + span + `, "integration_types": ["zabbix"]}`, Has: `{"total": 0, "items": []}`},
		{Path: "/alert-event/list", Body: `{}`, Has: `{"total": 0}`},
		{Path: "/alert/feed", Body: `{"alert_id": "` + full + `"}`, Has: `{"items": [{"type": "a_close"}, {"type": "a_new"}]}`, Golden: "alert_feed"},
		{Path: "/alert/feed", Body: `{"alert_id": "` + full + `", "types": ["a_new"], "asc": true}`, Has: `{"total": 1, "items": [{"type": "a_new"}]}`},
	})
	s.Exec(`DELETE FROM team_person WHERE account_id = $1`, apitest.AccountA)
	s.Converse(t, []apitest.Turn{
		{Path: "/alert/list", Key: apitest.KeyReader, Body: `{` + span + `}`, Has: `{"total": 2}`},
		{Path: "/alert-event/list", Key: apitest.KeyReader, Body: `{` + span + `}`, Has: `{"total": 3}`},
		{Path: "/alert/feed", Key: apitest.KeyReader, Body: `{"alert_id": "` + private + `"}`, Code: "AccessDenied"},
		{Path: "/alert/event/list", Key: apitest.KeyReader, Body: `{"alert_id": "` + private + `"}`, Code: "AccessDenied"},
		{Path: "/alert/list-by-ids", Key: apitest.KeyReader, Body: `{"alert_ids": ["` + private + `"]}`, Code: "AccessDenied"},
	})
}

// TestCursorOutlivesChannelThatBecomesPrivate continues lists after a channel was hidden from the caller: the alerts that the
// caller may read are shown, the others are not.
func TestCursorOutlivesChannelThatBecomesPrivate(t *testing.T) {
	t.Parallel()
	s := start(t)
	withEvents(s)
	const span = `"start_time": 1712600000, "end_time": 1712700000, "asc": true, "limit": 1`
	for _, path := range []string{"/alert/list", "/alert-event/list"} {
		s.Exec(`UPDATE channel SET team_id = $1, is_private = FALSE WHERE account_id = $2`, apitest.TeamA, apitest.AccountA)
		s.Exec(`UPDATE account SET revision = revision + 1`)
		var page struct {
			After string `json:"search_after_ctx"`
		}
		s.Call(apitest.KeyReader, path, `{`+span+`}`).Into(&page)
		s.Exec(`UPDATE channel SET team_id = 99, is_private = TRUE WHERE account_id = $1`, apitest.AccountA)
		s.Exec(`UPDATE account SET revision = revision + 1`)
		r := s.Call(apitest.KeyReader, path, fmt.Sprintf(`{%s, "search_after_ctx": %q}`, span, page.After))
		if page.After == "" || r.Code != "" || strings.Contains(string(r.Data), `"channel_id":1002`) {
			t.Errorf("%s: %s", path, r.Body)
		}
	}
}
