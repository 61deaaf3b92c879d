package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/engine/webhook"
	"tocsin/internal/platform/db"
)

// outsiders are the callers of a world who may not read its private channel, with Manage and with Read.
func (w world) outsiders() []string { return w.keys[3:] }

// TestReferencesToPrivateObjectsHaveNoNames deletes what an escalation rule of a private channel, and the channel
// itself, refer to.
func TestReferencesToPrivateObjectsHaveNoNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.keys[0]
	template := w.must(owner, "/template/create", `{"template_name":"t","team_id":0}`, "template_id")
	channel := w.must(owner, "/channel/create", `{"channel_name":"hush","team_id":`+w.names["team"]+`,"is_private":true}`, "channel_id")
	w.must(owner, "/channel/escalate/rule/create", `{"channel_id":`+channel+`,"rule_name":"hush","template_id":"`+template+`","layers":[{"target":{"team_ids":[`+w.names["team"]+`],"by":{"follow_preference":true}}}]}`, "rule_id")
	w.must(owner, "/integration/create", `{"integration_name":"hush","integration_type":"standard","channel_id":`+channel+`,"team_id":`+w.names["team"]+`}`, "integration_id")
	for _, dry := range []string{"", `,"dry_run":true`} {
		for path, body := range map[string]string{"/template/delete": `{"template_id":"` + template + `"` + dry + `}`, "/team/delete": `{"team_id":` + w.names["team"] + dry + `}`} {
			raw, _ := w.call(owner, path, body)
			if strings.Count(raw, "hush") < 2 {
				t.Errorf("%s hides names from the owner: %s", path, raw)
			}
			raw, _ = w.call(w.keys[3], path, body)
			if strings.Contains(raw, "hush") || !strings.Contains(raw, "escalate_rule") || !strings.Contains(raw, "ReferenceExist") {
				t.Errorf("%s %s shows to an outsider: %s", path, body, raw)
			}
		}
	}
}

// TestDeliveriesAboutChannelThatBecamePrivate: the deliveries of a webhook that names no channel become private as well.
func TestDeliveriesAboutChannelThatBecamePrivate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner, now := w.keys[0], time.Now()
	hook := w.must(owner, "/integration/create", `{"integration_name":"all","integration_type":"webhook_alert","settings":{"endpoint":"https://example.com"}}`, "integration_id")
	named := w.must(owner, "/integration/create", `{"integration_name":"named","integration_type":"webhook_alert","settings":{"endpoint":"https://example.com","channel_ids":[`+w.names["private"]+`]}}`, "integration_id")
	var all []webhook.Delivery
	add := func(n int, hook, channel, ref string) {
		for range n {
			all = append(all, webhook.Delivery{IntegrationID: number(hook), EventID: fmt.Sprint("e", len(all)), WebhookType: "alert", EventType: []string{"a_new", "a_close"}[len(all)%2], ChannelID: number(channel),
				RefID: ref, Endpoint: "https://example.com/" + ref, Attempt: 1, Status: []string{"success", "failed", "failed"}[len(all)%3], EventTime: webhook.Moment(now.Add(-time.Duration(len(all)) * time.Second))})
		}
	}
	for range 7 {
		add(2, hook, w.names["public"], "open")
		add(9, named, w.names["private"], "hush")
		add(1, hook, w.names["private"], "hush")
		add(5, named, w.names["public"], "open")
	}
	w.write(func(tx *db.Tx) error { return webhook.Record(tx, w.account, all) })
	window := fmt.Sprintf(`"start_time":%d,"end_time":%d`, now.Add(-time.Hour).UnixMilli(), now.Add(time.Hour).UnixMilli())
	for _, more := range []string{"", `,"asc":true`, `,"status":"failed"`, `,"event_types":["a_new"]`, `,"event_types":["a_close","a_new"],"status":"success"`} {
		for _, key := range w.outsiders() {
			w.walk(key, window+more, all, hook)
		}
	}
	for _, key := range w.outsiders() {
		for _, filter := range []string{`,"ref_id":"hush"`, `,"integration_id":` + named} {
			if data, _ := w.data(key, "/webhook/history/list", `{"limit":10,`+window+filter+`}`); fmt.Sprint(data["total"]) != "0" || len(data["items"].([]any)) != 0 {
				t.Errorf("%s: %v", filter, data)
			}
		}
		for n, d := range all {
			want := map[bool]string{true: "AccessDenied"}[fmt.Sprint(d.IntegrationID) == named || d.RefID == "hush"]
			if _, code := w.call(key, "/webhook/history/detail", fmt.Sprintf(`{"event_id":"e%d","integration_id":%d}`, n, d.IntegrationID)); code != want {
				t.Errorf("detail of %+v: %q", d, code)
			}
		}
	}
	if data, _ := w.data(w.keys[2], "/webhook/history/list", `{"limit":10,`+window+`}`); fmt.Sprint(data["total"]) != fmt.Sprint(len(all)) {
		t.Errorf("a member sees %v of %d", data["total"], len(all))
	}
}

