package insight_test

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/insight"
)

func TestInsight(t *testing.T) {
	s := begin(t)
	whole := `{` + window + `}`
	reader := []apitest.Scenario{
		{Name: "no permission", Key: apitest.KeyNothing, Body: whole, Code: "AccessDenied"},
		{Name: "no window", Body: `{}`, Code: "InvalidParameter", Says: []string{"start_time"}},
		{Name: "backwards", Body: `{"start_time":5,"end_time":5}`, Code: "InvalidParameter", Says: []string{"end_time", "start_time 5"}},
		{Name: "more than a year", Body: `{"start_time":1,"end_time":31622402}`, Code: "InvalidParameter", Says: []string{"366 days", "31622401"}},
		{Name: "no zone", Body: `{` + window + `,"time_zone":"Nowhere"}`, Code: "InvalidParameter", Says: []string{"time_zone", "Nowhere"}},
		{Name: "Ok", Body: `{` + window + `,"severities":["Ok"]}`},
		{Name: "four severities", Body: `{` + window + `,"severities":["Ok","Info","Warning","Critical"]}`, Code: "InvalidParameter", Says: []string{"severities"}},
		{Name: "times", Body: `{` + window + `,"seconds_to_ack_from":9,"seconds_to_ack_to":9}`, Code: "InvalidParameter", Says: []string{"seconds_to_ack_to"}},
		{Name: "a day's unit needs a day", Body: `{"start_time":1,"end_time":86400,"aggregate_unit":"day"}`, Code: "InvalidParameter", Says: []string{"aggregate_unit"}},
		{Name: "31 days", Body: `{"start_time":1,"end_time":2768400,"aggregate_unit":"day"}`, Code: "InvalidParameter", Says: []string{"31 days"}},
		{Name: "another account", Key: apitest.KeyB, Body: whole, Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			if strings.Contains(string(r.Body), "Payments") || strings.Contains(string(r.Body), first) {
				t.Errorf("it shows another account's: %s", r.Body)
			}
		}},
	}
	for _, c := range []struct{ path, golden, more string }{
		{"/insight/account", "insight_account", `,"aggregate_unit":"day","split_hours":true`},
		{"/insight/team", "insight_team", ""},
		{"/insight/channel", "insight_channel", ""},
		{"/insight/responder", "insight_responder", ""},
	} {
		s.Scenarios(t, c.path, append([]apitest.Scenario{
			{Name: c.path, Key: apitest.KeyReader, Body: `{` + window + c.more + `}`, Golden: c.golden},
		}, reader...))
	}
	s.Scenarios(t, "/insight/incident/list", append([]apitest.Scenario{
		{Name: "a reader", Key: apitest.KeyReader, Body: whole, Golden: "insight_incident_list"},
	}, reader[:8]...))
	s.Scenarios(t, "/insight/alert/topk-by-label", []apitest.Scenario{
		{Name: "check", Key: apitest.KeyReader, Body: `{` + window + `,"label":"check"}`, Golden: "insight_alert_topk-by-label"},
		{Name: "by events, one", Key: apitest.KeyReader, Body: `{` + window + `,"label":"check","k":1,"orderby":"total_alert_event_cnt"}`,
			Data: `{"items":[{"label":"cpu","total_alert_cnt":1,"total_alert_event_cnt":20}]}`},
		{Name: "the fewest first", Key: apitest.KeyReader, Body: `{` + window + `,"label":"resource","k":1,"asc":true}`,
			Data: `{"items":[{"label":"db1","total_alert_cnt":1,"total_alert_event_cnt":5}]}`},
		{Name: "of an incident", Key: apitest.KeyReader, Body: `{` + window + `,"label":"host","incident_ids":["` + strings.ToUpper(first) + `"],"labels":{"host":"db2"},"split_hours":true}`,
			Data: `{"items":[{"label":"db2","hours":"off","total_alert_cnt":1,"total_alert_event_cnt":3}]}`},
		{Name: "the owner sees all", Body: `{` + window + `,"label":"check","query":"SECRET"}`, Data: `{"items":[{"label":"secret","total_alert_cnt":1,"total_alert_event_cnt":99}]}`},
		{Name: "k", Body: `{` + window + `,"label":"check","k":101}`, Code: "InvalidParameter", Says: []string{"k"}},
		{Name: "no label", Body: whole, Code: "InvalidParameter", Says: []string{"label"}},
		{Name: "a filter of incidents", Body: `{` + window + `,"label":"check","responder_ids":[1]}`, Code: "InvalidParameter", Says: []string{"responder_ids"}},
		{Name: "no permission", Key: apitest.KeyNothing, Body: `{` + window + `,"label":"check"}`, Code: "AccessDenied"},
	})
}

