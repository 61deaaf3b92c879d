package app_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
)

// exempt lists operations on no object of the table, by the reason.
var exempt = map[string][]string{
	"persons and keys: any valid key reads names, and keys and contacts are held by narrowed_key_test.go in internal/person": {
		"/account/info", "/account/update", "/person/infos", "/member/info", "/member/list", "/member/invite", "/member/delete", "/member/info/reset", "/member/role/grant",
		"/member/role/revoke", "/member/role/update", "/person/app-key/create", "/person/app-key/list", "/person/app-key/enable", "/person/app-key/disable",
		"/person/app-key/delete", "/person/app-key/name/reset",
		"/session/list", "/session/end", "/person/link/create", "/person/email/prove", "/person/identity/remove", "/person/password/update", "/person/security/info", "/person/second-factor/begin", "/person/second-factor/confirm", "/person/second-factor/remove", "/preference/info", "/preference/update", "/person/push/subscribe", "/person/push/list", "/person/push/remove", "/person/push/test",
	},
	"a person writes their own, and what others read and write is held by the tests of internal/absence": {"/person/absence/create", "/person/absence/list", "/person/absence/update", "/person/absence/delete"},
	"persons of a schedule change their own shifts, and what others may do is held by self_service_test.go in internal/schedule": {
		"/schedule/shift/take", "/schedule/shift/hand-over", "/schedule/cover/request", "/schedule/cover/accept", "/schedule/cover/decline", "/schedule/cover/cancel",
		"/schedule/cover/list",
	},
	"it names persons, teams and a rule; the rule of a private channel has a test of its own in internal/engine/untold": {"/account/fallback/info", "/account/fallback/update"},
	"it counts the work of the whole server, and names no object":                                                       {"/account/health/info"},
	"it names nothing that is stored, or only what is the caller's own":                                                 {"/audit/operation/list", "/role/permission/list", "/role/permission/factor/list", "/schedule/preview", "/schedule/self", "/incident/page-me", "/schedule/calendar/list", "/template/preview", "/integration/type/list"},
	"tried with alerts, which are what it shows":                                                                        {"/route/preview"},
	"tried with every kind, in check":                                                                                   {"/audit/search"},
	"source maps are of services, and who reads code is held by TestEnrich in internal/sourcemap":                       {"/sourcemap/list", "/sourcemap/stack/enrich"},
	"an export is of few calls a second, and what it leaves out is held by TestIssueExport in internal/rum":             {"/rum/issue/export"},
	"addresses of feeds have a test of their own, TestOperations in internal/schedulefeed":                              {"/schedule/calendar/url", "/schedule/calendar/revoke"},
	"private integrations have a test of their own, in internal/warroom":                                                {"/datasource/im/war-room-enabled/list"},
	"figures: TestPrivateChannelsDoNotCount of internal/insight holds that what is private changes none of them": {
		"/insight/account", "/insight/team", "/insight/channel", "/insight/responder", "/insight/team/export", "/insight/channel/export", "/insight/responder/export",
		"/insight/alert/topk-by-label", "/report/oncall/notifications", "/report/oncall/changes",
	},
	"changes have a test of their own, TestChangesOfPrivateChannels": {"/change/list"},
	"edges, their keys and clusters belong to no team and to no channel; TestEdges in internal/engine/monitor holds who sees them": {
		"/monit/edge/list", "/monit/edge/delete", "/monit/edge/key/create", "/monit/edge/key/update", "/monit/edge/key/list", "/monit/edge/key/delete",
		"/monit/edge/cluster/list", "/monit/edge/cluster/update",
	},
	"what a cloud service lists is held by TestSLS in internal/datasource":                                                                           {"/monit/datasource/sls/projects", "/monit/datasource/sls/logstores"},
	"what a datasource answers is held by TestPreview in internal/engine/monitor":                                                                    {"/monit/preview/sync", "/monit/query/data"},
	"what a datasource answers about a rule is held by TestGraph, TestRuleTrial, TestBacktestCountsPersons and TestProve in internal/engine/monitor": {"/monit/rule/graph", "/monit/rule/test", "/monit/rule/backtest", "/monit/rule/import/prove"},
	"what is so now, of all objects of a kind, has a test of its own in the package of the kind": {
		"/schedule/gap/list", "/channel/silence/rule/list-effective", "/webhook/endpoint/list",
	},
}

const (
	conditions = `"filters":[[{"key":"title","oper":"IN","vals":["x"]}]]`
	layers     = `"template_id":"000000000000000000000001","layers":[{"target":{"team_ids":[$team],"by":{"follow_preference":true}}}]`
	windows    = `"time_filters":[{"start":"01:00","end":"02:00"}],` + conditions
)