// walk reads the history page by page and compares what an outsider sees with all deliveries.
func (w world) walk(key, request string, all []webhook.Delivery, visible string) {
	w.t.Helper()
	var asked struct {
		Status     string   `json:"status"`
		EventTypes []string `json:"event_types"`
	}
	if err := json.Unmarshal([]byte("{"+request+"}"), &asked); err != nil {
		w.t.Fatal(err)
	}
	want := 0
	for _, d := range all {
		if fmt.Sprint(d.IntegrationID) == visible && (asked.Status == "" || asked.Status == d.Status) && (len(asked.EventTypes) != 1 || asked.EventTypes[0] == d.EventType) {
			want++
		}
	}
	seen, after := map[string]bool{}, ""
	for {
		raw, code := w.call(key, "/webhook/history/list", fmt.Sprintf(`{"limit":3,%s,"search_after_ctx":%q}`, request, after))
		data := dataOf(w.t, raw)
		if code != "" || fmt.Sprint(data["total"]) != fmt.Sprint(want) || strings.Contains(raw, "hush") {
			w.t.Fatalf("%s: want %d of %s", request, want, raw)
		}
		for _, item := range data["items"].([]any) {
			d := item.(map[string]any)
			if fmt.Sprint(d["integration_id"]) != visible || seen[fmt.Sprint(d["event_id"])] {
				w.t.Fatalf("%s: %v", request, d)
			}
			if private := fmt.Sprint(d["channel_id"]) == "0"; private != (d["ref_id"] == "") || private != (d["endpoint"] == "") {
				w.t.Fatalf("%s: %v", request, d)
			}
			seen[fmt.Sprint(d["event_id"])] = true
		}
		after = fmt.Sprint(data["search_after_ctx"])
		if after == "" {
			break
		}
	}
	if len(seen) != want {
		w.t.Errorf("%s: %d seen, want %d", request, len(seen), want)
	}
}

// TestEventsThatReachedNoChannel: they are as private as the integration that they came from.
func TestEventsThatReachedNoChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := time.Now().Unix()
	source := w.must(w.keys[1], "/integration/create", `{"integration_name":"s","integration_type":"standard","channel_id":`+w.names["private"]+`}`, "integration_id")
	w.exec(`INSERT INTO verdict (account_id, verdict_id, decided_at, event_id, channel_id, outcome, alert_id, incident_id, integration_id, event_time, severity, body, trace)
		VALUES ($1, 1, $2, 'eeee00000000000000000001', 0, 'discarded', '', '', $3, $4, 'Critical', '{"title":"hush"}', '[]')`, w.account, now*1000, number(source), now)
	w.exec(`INSERT INTO event (account_id, event_id, received_at, integration_id, body) VALUES ($1, 'eeee00000000000000000002', 1, $2, '{"title":"hush"}')`, w.account, number(source))
	w.exec(`INSERT INTO event_waiting (account_id, event_id, received_at) VALUES ($1, 'eeee00000000000000000002', 1)`, w.account)
	for column, key := range w.keys {
		raw, code := w.call(key, "/alert-event/list", fmt.Sprintf(`{"start_time":%d,"end_time":%d}`, now-60, now+60))
		if code != "" || strings.Contains(raw, "hush") != (column < 3) {
			t.Errorf("column %d: %s", column+1, raw)
		}
		for _, event := range []string{"eeee00000000000000000001", "eeee00000000000000000002"} {
			if raw, code := w.call(key, "/alert/explain", `{"event_id":"`+event+`"}`); (code == "AccessDenied") != (column >= 3) {
				t.Errorf("column %d: %s", column+1, raw)
			}
		}
	}
}

// TestChangesOfPrivateChannels: change events are as private as their channel.
func TestChangesOfPrivateChannels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := time.Now().Unix()
	w.exec(`INSERT INTO change (account_id, change_id, integration_id, channel_id, change_key, start_time, last_time, body) VALUES ($1, 'cccc00000000000000000001', 1, $2, 'k', $3, $3, '{"title":"hush"}')`,
		w.account, number(w.names["private"]), now)
	for column, key := range w.keys {
		if raw, code := w.call(key, "/change/list", `{}`); code != "" || strings.Contains(raw, "hush") != (column < 3) {
			t.Errorf("column %d: %s", column+1, raw)
		}
	}
}

// TestApplicationsNeitherFillNorLeavePrivateChannels: moving an application needs the right to read both channels.
func TestApplicationsNeitherFillNorLeavePrivateChannels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	creator, other := w.keys[1], w.keys[3]
	with := func(channel string) string {
		return `"application_name":"x","type":"browser","team_id":0,"is_private":false,"alerting":{"enabled":true,"channel_ids":[` + channel + `]}`
	}
	id := w.must(creator, "/rum/application/create", `{`+with(w.names["private"])+`}`, "application_id")
	for _, c := range []struct{ path, body, code string }{
		{"/rum/application/create", `{` + with(w.names["private"]) + `}`, "AccessDenied"},
		{"/rum/application/update", `{"application_id":"` + id + `",` + with(w.names["public"]) + `}`, "AccessDenied"},
		{"/rum/application/update", `{"application_id":"` + id + `",` + with("") + `}`, "AccessDenied"},
		{"/rum/application/update", `{"application_id":"` + id + `","application_name":"y"}`, ""},
		{"/rum/application/update", `{"application_id":"` + id + `",` + with(w.names["private"]+","+w.names["public"]) + `}`, ""},
	} {
		if raw, code := w.call(other, c.path, c.body); code != c.code {
			t.Errorf("%s %s: %s", c.path, c.body, raw)
		}
	}
}

