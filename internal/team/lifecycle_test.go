package team_test

import (
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/team"
)

func TestTeamLifecycle(t *testing.T) {
	s := apitest.Start(t, (&team.Service{}).Ops())
	s.Exec(`DELETE FROM team WHERE account_id = $1`, apitest.AccountA)
	whole := `{"account_id":2451002751131,"team_id":$id,"team_name":"Équipe","description":"x","status":"enabled","updated_by_name":"Olga Owner","updated_by":2476123212131,
		"creator_id":2476123212131,"creator_name":"Olga Owner","created_at":1776052800,"updated_at":1776052800,"person_ids":[2659460982131,2476123212131],"ref_id":"hr-7"}`
	s.Converse(t, []apitest.Turn{
		{Path: "/team/upsert", Body: `{"team_name":""}`, Code: "InvalidParameter", Says: []string{"team_name"}},
		{Path: "/team/upsert", Body: `{"team_name":"` + strings.Repeat("é", 40) + `"}`, Code: "InvalidParameter", Says: []string{"39"}},
		{Path: "/team/upsert", Body: `{"team_name":"SRE","person_ids":[2476123212131,5]}`, Keep: map[string]string{"id": "team_id"}},
		{Path: "/team/upsert", Body: `{"team_name":"SRE"}`, Code: "InvalidParameter", Says: []string{"team_name", "SRE"}},
		{Path: "/team/upsert", Body: `{"team_name":"SRE","reset_if_name_exist":true,"person_ids":[]}`, Data: `{"team_id":$id,"team_name":"SRE"}`},
		{Path: "/team/info", Body: `{"team_name":"SRE"}`, Has: `{"team_id":$id,"person_ids":[]}`},
		{Path: "/team/upsert", Body: `{"team_id":$id,"team_name":"Équipe","description":"x","ref_id":"hr-7","person_ids":[2659460982131,2476123212131]}`, Data: `{"team_id":$id,"team_name":"Équipe"}`, Golden: "team_upsert"},
		{Path: "/team/info", Body: `{"team_id":$id}`, Data: whole, Golden: "team_info"},
		{Path: "/team/upsert", Body: `{"team_id":$id,"team_name":"Équipe"}`, Data: `{"team_id":$id,"team_name":"Équipe"}`},
		{Path: "/team/info", Body: `{"ref_id":"hr-7"}`, Data: whole},
		{Path: "/team/info", Body: `{}`, Code: "InvalidParameter", Says: []string{"exactly one"}},
		{Path: "/team/list", Body: `{"query":"ÉQUIPE"}`, Data: `{"p":1,"limit":20,"total":1,"has_next_page":false,"search_after_ctx":"","items":[` + whole + `]}`, Golden: "team_list"},
		{Path: "/team/list", Body: `{"person_id":2659460982131}`, Has: `{"total":1}`},
		{Path: "/team/list", Body: `{"person_id":3122470302131,"orderby":"team_name","asc":true}`, Has: `{"total":0}`},
		{Path: "/team/infos", Body: `{"team_ids":[$id,4,$id]}`, Data: `{"items":[{"team_id":$id,"team_name":"Équipe","person_ids":[2659460982131,2476123212131]}]}`, Golden: "team_infos"},
		{Path: "/team/info", Key: apitest.KeyB, Body: `{"team_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/team/upsert", Key: apitest.KeyB, Body: `{"team_id":$id,"team_name":"Mine"}`, Code: "ResourceNotFound"},
		{Path: "/team/delete", Key: apitest.KeyNothing, Body: `{"team_id":$id}`, Code: "AccessDenied"},
		{Path: "/team/delete", Body: `{"team_name":"Équipe","dry_run":true}`, Has: `{"allowed":true,"removes":[{"kind":"team","id":"$id"}]}`},
		{Path: "/team/delete", Body: `{"ref_id":"hr-7"}`, Data: `{}`, Golden: "team_delete"},
		{Path: "/team/info", Body: `{"team_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/team/delete", Body: `{"team_id":$id}`, Code: "ResourceNotFound"},
	})
}

func TestTeamInUse(t *testing.T) {
	s := apitest.Start(t, (&team.Service{}).Ops())
	s.Grant(auth.TeamsRead)
	s.Write(func(tx *db.Tx) error {
		return configstore.SetReferences(tx, apitest.AccountA, configstore.RefFrom(configstore.Schedule, 7, "Nights"), configstore.RefTo(configstore.Team, apitest.TeamA))
	})
	s.Converse(t, []apitest.Turn{
		{Path: "/team/delete", Body: `{"team_id":4291079133131}`, Code: "ReferenceExist", Has: `{"refs":[{"kind":"schedule","id":"7","name":"Nights"}]}`},
		{Path: "/team/upsert", Key: apitest.KeyReader, Body: `{"team_name":"x"}`, Code: "AccessDenied"},
	})
}