// rule returns a kind of rule of a channel.
func rule(name, channel, body string, more ...try) kind {
	path := "/channel/" + name + "/rule/"
	body = `{"channel_id":` + channel + `,"rule_name":"$mark",` + body
	one := `{"channel_id":` + channel + `,"rule_id":"$id"}`
	return kind{prefixes: []string{path}, steps: []step{{path + "create", body + "}", "rule_id", "id"}}, tries: append([]try{
		{change, path + "create", body + "}", ""}, {change, path + "update", body + `,"rule_id":"$id"}`, ""}, {change, path + "disable", one, ""}, {change, path + "enable", one, ""},
		{change, path + "delete", `{"channel_id":` + channel + `,"rule_id":"$id","dry_run":true}`, ""}, {change, path + "delete", one, ""},
		{look, path + "list", `{"channel_id":` + channel + `}`, ""},
	}, more...)}
}

// rules returns the kinds of rules except drop rules.
func rules(channel string) []kind {
	return []kind{
		rule("silence", channel, windows), rule("inhibit", channel, `"equals":["a"]`),
		rule("escalate", channel, layers, try{look, "/channel/escalate/rule/info", `{"channel_id":` + channel + `,"rule_id":"$id"}`, ""}),
	}
}

// channelKind returns the kind of channels; private is a member of its body.
func channelKind(private string) kind {
	body := `{"channel_name":"$mark","team_id":$team` + private + `}`
	const one = `{"channel_id":$id}`
	return kind{prefixes: []string{"/channel/", "/lint/"}, steps: []step{{"/channel/create", body, "channel_id", "id"}}, tries: []try{
		{create, "/channel/create", body, ""}, {change, "/channel/update", `{"channel_id":$id,"description":"y"}`, ""},
		{change, "/channel/update", `{"channel_id":$id,"is_private":false,"team_id":0}`, ""}, {change, "/channel/disable", one, ""}, {change, "/channel/enable", one, ""},
		{change, "/channel/delete", one, "BadRequest"}, {change, "/channel/delete", `{"channel_id":$id,"dry_run":true}`, ""},
		{look, "/channel/info", one, ""}, {look, "/channel/rules/try", `{"channel_id":$id,"alert":{"title":"x","alert_severity":"Critical"}}`, ""}, {list, "/channel/infos", `{"channel_ids":[$id]}`, ""}, {list, "/channel/list", `{"query":"$mark"}`, ""}, {list, "/lint/list", `{}`, ""},
		{look, "/channel/star", one, ""}, {look, "/channel/unstar", one, ""},
	}}
}

// integrationKind returns the kind of the integrations of a body; untie is the body of an update that takes it from its channel.
func integrationKind(body, untie, rotates string) kind {
	signs := map[bool]string{true: "", false: "InvalidParameter"}[strings.Contains(body, "webhook_")]
	const one = `{"integration_id":$id}`
	body = `{"integration_name":"$mark",` + body + `}`
	return kind{prefixes: []string{"/integration/"}, steps: []step{{"/integration/create", body, "integration_id", "id"}}, tries: []try{
		{change, "/integration/create", body, ""}, {change, "/integration/update", `{"integration_id":$id,"description":"y"}`, ""},
		{change, "/integration/update", `{"integration_id":$id,` + untie + `}`, ""}, {change, "/integration/disable", one, ""}, {change, "/integration/enable", one, ""},
		{change, "/integration/key/rotate", one, rotates}, {change, "/integration/test", one, rotates},
		{change, "/integration/secret/rotate", one, signs}, {change, "/integration/secret/expire", one, signs}, {change, "/integration/delete", `{"integration_id":$id,"dry_run":true}`, ""}, {change, "/integration/delete", one, ""},
		{look, "/integration/info", one, ""}, {list, "/integration/list", `{"query":"$mark"}`, ""}, {list, "/integration/list", `{"limit":100}`, ""},
	}}
}

const (
	shared    = `{"integration_name":"i","integration_type":"standard"}`
	dedicated = `{"integration_name":"i","integration_type":"standard","channel_id":$private}`
	byTitle   = `{"if":[{"key":"title","oper":"IN","vals":["$mark"]}],"channel_ids":[$public],"fallthrough":false}`
	toPrivate = `{"if":[{"key":"title","oper":"IN","vals":["$mark"]}],"channel_ids":[$private],"fallthrough":false}`
)

// routeKind returns the kind of the route of an integration, with one case.
func routeKind(integration, routed string) kind {
	body := `{"integration_id":$id,"cases":[` + routed + `]}`
	return kind{prefixes: []string{"/route/"}, steps: []step{{"/integration/create", integration, "integration_id", "id"}, {"/route/upsert", body, "", ""}}, tries: []try{
		{change, "/route/upsert", body, ""}, {change, "/route/upsert", `{"integration_id":$id,"default":{"channel_ids":[$public]}}`, ""},
		{change, "/integration/delete", `{"integration_id":$id}`, ""}, {change, "/integration/update", `{"integration_id":$id,"channel_id":$public}`, ""},
		{look, "/route/info", `{"integration_id":$id}`, ""}, {list, "/route/list", `{"integration_ids":[$id]}`, ""},
		{look, "/route/history/list", `{"integration_id":$id}`, ""},
	}}
}

