package demo

import (
	"fmt"
	"strings"
)

// Call is an example call of an operation, with a result in the demo account.
type Call struct {
	Title string
	Path  string
	Body  string // JSON
}

// Curl returns the call as one line for a shell. base is the server's URL without a slash at its end.
func (c Call) Curl(base, key string) string {
	return fmt.Sprintf(`curl -s '%s%s?app_key=%s' -H 'Content-Type: application/json' -d '%s'`,
		base, c.Path, key, strings.ReplaceAll(c.Body, `'`, `'\''`))
}

// Calls returns an example of each of the specification's operations, in its order (the specification, 4), and one of an
// explanation.
func Calls() []Call {
	return []Call{
		{"Who is on call in the next seven days", "/schedule/info", fmt.Sprintf(`{"schedule_id": %d}`, platformOnCall)},
		{
			"Make a schedule: two people who take turns, from Mondays at 09:00",
			"/schedule/create",
			fmt.Sprintf(
				`{"schedule_name": "Release on-call", "team_id": %d, "layers": [{"layer_name": "Week", "layer_start": 1767600000, `+
					`"rotation_unit": "week", "rotation_value": 1, "handoff_time": 32400, `+
					`"groups": [{"group_name": "Anna", "members": [{"role_id": 0, "person_ids": [%d]}]}, `+
					`{"group_name": "Jonas", "members": [{"role_id": 0, "person_ids": [%d]}]}]}]}`,
				platform, anna, jonas),
		},
		{"One alert in full", "/alert/info", fmt.Sprintf(`{"alert_id": "%s"}`, object(kindAlert, 4))},
		{"Silence rules of a channel, and which are in force now", "/channel/silence/rule/list", fmt.Sprintf(`{"channel_id": %d}`, payments)},
		{"Drop rules of a channel", "/channel/unsubscribe/rule/list", fmt.Sprintf(`{"channel_id": %d}`, payments)},
		{
			"Who is invited to watch a war room: those who were responsible before",
			"/incident/war-room/default-observers",
			fmt.Sprintf(`{"incident_id": "%s"}`, object(kindIncident, 2)),
		},
		{
			"Make a datasource",
			"/monit/datasource/create",
			`{"type_ident": "prometheus", "name": "Prometheus Leipzig", "edge_cluster_name": "leipzig", ` +
				`"address": "https://prometheus.leipzig.` + domain + `:9090", ` +
				`"payload": {"prometheus": {"basic_auth_enabled": true, "basic_auth_username": "tocsin", ` +
				`"basic_auth_password": "${env:PROMETHEUS_PASSWORD}", "tls_skip_verify": false}}}`,
		},
		{"One datasource; its password is for those who may manage it", "/monit/datasource/info", `{"id": 5}`},
		{"RUM applications", "/rum/application/infos", fmt.Sprintf(`{"application_ids": ["%s", "%s"]}`, shopWeb, shopIOS)},
		{"One RUM issue", "/rum/issue/info", fmt.Sprintf(`{"issue_id": "%s"}`, theIssue)},
		{"Several persons", "/person/infos", fmt.Sprintf(`{"person_ids": [%d, %d, %d, %d]}`, anna, eleni, sato, layla)},
		{
			"The latest webhook deliveries that failed",
			"/webhook/history/list",
			`{"limit": 5, "start_time": 1000000000000, "end_time": 9999999999999, "status": "failed"}`,
		},
		{"Who is on call now, why, and until when", "/schedule/explain", fmt.Sprintf(`{"schedule_id": %d}`, platformOnCall)},
	}
}
