package webhook_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/engine/webhook"
)

const list = "/webhook/history/list"

// window is an hour from apitest.Now on.
const window = `"start_time":1776052800000,"end_time":1776056400000`

func delivery(eventID string, after time.Duration) webhook.Delivery {
	return webhook.Delivery{
		IntegrationID: 5321026051131, EventID: eventID, WebhookType: "alert", EventType: "a_update", ChannelID: 2551105804131, RefID: "69da3f0ef77b1b51f40e83cc",
		Endpoint: "https://example.com/webhook", Attempt: 1, Duration: 132, Status: "success", StatusCode: 200, EventTime: webhook.Moment(apitest.Now.Add(after)),
	}
}

func TestHistoryList(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Grant(auth.IntegrationsRead)
	failed := delivery("20260413mGsxP3drpFfs4ZCQd2pSDp", 31*time.Minute+11*time.Second+357472*time.Microsecond)
	failed.WebhookType = "incident"
	failed.EventType = "i_new"
	failed.RefID = ""
	failed.Attempt = 2
	failed.Duration = 0
	failed.Status = "failed"
	failed.StatusCode = 0
	record(t, s, apitest.AccountA,
		delivery("first", 0), delivery("fine", 1234567891*time.Nanosecond), failed, delivery("tie-b", time.Minute), delivery("tie-a", time.Minute), delivery("tie-B", time.Minute),
		delivery("before", -time.Nanosecond), delivery("end", time.Hour), delivery("last", time.Hour-time.Nanosecond))
	record(t, s, apitest.AccountB, delivery("first", 0))
	items := func(want ...string) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			var p page
			r.Into(&p)
			if got := strings.Join(p.ids(t), " "); got != strings.Join(want, " ") || p.Total != len(want) || p.SearchAfterCtx != "" {
				t.Errorf("%s of %d, next %q; want %v", got, p.Total, p.SearchAfterCtx, want)
			}
		}
	}
	s.Scenarios(t, list, []apitest.Scenario{
		{Name: "golden", Body: `{"limit":3,` + window + `}`, Golden: "webhook_history_list"},
		{Name: "reader", Key: apitest.KeyReader, Body: `{"limit":1,` + window + `,"status":"failed"}`, Then: items("20260413mGsxP3drpFfs4ZCQd2pSDp")},
		{Name: "no permission", Key: apitest.KeyNothing, Body: `{"limit":1,` + window + `}`, Code: "AccessDenied", Says: []string{"Integrations Read (on-call)"}},
		{Name: "another account", Key: apitest.KeyB, Body: `{"limit":100,` + window + `}`, Then: items("first")},

		{Name: "newest first", Body: `{"limit":100,` + window + `}`, Then: items("last", failed.EventID, "tie-b", "tie-a", "tie-B", "fine", "first")},
		{Name: "oldest first", Body: `{"limit":100,` + window + `,"asc":true,"orderby":"event_time"}`, Then: items("first", "fine", "tie-B", "tie-a", "tie-b", failed.EventID, "last")},
		{Name: "null is absent", Body: `{"limit":100,` + window + `,"search_after_ctx":null,"asc":null,"orderby":null,"ref_id":null,"integration_id":null,"event_types":null,"status":null}`,
			Then: items("last", failed.EventID, "tie-b", "tie-a", "tie-B", "fine", "first")},
		{Name: "empty is no filter", Body: `{"limit":100,` + window + `,"search_after_ctx":"","orderby":"","status":"","ref_id":"","integration_id":0,"event_types":[]}`,
			Then: items("last", failed.EventID, "tie-b", "tie-a", "tie-B", "fine", "first")},
		{Name: "one millisecond", Body: `{"limit":100,"start_time":1776052800000,"end_time":1776052800001}`, Then: items("first")},
		{Name: "the widest window", Body: `{"limit":100,"start_time":1000000000000,"end_time":9999999999999,"ref_id":""}`,
			Then: items("end", "last", failed.EventID, "tie-b", "tie-a", "tie-B", "fine", "first", "before")},
		{Name: "beyond the last instant", Body: `{"limit":100,"start_time":9999999999998,"end_time":9999999999999}`, Then: items()},
		{Name: "status", Body: `{"limit":100,` + window + `,"status":"failed"}`, Then: items(failed.EventID)},
		{Name: "event types", Body: `{"limit":100,` + window + `,"event_types":["i_new","none","i_new"]}`, Then: items(failed.EventID)},
		{Name: "reference and status", Body: `{"limit":100,` + window + `,"ref_id":"69da3f0ef77b1b51f40e83cc","status":"failed"}`, Then: items()},
		{Name: "unknown integration", Body: `{"limit":100,` + window + `,"integration_id":9223372036854775807}`, Data: `{"items":[],"search_after_ctx":"","total":0}`},
		{Name: "unknown fields", Body: `{"limit":100,` + window + `,"status":"failed","p":7}`, Then: items(failed.EventID)},

		{Name: "ref_id of 128 characters", Body: `{"limit":1,` + window + `,"ref_id":"` + strings.Repeat("é", 128) + `"}`, Then: items()},
		{Name: "ref_id of 129 characters", Body: `{"limit":1,` + window + `,"ref_id":"` + strings.Repeat("é", 129) + `"}`, Code: "InvalidParameter", Says: []string{"ref_id", "128", "129"}},
		{Name: "limit 0", Body: `{"limit":0,` + window + `}`, Code: "InvalidParameter", Says: []string{"limit", "1", "0"}},
		{Name: "limit 101", Body: `{"limit":101,` + window + `}`, Code: "InvalidParameter", Says: []string{"limit", "100", "101"}},
		{Name: "no limit", Body: `{` + window + `}`, Code: "InvalidParameter", Says: []string{"limit", "required"}},
		{Name: "limit null", Body: `{"limit":null,` + window + `}`, Code: "InvalidParameter", Says: []string{"limit"}},
		{Name: "limit as text", Body: `{"limit":"20",` + window + `}`, Code: "InvalidParameter", Says: []string{"limit", "integer"}},
		{Name: "no start_time", Body: `{"limit":1,"end_time":1776056400000}`, Code: "InvalidParameter", Says: []string{"start_time", "required"}},
		{Name: "no end_time", Body: `{"limit":1,"start_time":1776056400000}`, Code: "InvalidParameter", Says: []string{"end_time", "required"}},
		{Name: "start_time in seconds", Body: `{"limit":1,"start_time":1776052800,"end_time":1776056400000}`, Code: "InvalidParameter", Says: []string{"start_time", "1000000000000", "1776052800"}},
		{Name: "start_time too small", Body: `{"limit":1,"start_time":999999999999,"end_time":1776056400000}`, Code: "InvalidParameter", Says: []string{"start_time", "999999999999"}},
		{Name: "end_time too large", Body: `{"limit":1,"start_time":1776052800000,"end_time":10000000000000}`, Code: "InvalidParameter", Says: []string{"end_time", "9999999999999", "10000000000000"}},
		{Name: "empty window", Body: `{"limit":1,"start_time":1776052800000,"end_time":1776052800000}`, Code: "InvalidParameter", Says: []string{"end_time", "start_time", "1776052800000"}},
		{Name: "integration_id below 0", Body: `{"limit":1,` + window + `,"integration_id":-1}`, Code: "InvalidParameter", Says: []string{"integration_id", "0", "-1"}},
		{Name: "another status", Body: `{"limit":1,` + window + `,"status":"pending"}`, Code: "InvalidParameter", Says: []string{"status", "success", "pending"}},
		{Name: "another order", Body: `{"limit":1,` + window + `,"orderby":"status"}`, Code: "InvalidParameter", Says: []string{"orderby", "event_time", "status"}},
		{Name: "event_types not a list", Body: `{"limit":1,` + window + `,"event_types":"a_new"}`, Code: "InvalidParameter", Says: []string{"event_types", "array"}},
		{Name: "event type empty", Body: `{"limit":1,` + window + `,"event_types":["a_new",""]}`, Code: "InvalidParameter", Says: []string{"event_types[1]"}},
		{Name: "too many event types", Body: `{"limit":1,` + window + `,"event_types":["x"` + strings.Repeat(`,"x"`, 1000) + `]}`, Code: "InvalidParameter", Says: []string{"event_types", "1000"}},
		{Name: "asc not a boolean", Body: `{"limit":1,` + window + `,"asc":"yes"}`, Code: "InvalidParameter", Says: []string{"asc"}},
		{Name: "no object", Body: `[]`, Code: "InvalidParameter"},
		{Name: "a cursor made up", Body: `{"limit":1,` + window + `,"search_after_ctx":"eyJldmVudF90aW1lIjoiMjAyNi0wNC0xMlQxMzoxNToyNi4zODI1NDcrMDg6MDAiLCJldmVudF9pZCI6IjIwMjYwNDEybUdzeFAzZHJwRmZzNFpDUWQycFNEcCJ9"}`,
			Code: "InvalidParameter", Says: []string{"search_after_ctx"}},
	})
}