// rulesOf returns the kind of the rules of an integration at a path.
func rulesOf(path, integration, rule string) kind {
	body := `{"integration_id":$id,"rules":[` + rule + `]}`
	return kind{prefixes: []string{path}, steps: []step{{"/integration/create", integration, "integration_id", "id"}, {path + "upsert", body, "", ""}}, tries: []try{
		{change, path + "upsert", body, ""}, {change, path + "upsert", `{"integration_id":$id,"rules":[]}`, ""},
		{look, path + "info", `{"integration_id":$id}`, ""}, {list, path + "list", `{"integration_ids":[$id]}`, ""},
	}}
}

const (
	pipelineRule   = `{"kind":"severity_reset","if":[[{"key":"labels.env","oper":"IN","vals":["$mark"]}]],"settings":{"severity":"Info"}}`
	enrichmentRule = `{"kind":"extraction","settings":{"source_field":"title","result_label":"$mark","pattern":"^(?P<result>[a-z]+):"}}`
	sourceOf       = `"integration_type":"standard","channel_id":`
	webhookOf      = `"integration_type":"webhook_alert","settings":{"endpoint":"https://example.com/$mark","headers":{"X-Secret":"s"},"sign_secret":"s","channel_ids":[$private]}`
	elsewhere      = `"settings":{"endpoint":"https://elsewhere.example.com","headers":{"X-Secret":""},"sign_secret":""}`
)

// many returns an operation on one or more incidents.
func many(path, more string) try {
	return try{change, "/incident/" + path, `{"incident_ids":["$id"]` + more + `}`, ""}
}

// ofIncident returns an operation on one incident.
func ofIncident(m manner, path, more, ends string) try {
	return try{m, "/incident/" + path, `{"incident_id":"$id"` + more + `}`, ends}
}

// incidentKind returns the kind of the incidents of a channel, with a war room and a comment.
func incidentKind(channel string) kind {
	first := func(path, member, name string) step {
		return step{"/incident/" + path, `{"incident_severity":"Critical","title":"$mark","channel_id":` + channel + `}`, member, name}
	}
	const group = `{"integration_id":7,"chat_id":"chat-$id"`
	window := fmt.Sprintf(`{"start_time":%d,"end_time":%d}`, time.Now().Unix()-60, time.Now().Unix()+3600)
	return kind{prefixes: []string{"/incident/", "/insight/incident/"}, steps: []step{first("create", "incident_id", "id"), first("create", "incident_id", "other"),
		{"/incident/comment", `{"incident_ids":["$id"],"comment":"$mark"}`, "", ""}},
		seed: func(w world, names map[string]string) {
			w.exec(`INSERT INTO war_room (account_id, incident_id, integration_id, plugin_type, status, chat_id, chat_name, share_link, created_by, created_at) VALUES ($1, $2, 7, 'slack', 'open', $3, $4, '', 0, 0)`,
				w.account, names["id"], "chat-"+names["id"], names["mark"])
			w.exec(`INSERT INTO untold (account_id, ref_id, incident_id, channel_id, integration_id, event_id, title, severity, why, by_choice, state, since, last_at, events, next_at, attempt, told_at, told_key)
				SELECT account_id, incident_id, incident_id, channel_id, 0, '', title, severity, 'no rule', '', 'fallback', 1, 1, 0, 0, 0, 1, '' FROM incident WHERE account_id = $1 AND incident_id = $2`, w.account, names["id"])
		}, tries: []try{
			{change, "/incident/create", `{"incident_severity":"Critical","title":"$mark","channel_id":` + channel + `}`, ""},
			many("ack", ""), many("unack", "").ending("BadRequest"), many("answer", `,"answer":"still"`), many("snooze", `,"minutes":30`), many("wake", "").ending("BadRequest"), many("resolve", ""), many("reopen", "").ending("BadRequest"),
			many("disable-merge", ""), many("comment", `,"comment":"x"`), many("remove", `,"dry_run":true`), many("remove", ""),
			{change, "/incident/merge", `{"source_incident_ids":["$other"],"target_incident_id":"$id"}`, ""},
			ofIncident(change, "assign", `,"assigned_to":{"person_ids":[$person]}`, ""), ofIncident(change, "responder/add", `,"person_ids":[$person]`, ""), ofIncident(change, "reset", `,"impact":"x"`, ""),
			ofIncident(change, "field/reset", `,"field_name":"region","field_value":"x"`, ""), ofIncident(look, "info", "", ""), ofIncident(look, "feed", "", ""), ofIncident(look, "explain", "", ""), ofIncident(look, "alert/list", "", ""),
			ofIncident(change, "silence", `,"minutes":5`, "BadRequest"), ofIncident(change, "silence/preview", "", "BadRequest"),
			ofIncident(look, "escalation/preview", "", ""), {look, "/incident/escalation/preview", `{"channel_id":` + channel + `}`, ""}, ofIncident(look, "war-room/default-observers", "", ""),
			ofIncident(look, "war-room/list", "", ""), ofIncident(look, "past/list", "", ""), ofIncident(change, "war-room/create", `,"integration_id":7`, "ResourceNotFound"), ofIncident(change, "war-room/delete", `,"integration_id":7,"dry_run":true`, ""),
			{list, "/incident/list", window, ""}, {list, "/insight/incident/list", window, ""}, {list, "/insight/incident/export", window, ""}, {list, "/incident/untold/list", `{}`, ""}, {look, "/incident/list-by-ids", `{"incident_ids":["$id"]}`, ""},
			{look, "/incident/war-room/detail", group + `}`, ""}, {change, "/incident/war-room/add-member", group + `,"member_ids":[$person]}`, "ResourceNotFound"},
		}}
}

