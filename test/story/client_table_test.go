package story

import "fmt"

// resource is one kind of configuration as a client sees it that declares it in files. The client creates, reads, changes
// and deletes objects, and compares what it reads with what it wrote. In paths and bodies $name stands for the id of the
// resource of that name, $self for the object's own, $n for a number that is never used twice,
// and $soon and $later for moments of the next days.
type resource struct {
	name   string
	create string // the path; a resource with the same path for changes needs no update
	body   string // every member that such a client writes
	change string // members of an update that differ; the others are sent again
	id     string // the member of the reply to create with the id, such as items.0.member_id; empty: the object is named by what it belongs to
	read   string // the path
	in     string // items: the reply is a list, in which the object is found by its id
	update string // the path; empty: create's
	before string // the path of what must be done before an object is deleted
	delete string // the path; empty: it is deleted with what it belongs to
	key    string // the members that name the object: the whole request of read, before and delete
	listed string // the request of read, when that lists
	found  string // the member of a listed item with the id; empty: the last name of id
	ends   string // the request of delete; empty: key
	inside string // the member of create's body that is compared and sent again in updates, such as members.0; empty: the whole
}

// unmanaged are operations that create what no such client declares.
var unmanaged = map[string]string{
	"/incident/create":                    "incidents are worked on",
	"/status-page/change/timeline/create": "updates follow what happens",
	"/incident/war-room/create":           "war rooms are opened for one incident",
	"/person/link/create":                 "a link to set a password is used once",
	"/monit/rule/create":                  "the tests of alertrule declare, read, change and delete rules",
	"/monit/edge/key/create":              "a key of an edge is shown once; the tests of engine/monitor create and delete keys",
	"/monit/folder/create":                "folders are read by their list alone, which the tests of rulefolder do",
}

// unwritten are members that no body of the table has, by the reason.
var unwritten = map[string]string{
	"/role/upsert.role_id":                                         anID,
	"/team/upsert.team_id":                                         anID,
	"/calendar/event/upsert.event_id":                              anID,
	"/schedule/create.dry_run":                                     "plans, and stores nothing",
	"/schedule/create.layers.account_id":                           stamp,
	"/schedule/create.layers.schedule_id":                          stamp,
	"/schedule/create.layers.create_at":                            stamp,
	"/schedule/create.layers.create_by":                            stamp,
	"/schedule/create.layers.update_at":                            stamp,
	"/schedule/create.layers.update_by":                            stamp,
	"/schedule/create.schedule_id":                                 anID,
	"/monit/datasource/create.id":                                  anID,
	"/member/invite.from":                                          "names who sends the invitation",
	"/member/invite.members.phone":                                 "is read back masked",
	"/member/invite.members.country_code":                          "belongs to the phone",
	"/member/invite.members.role_ids":                              "is read back as account_role_ids",
	"/person/app-key/create.is_enabled":                            "is read back as status",
	"/team/upsert.emails":                                          "names persons, who are read back by their ids",
	"/team/upsert.phones":                                          "names persons, who are read back by their ids",
	"/team/upsert.countryCode":                                     "belongs to the phones",
	"/team/upsert.reset_if_name_exist":                             "is no member of a team",
	"/route/upsert.version":                                        "is the condition of a change",
	"/rum/application/create.the service":                          anotherName,
	"/schedule/create.name":                                        anotherName,
	"/schedule/override/create.person_id":                          "stands instead of role_id",
	"/schedule/override/create.dry_run":                            "is no member of an override",
	"/person/absence/create.dry_run":                               "is no member of an absence",
	"/schedule/override/create.if_revision":                        "is the condition of a change",
	"/integration/create.settings.previous_sign_secret":            "is what a rotation leaves",
	"/integration/create.settings.previous_sign_secret_expires_at": "is what a rotation leaves",
	"/integration/create.settings.sign_secret_rotated_at":          "is what a rotation leaves",
	"/schedule/create.group_id":                                    anotherName,
	"/schedule/create.disabled":                                    anotherName,
	"/schedule/create.start":                                       "is a window of the reply",
	"/schedule/create.end":                                         "is a window of the reply",
	"/schedule/create.layers.name":                                 anotherName,
	"/schedule/create.layers.groups.name":                          anotherName,
	"/schedule/create.layers.groups.start":                         "is of a shift",
	"/schedule/create.layers.groups.end":                           "is of a shift",
	"/schedule/create.layers.restrict_start":                       anotherName,
	"/schedule/create.layers.restrict_end":                         anotherName,
	"/schedule/create.layers.rotation_duration":                    anotherName,
}