// TestRoutePreviewDoesNotFindPrivateChannelsByName: a preview with a label must not confirm that a channel exists.
func TestRoutePreviewDoesNotFindPrivateChannelsByName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := alertKind("$public")
	alert := w.made(k)
	w.exec(`UPDATE alert SET labels = '{"team":"p"}' WHERE account_id = $1 AND alert_id = $2`, w.account, alert["id"])
	for column, key := range w.keys {
		raw, code := w.call(key, "/route/preview", `{"alert_ids":["`+alert["id"]+`"],"route":{"cases":[{"if":[{"key":"severity","oper":"IN","vals":["Critical"]}],"channel_ids":[],"fallthrough":false,"routing_mode":"name_mapping","name_mapping_label":"team"}]}}`)
		if code != "" || strings.Contains(raw, w.names["private"]) != (column < 3) {
			t.Errorf("column %d: %s", column+1, raw)
		}
	}
}

// TestOldVersionsOfRoute: they are as private as the channels that they named.
func TestOldVersionsOfRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	route := w.made(routeKind(shared, toPrivate))
	w.must(w.keys[1], "/route/upsert", fill(`{"integration_id":$id,"default":{"channel_ids":[$public]}}`, route), "")
	for column, key := range w.keys {
		raw, code := w.call(key, "/route/history/list", fill(`{"integration_id":$id}`, route))
		want := map[bool]string{true: "2", false: "1"}[column < 3]
		if code != "" || strings.Contains(raw, route["mark"]) != (column < 3) || fmt.Sprint(dataOf(t, raw)["total"]) != want {
			t.Errorf("column %d: %s", column+1, raw)
		}
	}
}

// TestAuditLogHidesWhatWasRefused sends an invalid comment on a private incident, which fails before the check of its channel.
func TestAuditLogHidesWhatWasRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	incident := w.must(w.keys[1], "/incident/create", `{"incident_severity":"Critical","title":"i","channel_id":`+w.names["private"]+`}`, "incident_id")
	for _, body := range []string{`{"incident_ids":["` + incident + `"],"comment":"hush","bogus":`, `{"incident_ids":"` + incident + `","comment":"hush"}`, `{"incident_ids":["` + incident + `","663a1b2c3d4e5f6789abcdf0"],"comment":"hush"}`} {
		if _, code := w.call(w.keys[1], "/incident/comment", body); code == "" {
			t.Fatal("the comment was accepted")
		}
	}
	now := time.Now().Unix()
	for column, key := range w.keys {
		raw, _ := w.call(key, "/audit/search", fmt.Sprintf(`{"start_time":%d,"end_time":%d,"operations":["incident:write:comment"]}`, now-60, now+60))
		if fmt.Sprint(dataOf(t, raw)["total"]) != "3" || strings.Contains(raw, "hush") != (column < 3) {
			t.Errorf("column %d: %s", column+1, raw)
		}
	}
}

// TestExplanationsHidePrivateCasesOfRoute reads why an event came to a public channel by a route that names a
// private one as well.
func TestExplanationsHidePrivateCasesOfRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	route := w.made(routeKind(shared, toPrivate))
	w.exec(`INSERT INTO verdict (account_id, verdict_id, decided_at, event_id, channel_id, outcome, alert_id, incident_id, integration_id, event_time, severity, body, trace)
		VALUES ($1, 1, 1, 'eeee00000000000000000001', $2, 'opened', '', '', $3, 1, 'Critical', '{}', '[{"stage":"route","name":"case_0","matched":true,"why":"hush"},{"stage":"group","name":"g","matched":true,"why":"loud"}]')`,
		w.account, number(w.names["public"]), number(route["id"]))
	for column, key := range w.keys {
		raw, code := w.call(key, "/alert/explain", `{"event_id":"eeee00000000000000000001"}`)
		if code != "" || strings.Contains(raw, "hush") != (column < 3) || !strings.Contains(raw, "loud") {
			t.Errorf("column %d: %s", column+1, raw)
		}
	}
}

// TestRefusalsDoNotNamePrivateApplications deletes a team that one belongs to.
func TestRefusalsDoNotNamePrivateApplications(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.must(w.keys[1], "/rum/application/create", `{"application_name":"hushed shop","type":"browser","is_private":true,"team_id":`+w.names["team"]+`}`, "application_id")
	for column, key := range w.keys[:4] {
		raw, code := w.call(key, "/team/delete", `{"team_id":`+w.names["team"]+`}`)
		if named := strings.Contains(raw, "hushed shop"); code != "ReferenceExist" || !strings.Contains(raw, id) || named != (column < 3) {
			t.Errorf("column %d: %s", column+1, raw)
		}
	}
}