func (c try) ending(code string) try {
	c.ends = code
	return c
}

// silence stores a silence that a responder has made.
func (w world) silence(rule string, in, until int64) {
	w.write(func(tx *db.Tx) error {
		return channel.Silences.Load(tx, nil, w.account, []channel.SilenceRule{{Rule: channel.Rule{RuleID: rule, ChannelID: in, RuleName: "r"}, IsByResponder: true,
			Filters: filter.Filter{{{Key: "severity", Oper: "IN", Vals: []string{"Info"}}}}, TimeFilter: &channel.OnceTimeFilter{StartTime: 1, EndTime: until}}})
	})
}

// alertKind returns the kind of the alerts of a channel, which events create and no operation.
func alertKind(channel string) kind {
	const one = `{"alert_id":"$id"}`
	now := time.Now().Unix()
	window := fmt.Sprintf(`{"start_time":%d,"end_time":%d}`, now-60, now+3600)
	return kind{prefixes: []string{"/alert/", "/alert-event/"}, silent: true, steps: []step{{"/incident/create", `{"incident_severity":"Critical","title":"i","channel_id":$public}`, "incident_id", "incident"}},
		seed: func(w world, names map[string]string) {
			names["id"], names["event"] = "aaaa00000000000000"+names["mark"][4:], "eeee00000000000000"+names["mark"][4:]
			in := names[channel[1:]]
			w.exec(`INSERT INTO alert (account_id, alert_id, channel_id, incident_id, integration_id, integration_name, integration_type, integration_ref_id, alert_key, title, title_rule, description,
				alert_severity, alert_status, start_time, last_time, end_time, event_cnt, ever_muted, responder_name, responder_email, labels, images, created_at, updated_at, deleted_at)
				VALUES ($1, $2, `+in+`, '', 0, '', '', '', 'k', $3, '', '', 'Critical', 'Critical', $4, $4, 0, 1, FALSE, '', '', '{}', '[]', $4, $4, 0)`, w.account, names["id"], names["mark"], now)
			names["rule"] = "cccc00000000000000" + names["mark"][4:]
			w.silence(names["rule"], number(in), now+3600)
			w.exec(`INSERT INTO verdict (account_id, verdict_id, decided_at, event_id, channel_id, outcome, alert_id, incident_id, integration_id, event_time, severity, body, trace)
				VALUES ($1, $2, $3, $4, `+in+`, 'opened', $5, '', 0, $6, 'Critical', $7, '[]')`, w.account, *w.marks, now*1000, names["event"], names["id"], now, `{"title":"`+names["mark"]+`"}`)
		}, tries: []try{
			{look, "/alert/info", one, ""}, {look, "/alert/feed", one, ""}, {look, "/alert/event/list", one, ""}, {look, "/alert/explain", one, ""}, {look, "/alert/explain", `{"event_id":"$event"}`, ""},
			{list, "/alert/list", window, ""}, {list, "/alert/filter/try", `{"filters":[]}`, ""}, {look, "/alert/filter/try", `{"filters":[],"alert_id":"$id"}`, ""}, {look, "/channel/rules/try", `{"channel_id":$public,"alert_id":"$id"}`, ""}, {look, "/alert/rule/hits", `{"channel_id":` + channel + `}`, ""}, {look, "/alert/list-by-ids", `{"alert_ids":["$id"]}`, ""}, {list, "/alert-event/list", window, ""}, {list, "/route/preview", `{"alert_ids":["$id"],"route":{"default":{"channel_ids":[$public]}}}`, ""},
			{change, "/alert/merge", `{"alert_ids":["$id"],"incident_id":"$incident"}`, ""}, {change, "/alert/close", `{"alert_ids":["$id"]}`, ""},
			{change, "/alert/silence/preview", one, ""}, {change, "/alert/silence/list", one, ""}, {change, "/alert/silence", `{"alert_id":"$id","minutes":5}`, ""}, {change, "/alert/silence/undo", `{"rule_id":"$rule"}`, ""},
		}}
}