// A cursor is valid only with the request that it came from: only limit may differ. A client that writes the same
// request differently may go on.
func TestCursorsBelongToTheirList(t *testing.T) {
	t.Parallel()
	s := start(t)
	record(t, s, apitest.AccountA, delivery("a", 0), delivery("b", 1), delivery("c", 2))
	record(t, s, apitest.AccountB, delivery("a", 0), delivery("b", 1), delivery("c", 2))
	const filters = `"asc":true,"integration_id":5321026051131,"event_types":["a_update","a_new"]`
	var p page
	s.Call(apitest.KeyA, list, `{"limit":1,`+window+`,`+filters+`}`).Into(&p)

	text, err := base64.StdEncoding.DecodeString(p.SearchAfterCtx)
	if err != nil || !strings.HasPrefix(string(text), `{"event_time":"2026-04-13T12:00:00.000000+08:00","event_id":"a",`) {
		t.Errorf("%v: the cursor says %s", err, text)
	}
	next := fmt.Sprintf(`,"search_after_ctx":%q}`, p.SearchAfterCtx)
	s.Scenarios(t, list, []apitest.Scenario{
		{Name: "limit", Body: `{"limit":7,` + window + `,` + filters + next},
		{Name: "spelling", Body: `{"limit":1,` + window + `,"orderby":"event_time","status":null,"asc":true,"integration_id":5321026051131,"event_types":["a_new","a_update","a_new"]` + next},
		{Name: "account", Key: apitest.KeyB, Body: `{"limit":1,` + window + `,` + filters + next, Code: "InvalidParameter", Says: []string{"search_after_ctx"}},
		{Name: "direction", Body: `{"limit":1,` + window + `,"integration_id":5321026051131,"event_types":["a_update","a_new"]` + next, Code: "InvalidParameter", Says: []string{"search_after_ctx"}},
		{Name: "start", Body: `{"limit":1,"start_time":1776052800001,"end_time":1776056400000,` + filters + next, Code: "InvalidParameter", Says: []string{"search_after_ctx"}},
		{Name: "end", Body: `{"limit":1,"start_time":1776052800000,"end_time":1776056400001,` + filters + next, Code: "InvalidParameter", Says: []string{"search_after_ctx"}},
		{Name: "integration", Body: `{"limit":1,` + window + `,"asc":true,"event_types":["a_update","a_new"]` + next, Code: "InvalidParameter", Says: []string{"search_after_ctx"}},
		{Name: "event types", Body: `{"limit":1,` + window + `,"asc":true,"integration_id":5321026051131,"event_types":["a_update"]` + next, Code: "InvalidParameter", Says: []string{"search_after_ctx"}},
		{Name: "status", Body: `{"limit":1,` + window + `,"status":"success",` + filters + next, Code: "InvalidParameter", Says: []string{"search_after_ctx"}},
		{Name: "reference", Body: `{"limit":1,` + window + `,"ref_id":"69da3f0ef77b1b51f40e83cc",` + filters + next, Code: "InvalidParameter", Says: []string{"search_after_ctx"}},
	})
	other := apitest.Start(t, webhook.New(webhook.Config{CursorKey: []byte("another key")}).Ops())
	if r := other.Call(apitest.KeyA, list, `{"limit":1,`+window+`,`+filters+next); r.Status != http.StatusBadRequest {
		t.Errorf("a server with another key answers %d: %s", r.Status, r.Body)
	}
}
