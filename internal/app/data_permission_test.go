package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"tocsin/internal/auth"
)

// subject is a kind of object in the table of docs/api.md, "Data permission": how its creator makes one, the
// member of the reply that names it, and how it is changed. $id is that name; $team, $private and $public are a
// team and two channels of it.
type subject struct{ create, body, id, change, with string }

const conditions = `"filters":[[{"key":"title","oper":"IN","vals":["x"]}]]`

// rule is a kind of rule of a channel.
func rule(kind, channel, body string) subject {
	path, body := "/channel/"+kind+"/rule/", `{"channel_id":`+channel+`,"rule_name":"x",`+body
	return subject{path + "create", body + "}", "rule_id", path + "update", body + `,"rule_id":"$id"}`}
}

// subjects are the rows that the table must have. A row of several kinds is tried with each.
var subjects = map[string][]subject{
	"schedule":        {{"/schedule/create", `{"schedule_name":"x","team_id":$team}`, "schedule_id", "/schedule/update", `{"schedule_id":$id,"description":"y"}`}},
	"channel":         {{"/channel/create", `{"channel_name":"x","team_id":$team}`, "channel_id", "/channel/update", `{"channel_id":$id,"description":"y"}`}},
	"private channel": {{"/channel/create", `{"channel_name":"x","team_id":$team,"is_private":true}`, "channel_id", "/channel/update", `{"channel_id":$id,"description":"y"}`}},
	"silence, inhibit or escalation rule": {
		rule("silence", "$public", `"time_filters":[{"start":"01:00","end":"02:00"}],`+conditions),
		rule("inhibit", "$public", `"equals":["a"]`),
		rule("escalate", "$public", `"template_id":"000000000000000000000001","layers":[{"target":{"team_ids":[$team],"by":{"follow_preference":true}}}]`),
	},
	"silence, inhibit or escalation rule of a private channel": {
		rule("silence", "$private", `"time_filters":[{"start":"01:00","end":"02:00"}],`+conditions),
		rule("inhibit", "$private", `"equals":["a"]`),
		rule("escalate", "$private", `"template_id":"000000000000000000000001","layers":[{"target":{"team_ids":[$team],"by":{"follow_preference":true}}}]`),
	},
	"drop rule":                                             {rule("unsubscribe", "$public", conditions)},
	"drop rule of a private channel":                        {rule("unsubscribe", "$private", conditions)},
	"integration":                                           {{"/integration/create", `{"integration_name":"x","integration_type":"standard","channel_id":$public}`, "integration_id", "/integration/update", `{"integration_id":$id,"description":"y"}`}},
	"integration of a private channel":                      {{"/integration/create", `{"integration_name":"x","integration_type":"standard","channel_id":$private}`, "integration_id", "/integration/update", `{"integration_id":$id,"description":"y"}`}},
	"webhook of a private channel":                          {{"/integration/create", `{"integration_name":"x","integration_type":"webhook_alert","settings":{"endpoint":"https://example.com","channel_ids":[$private]}}`, "integration_id", "/integration/update", `{"integration_id":$id,"description":"y"}`}},
	"route of an integration of a private channel":          {{"/integration/create", `{"integration_name":"x","integration_type":"standard","channel_id":$private}`, "integration_id", "/route/upsert", `{"integration_id":$id,"default":{"channel_ids":[$public]}}`}},
	"alert pipeline of an integration of a private channel": {{"/integration/create", `{"integration_name":"x","integration_type":"standard","channel_id":$private}`, "integration_id", "/alert/pipeline/upsert", `{"integration_id":$id,"rules":[]}`}},
	"enrichment of an integration of a private channel":     {{"/integration/create", `{"integration_name":"x","integration_type":"standard","channel_id":$private}`, "integration_id", "/enrichment/upsert", `{"integration_id":$id,"rules":[]}`}},
	"template":        {{"/template/create", `{"template_name":"x","team_id":$team}`, "template_id", "/template/update", `{"template_id":"$id","template_name":"x"}`}},
	"calendar":        {{"/calendar/create", `{"cal_name":"x","team_id":$team}`, "cal_id", "/calendar/update", `{"cal_id":"$id","description":"y"}`}},
	"custom field":    {{"/field/create", `{"field_name":"x","display_name":"X","field_type":"text","value_type":"string"}`, "field_id", "/field/update", `{"field_id":"$id","display_name":"Y"}`}},
	"datasource":      {{"/monit/datasource/create", `{"type_ident":"prometheus","name":"x","edge_cluster_name":"e","address":"http://prometheus.example.com","payload":{"prometheus":{}}}`, "id", "/monit/datasource/update", `{"id":$id,"type_ident":"prometheus","name":"x","edge_cluster_name":"e","address":"http://prometheus.example.com","payload":{"prometheus":{}}}`}},
	"RUM application": {{"/rum/application/create", `{"application_name":"x","type":"browser","team_id":$team,"is_private":false}`, "application_id", "/rum/application/update", `{"application_id":"$id","application_name":"y"}`}},
	"team":            {{"/team/upsert", `{"team_name":"x"}`, "team_id", "/team/upsert", `{"team_id":$id,"team_name":"x","description":"y"}`}},
	"role":            {{"/role/upsert", `{"role_name":"x"}`, "role_id", "/role/upsert", `{"role_id":$id,"role_name":"x","description":"y"}`}},
}