// deliveryKind returns the kind of the attempts to deliver something of a public channel to a webhook.
func deliveryKind(body string) kind {
	now := time.Now()
	window := func(more string) string {
		return fmt.Sprintf(`{"limit":100,"start_time":%d,"end_time":%d%s}`, now.UnixMilli()-60_000, now.UnixMilli()+3_600_000, more)
	}
	return kind{prefixes: []string{"/webhook/"}, steps: []step{{"/integration/create", `{"integration_name":"$mark",` + body + `}`, "integration_id", "id"}},
		seed: func(w world, names map[string]string) {
			hook, in := number(names["id"]), number(names["public"])
			w.write(func(tx *db.Tx) error {
				return webhook.Record(tx, w.account, []webhook.Delivery{{IntegrationID: hook, EventID: names["mark"], WebhookType: "alert", EventType: "a_new", ChannelID: in, RefID: names["mark"],
					Endpoint: "https://example.com", Attempt: 1, Status: "success", StatusCode: 200, EventTime: webhook.Moment(now)}})
			})
			w.exec(`INSERT INTO webhook_message (account_id, message_id, integration_id, number, webhook_type, event_type, channel_id, ref_id, payload, attempt_id, attempts, status, started_at, due_at, settled_at, outcome)
				VALUES ($1, $2, $3, $4, 'alert', 'a_new', $5, $2, '{}', '', 1, 'delivered', 1, 1, 1, '')`, w.account, names["mark"], hook, *w.marks, in)
			names["replay"] = fmt.Sprintf("%024x", *w.marks)
			w.exec(`INSERT INTO webhook_replay (account_id, replay_id, integration_id, filter, found, sent, position_at, position_number, status, reason, person_id, created_at, ended_at)
				VALUES ($1, $2, $3, '{"ref_id":"`+names["mark"]+`","start_time":1,"end_time":2}', 0, 0, 0, 0, 'running', '', 1, 1, 0)`, w.account, names["replay"], hook)
			w.exec(`INSERT INTO webhook_exchange (account_id, event_id, message_id, request_headers, error_message, response_headers, response_body) VALUES ($1, $2, $2, '', '', '', '')`, w.account, names["mark"])
		}, tries: []try{
			{list, "/webhook/history/list", window(""), ""}, {list, "/webhook/history/list", window(`,"integration_id":$id`), ""}, {list, "/webhook/history/list", window(`,"ref_id":"$mark"`), ""},
			{list, "/webhook/history/list", window(`,"event_types":["a_new"],"status":"success","asc":true`), ""},
			{look, "/webhook/history/detail", `{"integration_id":$id,"event_id":"$mark"}`, ""}, {look, "/webhook/message/info", `{"event_id":"$mark"}`, ""}, {look, "/webhook/endpoint/info", `{"integration_id":$id}`, ""}, {look, "/webhook/endpoint/days", `{"integration_id":$id}`, ""}, {change, "/webhook/history/replay", `{"event_id":"$mark"}`, ""},
			{change, "/webhook/test", `{"integration_id":$id,"wait_seconds":0}`, ""},
			{change, "/webhook/replay", `{"integration_ids":[$id],"start_time":1000000000000,"end_time":1000000000001,"dry_run":true}`, "BadRequest"}, // one goes on
			{list, "/webhook/replay/list", `{}`, ""}, {list, "/webhook/replay/list", `{"integration_id":$id}`, ""},
			{change, "/webhook/replay/cancel", `{"replay_id":"$replay"}`, ""},
		}}
}

func number(id string) (n int64) {
	fmt.Sscan(id, &n)
	return n
}

// write changes the database as the product's background work does.
func (w world) write(fn func(*db.Tx) error) {
	w.t.Helper()
	if err := w.app.DB.Write(context.Background(), fn); err != nil {
		w.t.Fatal(err)
	}
}