const (
	anID        = "is the object's id, which only a change has"
	anotherName = "is an older name of a member that the table has"
	stamp       = "is in replies, and not used where it is sent back"
)

const (
	isCritical = `{"key": "severity", "oper": "IN", "vals": ["Critical"]}`
	aRuleOf    = `"channel_id": $channel, "rule_name": "rule $n", "priority": 3, "description": "why"`
	ofChannel  = `"channel_id": $channel, "rule_id": $self`
	ruleChange = `{"rule_name": "other $n", "priority": 4, "description": ""}`
	aStep      = `{"max_times": 2, "notify_step": 5, "escalate_window": 10, "force_escalate": false, "on_nobody": {"then": "skip"},
		"target": {"person_ids": [$person], "team_ids": [$team], "schedule_to_role_ids": {"$schedule": [0]}, "emails": ["noc@example.com"],
			"by": {"follow_preference": false, "critical": ["voice", "email"], "warning": ["email"], "info": ["email"]},
			"webhooks": [{"type": "slack", "settings": {"token": "https://chat.example.com/T1", "alias": "noc"}}]}}`
	everyText = `"email": "<p>{{.Title}}</p>", "sms": "{{.Title}}", "voice": "{{.Title}}", "dingtalk": "a", "wecom": "b", "feishu": "c", "feishu_app": "d",
		"dingtalk_app": "e", "wecom_app": "f", "slack_app": "g", "teams_app": "h", "telegram": "i", "slack": "j", "zoom": "k"`
	aCase = `{"if": [` + isCritical + `], "channel_ids": [$channel], "fallthrough": true}`
	named = `{"if": [{"key": "labels.team", "oper": "IN", "vals": ["*"]}], "routing_mode": "name_mapping", "name_mapping_label": "team"}`
)

const (
	overTLS  = `, "tls_ca": "c", "tls_cert": "c", "tls_key": "${env:KEY}", "tls_key_pwd": "${env:PWD}", "tls_max_version": "1.3", "tls_min_version": "1.2", "tls_server_name": "s", "tls_skip_verify": true`
	overSQL  = `"username": "u", "password": "${env:P}", "idle_conns": 1, "open_conns": 2, "lifetime_seconds": 60, "timeout_mills": 1000`
	overHTTP = `"basic_auth_enabled": true, "basic_auth_username": "u", "basic_auth_password": "${env:P}", "headers": ["X-A: ${env:A}"], "params": ["a=b"]` + overTLS
)

// dataSource is a data source of a type, with all members of its block.
func dataSource(kind, address, block string) resource {
	return resource{
		name: kind, create: "/monit/datasource/create", id: "id", read: "/monit/datasource/info", update: "/monit/datasource/update", delete: "/monit/datasource/delete", key: `"id": $self`,
		body:   fmt.Sprintf(`{"type_ident": %q, "name": "source $n", "note": "n", "address": %q, "edge_cluster_name": "default", "payload": {%q: {%s}}}`, kind, address, kind, block),
		change: `{"note": "", "name": "other $n"}`,
	}
}

