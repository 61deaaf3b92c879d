package team_test

import (
	"encoding/json"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/calendar"
	"tocsin/internal/channel"
	"tocsin/internal/integration"
	"tocsin/internal/platform/fault"
	"tocsin/internal/rum"
	"tocsin/internal/schedule"
	"tocsin/internal/statuspage"
	"tocsin/internal/team"
	"tocsin/internal/template"
)

// TestReferencedTeamCannotBeDeleted creates one of each object that refers to a team, through the API. Each package must
// store the reference.
func TestReferencedTeamCannotBeDeleted(t *testing.T) {
	keyring := apitest.Box(t)
	s := apitest.Start(t, (&team.Service{}).Ops(), (&schedule.Service{Keyring: keyring}).Ops(), channel.Ops(keyring), template.Ops(), calendar.Ops(), (&integration.Service{Keyring: keyring}).Ops(), rum.New(nil, keyring, nil).Ops(), statuspage.Ops())
	var open struct {
		ID int64 `json:"channel_id"`
	}
	s.Exec(`INSERT INTO team (account_id, team_id, team_name) VALUES ($1, 5, 'Other')`, apitest.AccountA)
	s.Call(apitest.KeyA, "/channel/create", `{"channel_name": "x", "team_id": 5}`).Into(&open)
	for _, c := range []struct{ kind, path, body string }{
		{"schedule", "/schedule/create", `{"schedule_name": "x", "team_id": 4291079133131}`},
		{"channel", "/channel/create", `{"channel_name": "y", "team_id": 4291079133131}`},
		{"channel", "/channel/create", `{"channel_name": "z", "team_id": 5, "managing_team_ids": [4291079133131]}`},
		{"template", "/template/create", `{"template_name": "x", "team_id": 4291079133131}`},
		{"calendar", "/calendar/create", `{"cal_name": "x", "team_id": 4291079133131}`},
		{"integration", "/integration/create", `{"integration_name": "x", "integration_type": "standard", "team_id": 4291079133131}`},
		{"rum_application", "/rum/application/create", `{"application_name": "x", "type": "browser", "is_private": false, "team_id": 4291079133131}`},
		{"status_page", "/status-page/create", `{"name": "x", "url_name": "x", "team_id": 4291079133131}`},
		{"escalate_rule", "/channel/escalate/rule/create", `{"rule_name": "x", "template_id": "000000000000000000000001", "layers": [{"target": {"team_ids": [4291079133131], "by": {"follow_preference": true}}}], "channel_id": `},
	} {
		body := c.body
		if body[len(body)-1] != '}' {
			id, err := json.Marshal(open.ID)
			if err != nil {
				t.Fatal(err)
			}
			body += string(id) + "}"
		}
		s.Exec(`DELETE FROM reference WHERE account_id = $1`, apitest.AccountA)
		s.Call(apitest.KeyA, c.path, body).Into(&struct{}{})
		r := s.Call(apitest.KeyA, "/team/delete", sre)
		var data struct{ Refs []fault.Ref }
		if err := json.Unmarshal(r.Data, &data); err != nil || r.Code != "ReferenceExist" || len(data.Refs) != 1 || data.Refs[0].Kind != c.kind {
			t.Errorf("%s %s: %s", c.path, body, r.Body)
		}
	}
}
