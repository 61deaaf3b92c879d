package channel_test

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
)

// escalation returns the body of an escalation rule of the open channel with these layers and further members.
func escalation(layers, more string) string {
	return fmt.Sprintf(`{"channel_id":%d,"rule_name":"r","template_id":"%s","layers":%s%s}`, open, templateID, layers, more)
}

// many returns a list of n equal elements.
func many(n int, element string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
}

const emailLayer = `{"target":{"emails":["a@example.com"]}}`

func TestEscalateRuleBounds(t *testing.T) {
	t.Parallel()
	s := start(t)
	layer := func(more string) string { return escalation(`[{`+more+`,"target":{"emails":["a@example.com"]}}]`, "") }
	target := func(more string) string { return escalation(`[`+emailLayer+`,{"target":{`+more+`}}]`, "") }
	hook := func(n int) string {
		return target(`"webhooks":` + many(n, `{"type":"slack","settings":{"channel":"#a"}}`))
	}
	const at = "layers[1].target."
	s.Scenarios(t, "/channel/escalate/rule/create", []apitest.Scenario{
		{Name: "priority at the bound", Body: escalation(many(1, emailLayer), `,"priority":200`)},
		{Name: "priority beyond", Body: escalation(many(1, emailLayer), `,"priority":201`), Code: "InvalidParameter", Says: []string{"priority", "200", "201"}},
		{Name: "aggr_window at the bound", Body: escalation(many(1, emailLayer), `,"aggr_window":3600`)},
		{Name: "aggr_window beyond", Body: escalation(many(1, emailLayer), `,"aggr_window":3601`), Code: "InvalidParameter", Says: []string{"aggr_window"}},
		{Name: "layers at the bound", Body: escalation(many(20, emailLayer), "")},
		{Name: "layers beyond", Body: escalation(many(21, emailLayer), ""), Code: "InvalidParameter", Says: []string{"layers"}},
		{Name: "max_times at the bound", Body: layer(`"max_times":6,"notify_step":120`)},
		{Name: "max_times beyond", Body: layer(`"max_times":7`), Code: "InvalidParameter", Says: []string{"layers[0].max_times"}},
		{Name: "notify_step beyond", Body: layer(`"notify_step":120.5`), Code: "InvalidParameter", Says: []string{"layers[0].notify_step"}},
		{Name: "notify_step zero", Body: layer(`"notify_step":0`), Code: "InvalidParameter", Says: []string{"layers[0].notify_step"}},
		{Name: "escalate_window at the bound", Body: layer(`"escalate_window":720`)},
		{Name: "escalate_window beyond", Body: layer(`"escalate_window":721`), Code: "InvalidParameter", Says: []string{"layers[0].escalate_window"}},
		{Name: "webhooks at the bound", Body: hook(20)},
		{Name: "webhooks beyond", Body: hook(21), Code: "InvalidParameter", Says: []string{at + "webhooks"}},
		{Name: "person 0", Body: target(`"person_ids":[0],"by":{"follow_preference":true}`), Code: "InvalidParameter", Says: []string{at + "person_ids[0]", "at least 1"}},
		{Name: "team 0", Body: target(fmt.Sprintf(`"team_ids":[%d,0],"by":{"follow_preference":true}`, apitest.TeamA)), Code: "InvalidParameter", Says: []string{at + "team_ids[1]"}},
		{Name: "unknown team", Body: target(`"team_ids":[5],"by":{"follow_preference":true}`), Code: "InvalidParameter", Says: []string{at + "team_ids[0]", "team 5 does not exist"}},
		{Name: "person of another account", Body: target(fmt.Sprintf(`"person_ids":[%d],"by":{"follow_preference":true}`, apitest.OwnerB)), Code: "InvalidParameter", Says: []string{at + "person_ids[0]"}},
		{Name: "negative role", Body: target(`"schedule_to_role_ids":{"5":[0,-1]},"by":{"follow_preference":true}`), Code: "InvalidParameter", Says: []string{at + "schedule_to_role_ids.5[1]", "-1"}},
		{Name: "preference not followed", Body: target(fmt.Sprintf(`"person_ids":[%d],"by":{"follow_preference":false,"critical":[]}`, apitest.OwnerA)), Code: "InvalidParameter", Says: []string{at + "by", "no method"}},
		{Name: "a method without recipients", Body: target(`"by":{"follow_preference":true}`), Code: "InvalidParameter", Says: []string{"layers[1].target", "notifies no one"}},
		{Name: "empty lists", Body: target(`"person_ids":[],"team_ids":[],"schedule_to_role_ids":{},"emails":[],"webhooks":[]`), Code: "InvalidParameter", Says: []string{"notifies no one"}},
		{Name: "a method without a name", Body: target(fmt.Sprintf(`"person_ids":[%d],"by":{"info":[""]}`, apitest.OwnerA)), Code: "InvalidParameter", Says: []string{at + "by.info[0]"}},
		{Name: "webhook without a type", Body: target(`"webhooks":[{"type":"","settings":{}}]`), Code: "InvalidParameter", Says: []string{at + "webhooks[0].type"}},
		{Name: "unknown calendar", Body: escalation(many(1, emailLayer), `,"time_filters":[{"start":"09:00","end":"18:00","cal_id":"69db2f72a0fe7db6448b1506"}]`), Code: "InvalidParameter", Says: []string{"time_filters[0].cal_id"}},
		{Name: "time", Body: escalation(many(1, emailLayer), `,"time_filters":[{"start":"9:00","end":"18:00","repeat":[]}]`), Code: "InvalidParameter", Says: []string{"time_filters[0].start"}},
		{Name: "regular expression", Body: escalation(many(1, emailLayer), `,"filters":[[{"key":"title","oper":"IN","vals":["/(/"]}]]`), Code: "InvalidParameter", Says: []string{"filters[0][0].vals[0]"}},
		{Name: "operator", Body: escalation(many(1, emailLayer), `,"filters":[[{"key":"title","oper":"LIKE","vals":["a"]}]]`), Code: "InvalidParameter", Says: []string{"filters[0][0].oper"}},
		{Name: "malformed template", Body: strings.Replace(escalation(many(1, emailLayer), ""), templateID, "x", 1), Code: "InvalidParameter", Says: []string{"template_id"}},
		{Name: "unknown channel", Body: strings.Replace(escalation(many(1, emailLayer), ""), "1001", "77", 1), Code: "ResourceNotFound"},
		{Name: "of another account", Key: apitest.KeyB, Body: escalation(many(1, emailLayer), ""), Code: "ResourceNotFound"},
		{Name: "without permission", Key: apitest.KeyReader, Body: escalation(many(1, emailLayer), ""), Code: "AccessDenied"},
	})
}