func TestPageOfLargeIncidentsEndsEarly(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.Exec(`UPDATE incident SET title = $2 WHERE account_id = $1`, apitest.AccountA, strings.Repeat("x", api.PageBytes))
	var ids []string
	cursor := ""
	for range 2 {
		var page struct {
			api.CursorPage[insight.Item]
			api.Warnings
		}
		s.Call(apitest.KeyA, "/insight/incident/list", fmt.Sprintf(`{%s,"search_after_ctx":%q}`, window, cursor)).Into(&page)
		if len(page.Items) != 1 || page.HasNextPage != (len(page.Warnings.Warnings) == 1) {
			t.Fatalf("%d incidents, next page %v, warnings %q", len(page.Items), page.HasNextPage, page.Warnings.Warnings)
		}
		ids = append(ids, page.Items[0].IncidentID)
		cursor = page.SearchAfterCtx
	}
	if ids[0] == ids[1] {
		t.Error(ids)
	}
}

// TestFilters: each filter of /insight/incident/list selects what it names, and nothing else.
func TestFilters(t *testing.T) {
	s := begin(t)
	for _, c := range []struct{ more, want string }{
		{``, second + " " + third + " " + first},
		{`,"asc":true`, first + " " + third + " " + second},
		{`,"severities":["Critical"]`, first},
		{`,"channel_ids":[1002]`, third},
		{`,"team_ids":[99]`, third},
		{`,"team_ids":[98]`, ""},
		{`,"is_my_team":true`, second + " " + first},
		{fmt.Sprintf(`,"responder_ids":[%d]`, apitest.Reader), first},
		{`,"incident_ids":["` + strings.ToUpper(second) + `"]`, second},
		{`,"query":"SLOW"`, second},
		{`,"query":"disk"`, first},
		{`,"labels":{"env":"prod"}`, first},
		{`,"labels":{"env":"dev"}`, ""},
		{`,"fields":{"x":1}`, ""},
		{`,"seconds_to_ack_from":600`, first},
		{`,"seconds_to_ack_from":601`, ""},
		{`,"seconds_to_ack_to":600`, ""},
		{`,"seconds_to_close_from":3600,"seconds_to_close_to":3601`, first},
		{`,"limit":1,"p":2`, third},
		{`,"limit":1,"p":1,"seconds_to_close_from":0`, first},
	} {
		var reply struct {
			Items []struct {
				ID string `json:"incident_id"`
			}
			Total int
		}
		s.Call(apitest.KeyA, "/insight/incident/list", `{`+window+c.more+`}`).Into(&reply)
		got := []string{}
		for _, i := range reply.Items {
			got = append(got, i.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s lists %q, want %q", c.more, got, c.want)
		}
		if !strings.Contains(c.more, "limit") && reply.Total != len(got) {
			t.Errorf("%s: total %d of %d", c.more, reply.Total, len(got))
		}
	}
}

// TestPagesByCursor: the pages that cursors name hold every incident once, also when another arrives meanwhile.
func TestPagesByCursor(t *testing.T) {
	s := begin(t)
	var seen []string
	cursor := ""
	for range 5 {
		var reply struct {
			Items []struct {
				ID string `json:"incident_id"`
			}
			HasNextPage    bool   `json:"has_next_page"`
			SearchAfterCtx string `json:"search_after_ctx"`
		}
		s.Call(apitest.KeyA, "/insight/incident/list", `{`+window+`,"limit":1,"search_after_ctx":"`+cursor+`"}`).Into(&reply)
		for _, i := range reply.Items {
			seen = append(seen, i.ID)
		}
		cursor = reply.SearchAfterCtx
		if !reply.HasNextPage {
			break
		}
	}
	if strings.Join(seen, " ") != second+" "+third+" "+first {
		t.Errorf("the pages hold %q", seen)
	}
	r := s.Call(apitest.KeyA, "/insight/incident/list", `{`+window+`,"asc":true,"search_after_ctx":"x"}`)
	if r.Code != "InvalidParameter" {
		t.Errorf("a cursor of another list: %s", r.Body)
	}
	s.Grant(auth.IncidentsRead)
}