// resources are all that a client can declare, what is referred to first. They are deleted in reverse order.
var resources = []resource{
	{
		name: "role", create: "/role/upsert", id: "role_id", read: "/role/info", delete: "/role/delete", key: `"role_id": $self`,
		body: `{"role_name": "role $n", "description": "d", "permission_ids": [1, 2]}`, change: `{"permission_ids": [1], "description": ""}`,
	},
	{
		name: "person", create: "/member/invite", id: "items.0.member_id", found: "member_id", read: "/member/list", in: "items", listed: `{"limit": 100}`, update: "/member/info/reset", delete: "/member/delete",
		key: `"member_id": $self`, inside: "members.0",
		body:   `{"members": [{"member_name": "person $n", "email": "p$n@example.com", "locale": "en-US", "ref_id": "r$n", "time_zone": "Europe/Berlin"}]}`,
		change: `{"member_name": "Someone $n", "time_zone": "UTC"}`,
	},
	{
		name: "app key", create: "/person/app-key/create", id: "key_id", read: "/person/app-key/list", in: "items", update: "/person/app-key/name/reset",
		delete: "/person/app-key/delete", key: `"key_id": $self`, listed: `{"limit": 100}`,
		body: `{"key_name": "key $n", "person_id": 7000000000011, "expires_at": 1900000000, "wait": 10, "permissions": ["Schedules Read (on-call)"]}`, change: `{"key_name": "other $n"}`,
	},
	{
		name: "team", create: "/team/upsert", id: "team_id", read: "/team/info", delete: "/team/delete", key: `"team_id": $self`,
		body: `{"team_name": "team $n", "description": "d", "person_ids": [$person], "ref_id": "ref$n"}`, change: `{"team_name": "other $n", "description": ""}`,
	},
	{
		name: "calendar", create: "/calendar/create", id: "cal_id", read: "/calendar/info", update: "/calendar/update", delete: "/calendar/delete", key: `"cal_id": $self`,
		body: `{"cal_name": "calendar $n", "description": "d", "team_id": $team, "timezone": "Europe/Berlin", "workdays": [1, 2, 3], "extra_cal_ids": []}`, change: `{"workdays": [1]}`,
	},
	{
		name: "calendar event", create: "/calendar/event/upsert", id: "event_id", read: "/calendar/event/list", in: "items", delete: "/calendar/event/delete",
		key: `"cal_id": $calendar, "event_id": $self`, listed: `{"cal_id": $calendar}`,
		body: `{"cal_id": $calendar, "summary": "Labour Day", "description": "d", "start_at": "2026-05-01", "end_at": "2026-05-02", "is_off": true}`, change: `{"is_off": false, "description": ""}`,
	},
	{
		name: "schedule", create: "/schedule/create", id: "schedule_id", read: "/schedule/info", update: "/schedule/update", delete: "/schedule/delete", key: `"schedule_id": $self`, ends: `"schedule_ids": [$self]`,
		body: `{"schedule_name": "schedule $n", "description": "d", "team_id": $team, "status": 0, "time_zone": "Europe/Berlin", "when_absent": "gap", "self_service": false,
			"layers": [{"layer_name": "days", "mode": 0, "hidden": 0, "weight": 1, "rotation_unit": "day", "rotation_value": 1, "handoff_time": 3600, "layer_start": 1776009600, "enable_time": 1776009600, "expire_time": 0,
				"restrict_mode": 1, "restrict_periods": [{"restrict_start": 0, "restrict_end": 3600}], "day_mask": {"repeat": [1, 2]}, "fair_rotation": true, "time_zone": "UTC", "mask_continuous_enabled": true,
				"skip_cal_ids": [$calendar], "only_cal_ids": [],
				"groups": [{"group_name": "A", "members": [{"role_id": 0, "person_ids": [$person]}]}]},
				{"layer_name": "cover", "mode": 1, "layer_start": 1776009600, "layer_end": 1776096000, "groups": [{"group_name": "B", "members": [{"role_id": 1, "person_ids": [$person]}]}]}],
			"notify": {"advance_in_time": 300, "fixed_time": {"cycle": "day", "start": "08:30"}, "by": {"follow_preference": false, "personal_channels": ["email"]},
				"webhooks": [{"type": "slack", "settings": {"token": "https://chat.example.com/T1"}},
					{"type": "zoom", "settings": {"token": "t", "verify_token": "v", "sign_secret": "s", "alias": "a"}}, {"type": "slack_app", "settings": {"data_source_id": 5, "chat_ids": ["C1"]}}]}}`,
		change: `{"schedule_name": "other $n", "description": "", "layers": []}`,
	}, {
		name: "override", create: "/schedule/override/create", id: "override_id", read: "/schedule/override/list", in: "items", update: "/schedule/override/update", delete: "/schedule/override/delete",
		key: `"override_id": $self`, listed: `{"schedule_ids": [$schedule]}`, ends: `"override_ids": [$self]`,
		body: `{"schedule_id": $schedule, "role_id": 1, "by": $person, "start": $soon, "end": $later, "reason": "r"}`, change: `{"reason": "other"}`,
	},
	{
		name: "absence", create: "/person/absence/create", id: "absence_id", read: "/person/absence/list", in: "items", update: "/person/absence/update", delete: "/person/absence/delete",
		key: `"absence_id": $self`, listed: `{}`,
		body: `{"person_id": $person, "start": $soon, "end": $later, "note": "n"}`, change: `{"note": "other"}`,
	},

	{
		name: "template", create: "/template/create", id: "template_id", read: "/template/info", update: "/template/update", delete: "/template/delete", key: `"template_id": $self`,
		body: `{"template_name": "template $n", "description": "d", "team_id": $team, ` + everyText + `}`, change: `{"template_name": "other $n", "sms": ""}`,
	},
	{
		name: "field", create: "/field/create", id: "field_id", read: "/field/info", update: "/field/update", delete: "/field/delete", key: `"field_id": $self`,
		body:   `{"field_name": "field_$n", "display_name": "Field $n", "description": "d", "field_type": "single_select", "value_type": "string", "options": ["EU", "US"], "default_value": "EU"}`,
		change: `{"display_name": "Other $n", "description": ""}`,
	},
	{
		name: "checkbox", create: "/field/create", id: "field_id", read: "/field/info", update: "/field/update", delete: "/field/delete", key: `"field_id": $self`,
		body: `{"field_name": "box_$n", "display_name": "Box $n", "field_type": "checkbox", "value_type": "bool", "default_value": true}`, change: `{"default_value": false}`,
	},
	{
		name: "channel", create: "/channel/create", id: "channel_id", read: "/channel/info", update: "/channel/update", before: "/channel/disable", delete: "/channel/delete", key: `"channel_id": $self`,
		body: `{"team_id": $team, "channel_name": "channel $n", "description": "d", "managing_team_ids": [$team], "is_private": true, "auto_resolve_timeout": 600, "auto_resolve_mode": "update",
			"group": {"method": "p", "equals": [["labels.a"], ["labels.b"]], "cases": [{"if": [` + isCritical + `], "equals": ["labels.c"]}], "all_equals_required": true, "time_window": 5,
				"window_type": "sliding", "storm_threshold": 10, "storm_thresholds": [10, 20], "i_keys": ["a"], "i_score_threshold": 0.5},
			"flapping": {"is_disabled": true, "max_changes": 4, "in_mins": 5, "mute_mins": 6}, "plugin_ids": [1], "disable_outlier_detection": true, "disable_auto_close": true,
			"is_external_report_enabled": true, "reminder": {"critical": 60, "warning": 60, "info": 60, "withdraw": {"critical": 10, "warning": 10, "info": 10}}, "joined_interval": 7}`,
		change: `{"channel_name": "other $n", "is_private": false, "description": "", "managing_team_ids": [], "group": {"method": "n"}}`,
	},
	{
		name: "escalation rule", create: "/channel/escalate/rule/create", id: "rule_id", read: "/channel/escalate/rule/info", update: "/channel/escalate/rule/update", delete: "/channel/escalate/rule/delete", key: ofChannel,
		body: `{` + aRuleOf + `, "template_id": "6321aad26c12104586a88916", "aggr_window": 30, "filters": [[` + isCritical + `]], "time_filters": [{"start": "08:00", "end": "18:00", "repeat": [1, 2], "cal_id": "", "is_off": false}],
			"layers": [` + aStep + `, {"target": {"emails": ["noc@example.com"]}, "on_nobody": {"then": "fallback", "person_id": $person}}], "repeat": {"times": 2, "until_acknowledged": false, "interval": 10}}`,
		change: `{"rule_name": "other $n", "template_id": $template, "filters": [], "time_filters": [], "description": ""}`,
	},
	{
		name: "silence rule", create: "/channel/silence/rule/create", id: "rule_id", read: "/channel/silence/rule/list", in: "items", update: "/channel/silence/rule/update", delete: "/channel/silence/rule/delete",
		key: ofChannel, listed: `{"channel_id": $channel}`,
		body: `{` + aRuleOf + `, "filters": [[` + isCritical + `]], "time_filters": [{"start": "01:00", "end": "02:00", "repeat": [0]}, {"start": "01:00", "end": "02:00", "cal_id": $calendar, "is_off": true}],
			"from_incident_id": "000000000000000000000000", "is_directly_discard": true, "is_auto_delete": false}`, change: ruleChange,
	},
	{
		name: "silence of a window", create: "/channel/silence/rule/create", id: "rule_id", read: "/channel/silence/rule/list", in: "items", update: "/channel/silence/rule/update", delete: "/channel/silence/rule/delete",
		key: ofChannel, listed: `{"channel_id": $channel}`,
		body: `{` + aRuleOf + `, "filters": [[` + isCritical + `]], "time_filter": {"start_time": 1900000000, "end_time": 1900003600}}`, change: ruleChange,
	},
	{
		name: "inhibit rule", create: "/channel/inhibit/rule/create", id: "rule_id", read: "/channel/inhibit/rule/list", in: "items", update: "/channel/inhibit/rule/update", delete: "/channel/inhibit/rule/delete",
		key: ofChannel, listed: `{"channel_id": $channel}`,
		body: `{` + aRuleOf + `, "equals": ["labels.a"], "source_filters": [` + isCritical + `], "target_filters": [[` + isCritical + `]], "is_directly_discard": true}`, change: ruleChange,
	},
	{
		name: "drop rule", create: "/channel/unsubscribe/rule/create", id: "rule_id", read: "/channel/unsubscribe/rule/list", in: "items", update: "/channel/unsubscribe/rule/update", delete: "/channel/unsubscribe/rule/delete",
		key: ofChannel, listed: `{"channel_id": $channel}`,
		body: `{` + aRuleOf + `, "filters": [[` + isCritical + `]]}`, change: ruleChange,
	},
	{
		name: "integration", create: "/integration/create", id: "integration_id", read: "/integration/info", update: "/integration/update", delete: "/integration/delete", key: `"integration_id": $self`,
		body: `{"integration_name": "source $n", "integration_type": "standard", "description": "d", "ref_id": "r$n", "team_id": $team, "channel_id": 0}`, change: `{"integration_name": "other $n", "description": ""}`,
	},
	{
		name: "Alertmanager", create: "/integration/create", id: "integration_id", read: "/integration/info", update: "/integration/update", delete: "/integration/delete", key: `"integration_id": $self`,
		body: `{"integration_name": "source $n", "integration_type": "prometheus", "settings": {"max_bytes_per_day": 2097152, "severity_map": {"tier one": "Critical"}}}`, change: `{"settings": {"severity_map": {"tier one": "Warning"}}}`,
	},
	{
		name: "change integration", create: "/integration/create", id: "integration_id", read: "/integration/info", update: "/integration/update", delete: "/integration/delete", key: `"integration_id": $self`,
		body: `{"integration_name": "changes $n", "integration_type": "change", "channel_id": $channel}`, change: `{"integration_name": "other $n", "channel_id": 0}`,
	},
	{
		name: "heartbeat", create: "/integration/create", id: "integration_id", read: "/integration/info", update: "/integration/update", delete: "/integration/delete", key: `"integration_id": $self`,
		body: `{"integration_name": "heart $n", "integration_type": "heartbeat", "description": "d", "channel_id": $channel, "settings": {"interval_seconds": 60}}`, change: `{"settings": {"interval_seconds": 90}}`,
	},
	{
		name: "webhook", create: "/integration/create", id: "integration_id", read: "/integration/info", update: "/integration/update", delete: "/integration/delete", key: `"integration_id": $self`,
		body: `{"integration_name": "webhook $n", "integration_type": "webhook_alert", "settings": {"endpoint": "https://example.com/hook", "headers": {"X-One": "1"}, "event_types": ["a_new"], "channel_ids": [$channel],
			"sign_secret": "s3cr3t-s3cr3t-s3cr3t", "insecure_skip_verify": true, "body": "{\"a\": {{json .}}}"}}`,
		change: `{"settings": {"endpoint": "https://example.com/other", "sign_secret": "s3cr3t-s3cr3t-s3cr3t"}}`,
	},
	{
		name: "app", create: "/integration/create", id: "integration_id", read: "/integration/info", update: "/integration/update", delete: "/integration/delete", key: `"integration_id": $self`,
		body: `{"integration_name": "app $n", "integration_type": "slack_app", "settings": {"app": {"token": "xoxb-1", "private": "true"}, "war_room_enabled": true}}`, change: `{"description": "d"}`,
	},
	{
		name: "route", create: "/route/upsert", read: "/route/info", key: `"integration_id": $integration`,
		body:   `{"integration_id": $integration, "cases": [` + aCase + `, ` + named + `], "sections": [{"name": "first", "position": 1}], "default": {"channel_ids": [$channel]}}`,
		change: `{"cases": [], "sections": []}`,
	},
	{
		name: "alert pipeline", create: "/alert/pipeline/upsert", read: "/alert/pipeline/info", key: `"integration_id": $integration`,
		body: `{"integration_id": $integration, "rules": [{"kind": "title_reset", "if": [` + isCritical + `], "settings": {"title": "{{.title}}"}}, {"kind": "description_reset", "settings": {"description": "d"}}, {"kind": "severity_reset", "if": [[` + isCritical + `]], "settings": {"severity": "Info"}},
			{"kind": "alert_inhibit", "if": [], "settings": {"equals": [], "source_filters": [` + isCritical + `]}}]}`,
		change: `{"rules": []}`,
	},
	{
		name: "enrichment", create: "/enrichment/upsert", read: "/enrichment/info", key: `"integration_id": $integration`,
		body: `{"integration_id": $integration, "rules": [{"kind": "extraction", "if": [` + isCritical + `], "settings": {"source_field": "title", "result_label": "service", "pattern": "^(?P<result>[a-z]+):", "override": true}},
			{"kind": "composition", "settings": {"result_label": "b", "template": "{{.title}}"}}, {"kind": "drop", "settings": {"drop_labels": ["a"]}}]}`,
		change: `{"rules": []}`,
	},
	dataSource("prometheus", "http://prometheus.example.com", overHTTP),
	dataSource("loki", "http://loki.example.com", overHTTP),
	dataSource("victorialogs", "http://logs.example.com", overHTTP),
	dataSource("mysql", "db.example.com:3306", overSQL+overTLS+`, "tls_mode": "require"`),
	dataSource("clickhouse", "db.example.com:9000", overSQL+overTLS+`, "tls_enabled": true, "database": "d", "dial_timeout_mills": 1000, "max_execution_seconds": 60`),
	dataSource("postgres", "db.example.com:5432", overSQL+`, "database": "shop", "ssl_mode": "require", "tls_ca": "c", "tls_cert": "c", "tls_key": "${env:KEY}"`),
	dataSource("oracle", "db.example.com:1521", overSQL+`, "options": {"a": "b"}`),
	dataSource("elasticsearch", "http://search.example.com", `"deployment": "self-managed", "username": "u", "password": "${env:P}", "api_key": "", "certificate_fingerprint": "", "cloud_id": "",
		"service_token": "", "timeout_mills": 1000, "tls_ca": "c", "headers": ["X-A: ${env:A}"]`),
	dataSource("sls", "logs.example.com", `"access_key_id": "a", "access_key_secret": "${env:S}", "headers": ["X-A: ${env:A}"]`),
	{
		name: "application", create: "/rum/application/create", id: "application_id", read: "/rum/application/info", update: "/rum/application/update", delete: "/rum/application/delete", key: `"application_id": $self`,
		body: `{"application_name": "shop $n", "type": "browser", "team_id": $team, "is_private": true, "no_ip": true, "no_geo": true, "allowed_origins": ["https://shop.example.com"], "alerting": {"enabled": true, "channel_ids": [$channel], "integration_id": 0},
			"tracing": {"enabled": true, "open_type": "tab", "endpoint": "https://traces.example.com/${trace_id}"}}`,
		change: `{"is_private": false, "no_ip": false}`,
	},
	{
		name: "page", create: "/status-page/create", id: "page_id", read: "/status-page/info", update: "/status-page/update", delete: "/status-page/delete", key: `"page_id": $self`,
		body: `{"name": "page $n", "url_name": "page-$n", "description": "d", "team_id": $team, "sections": [{"section_id": "web", "name": "Web"}],
			"components": [{"component_id": "api", "section_id": "web", "name": "API", "description": "d", "available_since_seconds": 1776009600, "order_id": 1, "hide_uptime": true, "hide_all": true}]}`,
		change: `{"name": "other $n", "description": "", "components": [{"component_id": "api", "name": "Interface"}]}`,
	},
	{
		name: "page change", create: "/status-page/change/create", id: "change_id", read: "/status-page/change/info", update: "/status-page/change/update", delete: "/status-page/change/delete",
		key: `"page_id": $page, "change_id": $self`,
		body: `{"page_id": $page, "type": "maintenance", "title": "Upgrade $n", "description": "d", "status": "scheduled", "start_at_seconds": 1900000000, "close_at_seconds": 1900003600,
			"responders": [$person], "linked_changes": ["deploy-$n"], "notify_subscribers": true, "auto_update_by_schedule": true, "is_retrospective": false,
			"updates": [{"update_id": "first", "at_seconds": 1700000000, "status": "scheduled", "description": "d",
				"component_changes": [{"component_id": "api", "component_name": "API", "status": "under_maintenance"}]}]}`,
		change: `{"title": "Other $n", "description": "", "close_at_seconds": 1900007200, "responders": [], "linked_changes": []}`,
	},
}
