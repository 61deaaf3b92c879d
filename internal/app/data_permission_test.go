package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// subjects are what the table of docs/api.md, "Data permission", has rows for: how one is made by its creator
// and how it is changed. $team, $private and $public are ids of a team and of two channels of it.
var subjects = map[string]struct{ create, body, id, change, with string }{
	"schedule":                         {"/schedule/create", `{"schedule_name":"x","team_id":$team}`, "schedule_id", "/schedule/update", `{"schedule_id":$id,"description":"y"}`},
	"channel":                          {"/channel/create", `{"channel_name":"x","team_id":$team}`, "channel_id", "/channel/update", `{"channel_id":$id,"description":"y"}`},
	"private channel":                  {"/channel/create", `{"channel_name":"x","team_id":$team,"is_private":true}`, "channel_id", "/channel/update", `{"channel_id":$id,"description":"y"}`},
	"rule of a private channel":        {"/channel/inhibit/rule/create", `{"channel_id":$private,"rule_name":"x","equals":["a"]}`, "rule_id", "/channel/inhibit/rule/update", `{"channel_id":$private,"rule_id":"$id","rule_name":"y","equals":["a"]}`},
	"integration":                      {"/integration/create", `{"integration_name":"x","integration_type":"standard","channel_id":$public}`, "integration_id", "/integration/update", `{"integration_id":$id,"description":"y"}`},
	"integration of a private channel": {"/integration/create", `{"integration_name":"x","integration_type":"standard","channel_id":$private}`, "integration_id", "/integration/update", `{"integration_id":$id,"description":"y"}`},
	"template":                         {"/template/create", `{"template_name":"x","team_id":$team}`, "template_id", "/template/update", `{"template_id":"$id","template_name":"x"}`},
	"calendar":                         {"/calendar/create", `{"cal_name":"x","team_id":$team}`, "cal_id", "/calendar/update", `{"cal_id":"$id","description":"y"}`},
}

// TestDataPermissionIsAsDocumented reads the table in docs/api.md and tries each of its cells.
func TestDataPermissionIsAsDocumented(t *testing.T) {
	document, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(document), "### Data permission")
	rows := 0
	_, url, owner, _ := start(t)
	data := func(key, path, body string) (map[string]any, string) {
		t.Helper()
		response, err := http.Post(url+path+"?app_key="+key, "application/json", bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		raw, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		var reply struct {
			Data  map[string]any
			Error struct{ Code string }
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&reply); err != nil {
			t.Fatal(err)
		}
		return reply.Data, reply.Error.Code
	}
	must := func(key, path, body, member string) string {
		t.Helper()
		reply, code := data(key, path, body)
		if code != "" {
			t.Fatalf("%s %s: %s", path, body, code)
		}
		return fmt.Sprint(reply[member])
	}
	roleOf := func(kind int) string { // 1: the Manage permissions, 0: the Read ones
		var ids []string
		for id := 1; id <= 12; id++ {
			if (id+kind)%2 == 1 {
				ids = append(ids, fmt.Sprint(id))
			}
		}
		return must(owner, "/role/upsert", `{"role_name":"r","permission_ids":[`+strings.Join(ids, ",")+`]}`, "role_id")
	}
	manage, read := roleOf(1), roleOf(0)
	person := func(name, role string) (id, key string) {
		reply, code := data(owner, "/member/invite", fmt.Sprintf(`{"members":[{"member_name":"%s","email":"%s@example.com","role_ids":[%s]}]}`, name, name, role))
		if code != "" {
			t.Fatal(code)
		}
		id = fmt.Sprint(reply["items"].([]any)[0].(map[string]any)["member_id"])
		return id, must(owner, "/person/app-key/create", `{"key_name":"k","person_id":`+id+`}`, "key")
	}
	_, creator := person("creator", manage)
	memberID, member := person("member", manage)
	_, other := person("other", manage)
	_, reader := person("reader", read)
	keys := []string{owner, creator, member, other, reader}
	team := must(owner, "/team/upsert", `{"team_name":"T","person_ids":[`+memberID+`]}`, "team_id")
	private := must(creator, "/channel/create", `{"channel_name":"p","team_id":`+team+`,"is_private":true}`, "channel_id")
	public := must(creator, "/channel/create", `{"channel_name":"q","team_id":`+team+`}`, "channel_id")
	fill := strings.NewReplacer("$team", team, "$private", private, "$public", public)
	time.Sleep(time.Second) // found keys are trusted for half of it

	for _, line := range strings.Split(text, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 6 {
			if rows > 0 {
				break
			}
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		s, known := subjects[cells[0]]
		if !known {
			if cells[1] == "yes" || cells[1] == "no" {
				t.Errorf("the table has a row %q that is not tried", cells[0])
			}
			continue
		}
		rows++
		id := must(creator, s.create, fill.Replace(s.body), s.id)
		for i, key := range keys {
			_, code := data(key, s.change, strings.ReplaceAll(fill.Replace(s.with), "$id", id))
			want := map[string]string{"yes": "", "no": "AccessDenied"}[cells[i+1]]
			if code != want || !slices.Contains([]string{"yes", "no"}, cells[i+1]) {
				t.Errorf("%s, column %d: the table says %q, the answer is %q", cells[0], i+1, cells[i+1], code)
			}
		}
	}
	if rows != len(subjects) {
		t.Errorf("the table has %d rows, %d were expected", rows, len(subjects))
	}
}
