package blackbox

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestScriptKeyAppliesPlansAndDestroys makes, reads and deletes 100 teams, 100 channels and 100 rules with ten calls at a time
// against a server as it comes, as Terraform does. With a key for scripts no call is refused, with an ordinary key some are.
func TestScriptKeyAppliesPlansAndDestroys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, "serve", "--listen", "127.0.0.1:0")
	account := strings.Fields(s.lines[0])[2]
	script := must(t, dir, "key", "create", "--account", account, "--name", "terraform", "--wait", "30s")
	if list := must(t, dir, "key", "list", "--account", account); !strings.Contains(list, "30s") || !strings.Contains(list, "as the server") {
		t.Errorf("key list: %s", list)
	}
	const objects = 100
	teams := s.each(script, objects, func(i int) (string, string) {
		return "/team/upsert", fmt.Sprintf(`{"team_name":"Team %d"}`, i)
	})
	channels := s.each(script, objects, func(i int) (string, string) {
		return "/channel/create", fmt.Sprintf(`{"team_id":%s,"channel_name":"Channel %d"}`, teams[i]["team_id"], i)
	})
	rules := s.each(script, objects, func(i int) (string, string) {
		return "/channel/escalate/rule/create", fmt.Sprintf(`{"channel_id":%s,"rule_name":"Rule","template_id":"000000000000000000000001","layers":[{"target":`+
			`{"emails":["ops@example.com"]}}]}`, channels[i]["channel_id"])
	})
	team := func(i int) string { return fmt.Sprintf(`{"team_id":%s}`, teams[i]["team_id"]) }
	channel := func(i int) string { return fmt.Sprintf(`{"channel_id":%s}`, channels[i]["channel_id"]) }
	rule := func(i int) string {
		return fmt.Sprintf(`{"channel_id":%s,"rule_id":%s}`, channels[i]["channel_id"], rules[i]["rule_id"])
	}
	s.each(script, 3*objects, func(i int) (string, string) { // the plan
		switch i % 3 {
		case 0:
			return "/team/info", team(i / 3)
		case 1:
			return "/channel/info", channel(i / 3)
		}
		return "/channel/escalate/rule/info", rule(i / 3)
	})
	if refused := s.refused(s.lines[1], 2*objects, func(i int) (string, string) { return "/team/info", team(i / 2) }); refused == 0 {
		t.Error("no call of an ordinary key was refused")
	}
	s.each(script, objects, func(i int) (string, string) { return "/channel/escalate/rule/delete", rule(i) })
	s.each(script, objects, func(i int) (string, string) { return "/channel/disable", channel(i) })
	s.each(script, objects, func(i int) (string, string) { return "/channel/delete", channel(i) })
	s.each(script, objects, func(i int) (string, string) { return "/team/delete", team(i) })
}

// each makes n calls, ten at a time, which must all succeed, and returns their data.
func (s *server) each(key string, n int, call func(i int) (path, body string)) []map[string]json.RawMessage {
	s.t.Helper()
	data := make([]map[string]json.RawMessage, n)
	for i, a := range s.tenAtTime(key, n, call) {
		if a.status != 200 {
			path, body := call(i)
			s.t.Fatalf("%s %s: %+v", path, body, a)
		}
		_ = json.Unmarshal(a.data, &data[i]) // some replies are empty
	}
	return data
}

// refused makes n calls, ten at a time, and returns how many were refused because of a limit. The others must succeed.
func (s *server) refused(key string, n int, call func(i int) (path, body string)) (refused int) {
	s.t.Helper()
	for _, a := range s.tenAtTime(key, n, call) {
		switch a.status {
		case 429:
			refused++
		case 200:
		default:
			s.t.Errorf("%+v", a)
		}
	}
	return refused
}

func (s *server) tenAtTime(key string, n int, call func(i int) (path, body string)) []answer {
	answers := make([]answer, n)
	places := make(chan bool, 10)
	var all sync.WaitGroup
	for i := range n {
		places <- true
		all.Go(func() {
			path, body := call(i)
			answers[i] = s.call(key, path, body)
			<-places
		})
	}
	all.Wait()
	return answers
}