// speaker calls the assembled program.
type speaker struct {
	t   *testing.T
	url string
}

// ask gives the reply's data and the code of its error.
func (s speaker) ask(key, path, body string) (data map[string]any, code string) {
	s.t.Helper()
	response, err := http.Post(s.url+path+"?app_key="+key, "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	var reply struct {
		Data  map[string]any
		Error struct{ Code string }
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&reply); err != nil {
		s.t.Fatalf("%s: %v in %s", path, err, raw)
	}
	return reply.Data, reply.Error.Code
}

// must is a member of the data of a call that succeeds.
func (s speaker) must(key, path, body, member string) string {
	s.t.Helper()
	data, code := s.ask(key, path, body)
	if code != "" {
		s.t.Fatalf("%s %s: %s", path, body, code)
	}
	return fmt.Sprint(data[member])
}

// person invites somebody with all permissions of a type, and gives their id and key.
func (s speaker) person(owner, name, permissions string) (id, key string) {
	s.t.Helper()
	var ids []string
	for p := range auth.Permission(len(auth.Names(auth.All))) {
		if p.Type() == permissions {
			ids = append(ids, fmt.Sprint(p.ID()))
		}
	}
	role := s.must(owner, "/role/upsert", `{"role_name":"`+name+`","permission_ids":[`+strings.Join(ids, ",")+`]}`, "role_id")
	data, code := s.ask(owner, "/member/invite", `{"members":[{"member_name":"`+name+`","email":"`+name+`@example.com","role_ids":[`+role+`]}]}`)
	if code != "" {
		s.t.Fatal(code)
	}
	id = fmt.Sprint(data["items"].([]any)[0].(map[string]any)["member_id"])
	return id, s.must(owner, "/person/app-key/create", `{"key_name":"k","person_id":`+id+`}`, "key")
}

// rows reads the table whose last five columns say yes or no.
func rows(t *testing.T) map[string][]string {
	t.Helper()
	document, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(document), "\n### Data permission\n")
	section, _, _ = strings.Cut(section, "\n### ")
	table := map[string][]string{}
	for _, line := range strings.Split(section, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) == 6 && (cells[1] == "yes" || cells[1] == "no") {
			table[cells[0]] = cells[1:]
		}
	}
	return table
}

// TestDataPermissionIsAsDocumented tries each cell of the table in docs/api.md.
func TestDataPermissionIsAsDocumented(t *testing.T) {
	_, url, owner, _ := start(t)
	s := speaker{t, url}
	_, creator := s.person(owner, "creator", "manage")
	memberID, member := s.person(owner, "member", "manage")
	_, other := s.person(owner, "other", "manage")
	_, reader := s.person(owner, "reader", "read")
	team := s.must(owner, "/team/upsert", `{"team_name":"T","person_ids":[`+memberID+`]}`, "team_id")
	private := s.must(creator, "/channel/create", `{"channel_name":"p","team_id":`+team+`,"is_private":true}`, "channel_id")
	public := s.must(creator, "/channel/create", `{"channel_name":"q","team_id":`+team+`}`, "channel_id")
	fill := strings.NewReplacer("$team", team, "$private", private, "$public", public)

	table := rows(t)
	for name := range table {
		if subjects[name] == nil {
			t.Errorf("the table has a row %q that is not tried", name)
		}
	}
	for name, kinds := range subjects {
		cells := table[name]
		if cells == nil {
			t.Errorf("the table has no row %q", name)
			continue
		}
		for _, k := range kinds {
			id := s.must(creator, k.create, fill.Replace(k.body), k.id)
			for i, key := range []string{owner, creator, member, other, reader} {
				_, code := s.ask(key, k.change, strings.ReplaceAll(fill.Replace(k.with), "$id", id))
				if want, known := map[string]string{"yes": "", "no": "AccessDenied"}[cells[i]]; code != want || !known {
					t.Errorf("%s, column %d: the table says %q, %s answers %q", name, i+1, cells[i], k.change, code)
				}
			}
		}
	}
}