// A rule is read back as it was sent, with zeros and empty lists, and without the members that were not sent.
// An update with the same body changes nothing.
func TestEscalateRuleEcho(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, layer := range []string{
		emailLayer,
		`{"max_times":0,"escalate_window":0,"force_escalate":false,"target":{"person_ids":[2476123212131],"by":{"follow_preference":false,"critical":["voice"],"warning":[],"info":[]},"team_ids":[],"emails":[],"webhooks":[]}}`,
		`{"max_times":3,"notify_step":10.25,"escalate_window":30,"force_escalate":true,"target":{"person_ids":[2476123212131,2476123212131],"by":{"follow_preference":true}}}`,
		`{"target":{"emails":["b@example.com","a@example.com"],"webhooks":[{"type":"new","settings":{"a":null,"b":1.5,"c":[true,{"d":[]}],"e":"","token":""}}]}}`,
	} {
		s.Converse(t, []apitest.Turn{
			{Path: "/channel/escalate/rule/create", Body: escalation("["+layer+"]", `,"priority":7,"filters":[],"time_filters":[{"start":"22:00","end":"06:00","repeat":[6,0]}]`), Keep: map[string]string{"id": "rule_id"}},
			{Path: "/channel/escalate/rule/info", Body: `{"channel_id":1001,"rule_id":"$id"}`, Has: `{"layers":[` + layer + `],"priority":7,"aggr_window":0,"filters":[],"description":""}`},
			{Path: "/channel/escalate/rule/update", Body: strings.Replace(escalation("["+layer+"]", ""), "{", `{"rule_id":"$id",`, 1)},
			{Path: "/channel/escalate/rule/info", Body: `{"channel_id":1001,"rule_id":"$id"}`, Has: `{"layers":[` + layer + `],"priority":7,"time_filters":[{"start":"22:00","end":"06:00","repeat":[6,0]}]}`},
			{Path: "/channel/escalate/rule/list", Body: `{"channel_id":1001}`, Has: `{"items":[{"layers":[` + layer + `]}]}`},
			{Path: "/channel/escalate/rule/delete", Body: `{"channel_id":1001,"rule_id":"$id"}`},
		})
	}
}

// Only the team of a private channel may call the operations on its rules, and a rule is found in its own
// channel only.
func TestEscalateRulesArePrivate(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Grant(auth.ChannelsManage, auth.ChannelsRead)
	secret := strings.Replace(escalation(many(1, emailLayer), ""), "1001", "1002", 1)
	const path, one = "/channel/escalate/rule", `{"channel_id":1002,"rule_id":"$id"}`
	turns := []apitest.Turn{{Path: path + "/create", Body: secret, Keep: map[string]string{"id": "rule_id"}}}
	for verb, body := range map[string]string{"info": one, "enable": one, "disable": one, "delete": one, "list": `{"channel_id":1002}`, "create": secret, "update": strings.Replace(secret, "{", `{"rule_id":"$id",`, 1)} {
		elsewhere := strings.Replace(body, "1002", "1001", 1)
		gone := apitest.Turn{Path: path + "/" + verb, Key: apitest.KeyB, Body: body, Code: "ResourceNotFound"}
		if verb == "info" {
			gone.Code, gone.Data = "", "null"
		}
		turns = append(turns, apitest.Turn{Path: path + "/" + verb, Key: apitest.KeyNothing, Body: body, Code: "AccessDenied"}, gone)
		if verb != "list" && verb != "create" {
			gone.Key, gone.Body = "", elsewhere
			turns = append(turns, gone)
		}
	}
	s.Exec(`INSERT INTO person_role (account_id, person_id, role_id) VALUES ($1, $2, 1)`, apitest.AccountA, apitest.Stranger)
	s.Converse(t, append(turns, apitest.Turn{Path: path + "/info", Key: apitest.KeyReader, Body: one, Has: `{"rule_id":"$id","status":"enabled"}`}))
}
