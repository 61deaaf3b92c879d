#!/usr/bin/env bash
# Builds an account from nothing, by API calls alone, the way somebody would who has read the reference once.
#
#   build-account.sh http://127.0.0.1:8080 OWNER_KEY
#
# It stops at the first call that does not work and prints what came back.
set -euo pipefail

base=$1 key=$2

# call PATH BODY prints data of the reply.
call() {
	local reply
	reply=$(curl -sS -X POST "$base$1" -H "Authorization: Bearer $key" -H 'Content-Type: application/json' -d "$2")
	if ! jq -e 'has("data") and (has("error") | not)' >/dev/null <<<"$reply"; then
		echo "$1 $2 -> $reply" >&2
		exit 1
	fi
	jq -c .data <<<"$reply"
}

# Who is there?
me=$(call /member/info '{}' | jq .member_id)
call /member/info/reset "{\"member_id\": $me, \"member_name\": \"Ada Berg\", \"time_zone\": \"Europe/Berlin\", \"locale\": \"en-US\"}" >/dev/null
role=$(call /role/upsert '{"role_name": "On-call engineer", "description": "Reads everything, handles incidents", "permission_ids": [1, 2, 3, 7]}' | jq .role_id)
people=$(call /member/invite "{\"members\": [
	{\"member_name\": \"Jonas Weiß\", \"email\": \"jonas@example.com\", \"role_ids\": [$role], \"time_zone\": \"Europe/Berlin\"},
	{\"member_name\": \"李梅\", \"email\": \"mei@example.com\", \"role_ids\": [$role], \"time_zone\": \"Asia/Shanghai\"}]}")
jonas=$(jq '.items[0].member_id' <<<"$people") mei=$(jq '.items[1].member_id' <<<"$people")
team=$(call /team/upsert "{\"team_name\": \"SRE\", \"description\": \"Keeps it running\", \"person_ids\": [$me, $jonas, $mei]}" | jq .team_id)
call /person/app-key/create "{\"key_name\": \"laptop\", \"person_id\": $jonas}" | jq -e '.key | length > 30' >/dev/null

# When do we work, and who is on call?
calendar=$(call /calendar/create "{\"cal_name\": \"Berlin office\", \"timezone\": \"Europe/Berlin\", \"team_id\": $team, \"workdays\": [1, 2, 3, 4, 5]}" | jq -r .cal_id)
call /calendar/event/upsert "{\"cal_id\": \"$calendar\", \"summary\": \"Tag der Arbeit\", \"start_at\": \"2026-05-01\", \"end_at\": \"2026-05-02\", \"is_off\": true}" >/dev/null
schedule=$(call /schedule/create "{\"schedule_name\": \"Primary\", \"team_id\": $team, \"time_zone\": \"Europe/Berlin\", \"layers\": [
	{\"layer_name\": \"Weekly\", \"mode\": 0, \"rotation_unit\": \"week\", \"rotation_value\": 1, \"handoff_time\": 32400, \"layer_start\": 1776031200,
	 \"groups\": [{\"group_name\": \"A\", \"members\": [{\"role_id\": 0, \"person_ids\": [$jonas]}]}, {\"group_name\": \"B\", \"members\": [{\"role_id\": 0, \"person_ids\": [$mei]}]}]}]}" | jq .schedule_id)
# What would it mean to add a third?
call /schedule/update "{\"schedule_id\": $schedule, \"dry_run\": true, \"layers\": [
	{\"layer_name\": \"Weekly\", \"mode\": 0, \"rotation_unit\": \"week\", \"rotation_value\": 1, \"handoff_time\": 32400, \"layer_start\": 1776031200,
	 \"groups\": [{\"group_name\": \"A\", \"members\": [{\"role_id\": 0, \"person_ids\": [$jonas]}]}, {\"group_name\": \"B\", \"members\": [{\"role_id\": 0, \"person_ids\": [$me]}]}]}]}" \
	| jq -e '.plan.persons | length == 2' >/dev/null

# Where do alerts come together, and what becomes of them?
template=$(call /template/create "{\"template_name\": \"Short\", \"team_id\": $team, \"sms\": \"{{.Severity}}: {{.Title}}\", \"slack\": \"{{emoji .Severity}} *{{.Title}}*\"}" | jq -r .template_id)
field=$(call /field/create '{"field_name": "impact", "display_name": "Impact", "field_type": "single_select", "value_type": "string", "options": ["customers", "staff"], "default_value": "customers"}' | jq -r .field_id)
payments=$(call /channel/create "{\"team_id\": $team, \"channel_name\": \"Payments\", \"description\": \"Everything about money\",
	\"group\": {\"method\": \"p\", \"equals\": [[\"labels.service\"]], \"time_window\": 60, \"storm_thresholds\": [10, 50]}}" | jq .channel_id)
security=$(call /channel/create "{\"team_id\": $team, \"channel_name\": \"Security\", \"is_private\": true}" | jq .channel_id)
call /channel/escalate/rule/create "{\"channel_id\": $payments, \"rule_name\": \"On call, then everybody\", \"template_id\": \"$template\", \"layers\": [
	{\"max_times\": 2, \"notify_step\": 5, \"escalate_window\": 15, \"target\": {\"schedule_to_role_ids\": {\"$schedule\": [0]}, \"by\": {\"follow_preference\": true}}},
	{\"target\": {\"team_ids\": [$team], \"by\": {\"critical\": [\"voice\", \"sms\"], \"warning\": [\"email\"], \"info\": [\"email\"]}, \"webhooks\": [{\"type\": \"slack\", \"settings\": {\"url\": \"https://hooks.example.com/T0/secret\", \"alias\": \"#ops\"}}]}}]}" >/dev/null
silence=$(call /channel/silence/rule/create "{\"channel_id\": $payments, \"rule_name\": \"Out of hours\", \"time_filters\": [{\"start\": \"00:00\", \"end\": \"23:59\", \"cal_id\": \"$calendar\", \"is_off\": true}],
	\"filters\": [[{\"key\": \"severity\", \"oper\": \"IN\", \"vals\": [\"Info\"]}]]}" | jq -r .rule_id)
call /channel/unsubscribe/rule/create "{\"channel_id\": $payments, \"rule_name\": \"Tests\", \"filters\": [[{\"key\": \"labels.env\", \"oper\": \"IN\", \"vals\": [\"/^test/\"]}]]}" >/dev/null
call /channel/inhibit/rule/create "{\"channel_id\": $payments, \"rule_name\": \"Cluster is down\", \"equals\": [\"labels.cluster\"], \"source_filters\": [[{\"key\": \"labels.check\", \"oper\": \"IN\", \"vals\": [\"cluster_down\"]}]],
	\"target_filters\": [[{\"key\": \"severity\", \"oper\": \"IN\", \"vals\": [\"Warning\", \"Info\"]}]]}" >/dev/null

# Where do they come from, and who else wants to know?
prometheus=$(call /integration/create "{\"integration_name\": \"Prometheus\", \"integration_type\": \"prometheus\", \"team_id\": $team}" | jq .integration_id)
call /route/upsert "{\"integration_id\": $prometheus, \"cases\": [{\"if\": [{\"key\": \"labels.team\", \"oper\": \"IN\", \"vals\": [\"security\"]}], \"channel_ids\": [$security], \"fallthrough\": false}],
	\"default\": {\"channel_ids\": [$payments]}}" >/dev/null
call /enrichment/upsert "{\"integration_id\": $prometheus, \"rules\": [{\"kind\": \"extraction\", \"settings\": {\"source_field\": \"labels.instance\", \"result_label\": \"host\", \"pattern\": \"^(?P<result>[^:]+)\"}}]}" >/dev/null
call /alert/pipeline/upsert "{\"integration_id\": $prometheus, \"rules\": [{\"kind\": \"severity_reset\", \"if\": [[{\"key\": \"labels.env\", \"oper\": \"IN\", \"vals\": [\"staging\"]}]], \"settings\": {\"severity\": \"Info\"}}]}" >/dev/null
call /integration/create "{\"integration_name\": \"Chat bridge\", \"integration_type\": \"webhook_incident\", \"settings\": {\"endpoint\": \"https://bridge.example.com/hook\", \"event_types\": [\"i_new\", \"i_rslv\"], \"sign_secret\": \"between us\"}}" >/dev/null
call /monit/datasource/create '{"type_ident": "prometheus", "name": "Prometheus", "address": "https://prometheus.example.com", "edge_cluster_name": "default", "payload": {"prometheus": {"basic_auth_username": "tocsin", "basic_auth_password": "secret"}}}' >/dev/null
call /rum/application/create "{\"application_name\": \"Shop\", \"type\": \"browser\", \"team_id\": $team}" >/dev/null

# Nothing that is needed goes away by accident.
refused=$(curl -sS -X POST "$base/team/delete" -H "Authorization: Bearer $key" -H 'Content-Type: application/json' -d "{\"team_id\": $team}")
jq -e '.error.code == "ReferenceExist" and (.data.refs | length >= 5)' >/dev/null <<<"$refused"
call /calendar/delete "{\"cal_id\": \"$calendar\", \"dry_run\": true}" | jq -e --arg rule "$silence" '.allowed == false and .refs[0].id == $rule' >/dev/null
call /field/delete "{\"field_id\": \"$field\", \"dry_run\": true}" | jq -e '.allowed' >/dev/null

call /account/info '{}' | jq .account_id