func (w world) exec(query string, args ...any) {
	w.t.Helper()
	w.write(func(tx *db.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
}

// plain returns a usual kind: a prefix, a body, the member with the object's id, and the operations that follow from it.
func plain(prefix, body, id string, tries ...try) kind {
	return kind{prefixes: []string{prefix}, steps: []step{{prefix + "create", body, id, "id"}}, tries: append([]try{{create, prefix + "create", strings.ReplaceAll(body, "$mark", "new$mark"), ""}}, tries...)}
}

// upserted returns a kind whose objects are created and changed by the same operation.
func upserted(prefix, body, id string, tries ...try) kind {
	return kind{prefixes: []string{prefix}, steps: []step{{prefix + "upsert", "{" + body + "}", id, "id"}}, tries: append([]try{{change, prefix + "upsert", `{"` + id + `":$id,` + body + "}", ""}}, tries...)}
}

// overrideKind returns the kind of overrides, which belong to a schedule.
func overrideKind() kind {
	now := time.Now().Unix()
	body := fmt.Sprintf(`{"schedule_id":$schedule,"role_id":0,"by":$person,"start":%d,"end":%d,"reason":"$mark"}`, now, now+3600)
	return kind{prefixes: []string{"/schedule/override/"}, steps: []step{
		{"/schedule/create", `{"schedule_name":"$mark","team_id":$team}`, "schedule_id", "schedule"}, {"/schedule/override/create", body, "override_id", "id"},
	}, tries: []try{
		{create, "/schedule/override/create", strings.ReplaceAll(body, "$mark", "new$mark"), ""}, {change, "/schedule/override/update", `{"override_id":$id,"reason":"y"}`, ""},
		{change, "/schedule/override/delete", `{"override_ids":[$id]}`, ""}, {list, "/schedule/override/list", `{"schedule_ids":[$schedule]}`, ""},
	}}
}

// kinds are the rows that the table must have. A row of several kinds is tested with each.
var kinds = map[string][]kind{
	"schedule": {plain("/schedule/", `{"schedule_name":"$mark","team_id":$team}`, "schedule_id",
		try{change, "/schedule/update", `{"schedule_id":$id,"description":"y"}`, ""}, try{change, "/schedule/delete", `{"schedule_ids":[$id]}`, ""},
		try{look, "/schedule/info", `{"schedule_id":$id}`, ""}, try{look, "/schedule/explain", `{"schedule_id":$id}`, ""}, try{look, "/schedule/by-person", `{"person_ids":[$person],"start":1776009600,"end":1776096000}`, ""}, try{look, "/schedule/stats", `{"schedule_ids":[$id],"start":1776009600,"end":1776614400}`, ""}, try{look, "/schedule/lint", `{"schedule_ids":[$id]}`, ""}, try{list, "/schedule/infos", `{"schedule_ids":[$id]}`, ""}, try{list, "/schedule/uses", `{"schedule_ids":[$id]}`, ""}, try{list, "/schedule/list", `{"query":"$mark"}`, ""}), overrideKind()},
	"channel":                             {channelKind("")},
	"private channel":                     {channelKind(`,"is_private":true`)},
	"silence, inhibit or escalation rule": rules("$public"),
	"silence, inhibit or escalation rule of a private channel": rules("$private"),
	"drop rule":                      {rule("unsubscribe", "$public", conditions)},
	"drop rule of a private channel": {rule("unsubscribe", "$private", conditions)},
	"integration": {integrationKind(sourceOf+"$public", `"channel_id":0`, ""),
		integrationKind(`"integration_type":"webhook_alert","settings":{"endpoint":"https://example.com/$mark"}`, elsewhere, "InvalidParameter")},
	"integration of a private channel":                   {integrationKind(sourceOf+"$private", `"channel_id":0`, "")},
	"webhook that names a private channel":               {integrationKind(webhookOf, elsewhere, "InvalidParameter")},
	"delivery of a webhook":                              {deliveryKind(`"integration_type":"webhook_alert","settings":{"endpoint":"https://example.com"}`)},
	"delivery of a webhook that names a private channel": {deliveryKind(webhookOf)},
	"route":                              {routeKind(shared, byTitle)},
	"route that names a private channel": {routeKind(shared, toPrivate)},
	"route of an integration of a private channel":          {routeKind(dedicated, byTitle)},
	"alert pipeline of an integration of a private channel": {rulesOf("/alert/pipeline/", dedicated, pipelineRule)},
	"enrichment of an integration of a private channel":     {rulesOf("/enrichment/", dedicated, enrichmentRule)},
	"alert pipeline or enrichment":                          {rulesOf("/alert/pipeline/", shared, pipelineRule), rulesOf("/enrichment/", shared, enrichmentRule)},
	"incident":                                              {incidentKind("$public")},
	"incident of a private channel":                         {incidentKind("$private")},
	"alert":                                                 {alertKind("$public")},
	"alert of a private channel":                            {alertKind("$private")},
	"template": {plain("/template/", `{"template_name":"$mark","team_id":$team}`, "template_id",
		try{change, "/template/update", `{"template_id":"$id","template_name":"$mark"}`, ""}, try{change, "/template/delete", `{"template_id":"$id"}`, ""},
		try{look, "/template/info", `{"template_id":"$id"}`, ""}, try{list, "/template/list", `{"query":"$mark"}`, ""})},
	"calendar":                           {calendarKind()},
	"custom field":                       {fieldKind()},
	"datasource":                         {datasourceKind()},
	"folder of alert rules":              {folderKind()},
	"alert rule":                         {ruleKind()},
	"RUM application":                    {applicationKind("false")},
	"private RUM application":            {applicationKind("true")},
	"issue of a RUM application":         {issueKind("false")},
	"issue of a private RUM application": {issueKind("true")},
	"status page":                        {statusPageKind()},
	"change of a status page":            {statusChangeKind()},
	"team": {upserted("/team/", `"team_name":"$mark"`, "team_id", try{change, "/team/delete", `{"team_id":$id}`, ""},
		try{look, "/team/info", `{"team_id":$id}`, ""}, try{list, "/team/infos", `{"team_ids":[$id]}`, ""}, try{list, "/team/list", `{"query":"$mark"}`, ""})},
	"role": {upserted("/role/", `"role_name":"$mark"`, "role_id", try{change, "/role/disable", `{"role_id":$id}`, ""}, try{change, "/role/enable", `{"role_id":$id}`, ""},
		try{change, "/role/member/grant", `{"role_id":$id,"member_ids":[$person]}`, ""}, try{change, "/role/member/revoke", `{"role_id":$id,"member_ids":[$person]}`, ""},
		try{change, "/role/delete", `{"role_id":$id}`, ""}, try{look, "/role/info", `{"role_id":$id}`, ""}, try{list, "/role/list", `{}`, ""})},
}

func applicationKind(private string) kind {
	return plain("/rum/application/", `{"application_name":"$mark","type":"browser","team_id":$team,"is_private":`+private+`}`, "application_id",
		try{change, "/rum/application/update", `{"application_id":"$id","application_name":"y"}`, ""}, try{change, "/rum/application/update", `{"application_id":"$id","is_private":false,"team_id":0}`, ""},
		try{change, "/rum/application/token/rotate", `{"application_id":"$id"}`, ""},
		try{change, "/rum/application/delete", `{"application_id":"$id","dry_run":true}`, ""}, try{change, "/rum/application/delete", `{"application_id":"$id"}`, ""},
		try{look, "/rum/application/info", `{"application_id":"$id"}`, ""}, try{list, "/rum/application/infos", `{"application_ids":["$id"]}`, ""}, try{list, "/rum/application/list", `{"query":"$mark"}`, ""})
}

// issueKind returns the kind of issues of an application. Any valid key may change their status.
func issueKind(private string) kind {
	const one, window = `{"issue_id":"$id"}`, `{"start_time":0,"end_time":10`
	return kind{prefixes: []string{"/rum/issue/"}, steps: []step{{"/rum/application/create", `{"application_name":"$mark","type":"browser","team_id":$team,"is_private":` + private + `}`, "application_id", "application"}},
		seed: func(w world, names map[string]string) {
			names["id"] = "issue-" + names["mark"]
			w.write(func(tx *db.Tx) error {
				return rum.LoadIssues(tx, w.account, []rum.Issue{{IssueID: names["id"], ApplicationID: names["application"], CreatedAt: 5, UpdatedAt: 5, Error: rum.Error{Message: names["mark"]}}})
			})
		}, tries: []try{
			{change, "/rum/issue/update", `{"issue_id":"$id","status":"ignored"}`, ""}, {look, "/rum/issue/info", one, ""}, {look, "/rum/issue/sample/list", one, ""}, {look, "/rum/issue/days", one, ""},
			{list, "/rum/issue/list", window + `,"limit":100}`, ""}, {list, "/rum/issue/list", window + `,"application_ids":["$application"]}`, ""},
		}}
}

func statusPageKind() kind {
	const one = `{"page_id":$id}`
	return kind{prefixes: []string{"/status-page/"}, steps: []step{{"/status-page/create", `{"name":"$mark","url_name":"$mark","team_id":$team}`, "page_id", "id"}}, tries: []try{
		{create, "/status-page/create", `{"name":"$mark","url_name":"$mark","team_id":$team}`, "InvalidParameter"},
		{change, "/status-page/update", `{"page_id":$id,"description":"y"}`, ""}, {change, "/status-page/delete", one, ""},
		{look, "/status-page/info", one, ""}, {list, "/status-page/list", `{}`, ""},
	}}
}

func statusChangeKind() kind {
	const (
		body = `{"page_id":$page,"type":"incident","title":"$mark","status":"investigating","updates":[{"update_id":"u","component_changes":[{"component_id":"c","status":"degraded"}]}]}`
		one  = `{"page_id":$page,"change_id":$id`
	)
	return kind{prefixes: []string{"/status-page/change/"}, steps: []step{
		{"/status-page/create", `{"name":"p","url_name":"$mark","components":[{"component_id":"c","name":"C"}]}`, "page_id", "page"}, {"/status-page/change/create", body, "change_id", "id"},
	}, tries: []try{
		{create, "/status-page/change/create", body, ""}, {change, "/status-page/change/update", one + `,"description":"y"}`, ""}, {change, "/status-page/change/delete", one + `}`, ""},
		{change, "/status-page/change/timeline/create", one + `,"status":"identified","description":"y"}`, ""}, {change, "/status-page/change/timeline/update", one + `,"update_id":"u","description":"y"}`, ""},
		{change, "/status-page/change/timeline/delete", one + `,"update_id":"u"}`, "InvalidParameter"},
		{look, "/status-page/change/info", one + `}`, ""}, {list, "/status-page/change/list", `{"page_id":$page}`, ""}, {list, "/status-page/change/active/list", `{"page_id":$page}`, ""},
	}}
}

func calendarKind() kind {
	const event = `{"cal_id":"$id","summary":"$mark","start_at":"2026-05-01","end_at":"2026-05-02","is_off":true}`
	k := plain("/calendar/", `{"cal_name":"$mark","team_id":$team}`, "cal_id",
		try{change, "/calendar/update", `{"cal_id":"$id","description":"y"}`, ""}, try{change, "/calendar/delete", `{"cal_id":"$id"}`, ""},
		try{change, "/calendar/event/upsert", event, ""}, try{change, "/calendar/event/delete", `{"cal_id":"$id","event_id":"$event"}`, ""},
		try{look, "/calendar/info", `{"cal_id":"$id"}`, ""}, try{list, "/calendar/list", `{}`, ""}, try{list, "/calendar/event/list", `{"cal_id":"$id","year":2026,"month":5}`, ""})
	k.steps = append(k.steps, step{"/calendar/event/upsert", event, "event_id", "event"})
	return k
}

func fieldKind() kind {
	const body = `{"field_name":"$mark","display_name":"X","field_type":"text","value_type":"string"}`
	return kind{prefixes: []string{"/field/"}, steps: []step{{"/field/create", body, "field_id", "id"}}, tries: []try{
		{create, "/field/create", strings.ReplaceAll(body, "$mark", "new_$mark"), ""},
		{change, "/field/update", `{"field_id":"$id","display_name":"Y"}`, ""}, {change, "/field/delete", `{"field_id":"$id"}`, ""},
		{look, "/field/info", `{"field_id":"$id"}`, ""}, {list, "/field/list", `{}`, ""},
	}}
}

func folderKind() kind {
	const one = `{"folder_id":$id}`
	return kind{prefixes: []string{"/monit/folder/"}, steps: []step{{"/monit/folder/create", `{"folder_name":"$mark","team_id":$team}`, "folder_id", "id"}}, tries: []try{
		{create, "/monit/folder/create", `{"folder_name":"$mark","team_id":$team}`, "InvalidParameter"},
		{change, "/monit/folder/update", `{"folder_id":$id,"note":"y"}`, ""}, {change, "/monit/folder/delete", one, ""}, {list, "/monit/folder/list", `{}`, ""},
	}}
}

func ruleKind() kind {
	const rest = `"name":"$mark","ds_type":"prometheus","ds_list":["*"],"cron_pattern":"@every 60s","rule_configs":{"queries":[{"name":"A","expr":"up == 0"}],"check_anydata":{"enabled":true,"severity":"Info"}}`
	return kind{prefixes: []string{"/monit/rule/"}, steps: []step{{"/monit/rule/create", `{` + rest + `}`, "id", "id"}}, tries: []try{
		{create, "/monit/rule/create", `{` + rest + `}`, "InvalidParameter"},
		{change, "/monit/rule/update", `{"id":$id,` + rest + `}`, ""}, {change, "/monit/rule/delete", `{"id":$id}`, ""},
		{look, "/monit/rule/state", `{"id":$id}`, ""}, {look, "/monit/rule/history", `{"id":$id}`, ""}, {look, "/monit/rule/explain", `{"rule_id":$id,"ds_id":1}`, ""},
		{change, "/monit/rule/delete/batch", `{"ids":[$id]}`, ""}, {change, "/monit/rule/update/fields", `{"ids":[$id],"fields":["enabled"]}`, ""},
		{change, "/monit/rule/move", `{"ids":[$id],"dest_folder_id":1}`, ""}, {change, "/monit/rule/import", `[]`, ""}, {change, "/monit/rule/import/file", `{"ds_id":999999,"dry_run":true,"text":"groups: [{rules: [{alert: a, expr: up}]}]"}`, "InvalidParameter"},
		{look, "/monit/rule/info", `{"id":$id}`, ""}, {list, "/monit/rule/list/basic", `{}`, ""}, {look, "/monit/rule/export", `{"ids":[$id]}`, ""},
		{look, "/monit/rule/audits", `{"id":$id}`, ""}, {look, "/monit/rule/audit/detail", `{"id":1}`, ""}, {look, "/monit/rule/status", `{}`, ""},
		{look, "/monit/rule/counter/status", `{}`, ""}, {look, "/monit/rule/counter/channel", `{}`, ""}, {look, "/monit/rule/counter/total", `{}`, ""},
		{look, "/monit/rule/dstypes", `{}`, ""},
	}}
}

func datasourceKind() kind {
	const rest = `"type_ident":"prometheus","name":"$mark","edge_cluster_name":"e","address":"http://127.0.0.1:9","payload":{"prometheus":{}}}`
	return plain("/monit/datasource/", "{"+rest, "id", try{change, "/monit/datasource/update", `{"id":$id,` + rest, ""}, try{change, "/monit/datasource/delete", `{"id":$id}`, ""},
		try{change, "/monit/datasource/test", `{"id":$id}`, ""}, try{look, "/monit/datasource/info", `{"id":$id}`, ""}, try{look, "/monit/datasource/state", `{}`, ""}, try{list, "/monit/datasource/list", `{}`, ""})
}
