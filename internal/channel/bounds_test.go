package channel_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// step is a call with the error, or the other result, that it must have.
type step struct {
	Path, Body, Code string
	Message          []string
	Then             func(*testing.T, *apitest.Server, apitest.Reply)
}

// calls makes the calls of the steps in order.
func calls(t *testing.T, s *apitest.Server, steps []step) {
	t.Helper()
	for i, c := range steps {
		r := s.Call(apitest.KeyA, c.Path, c.Body)
		if r.Code != c.Code {
			t.Fatalf("call %d, %s: code %q, want %q: %.500s", i, c.Path, r.Code, c.Code, r.Body)
		}
		for _, part := range c.Message {
			if !strings.Contains(r.Message, part) {
				t.Errorf("call %d, %s: message %q does not contain %q", i, c.Path, r.Message, part)
			}
		}
		if c.Then != nil {
			c.Then(t, s, r)
		}
	}
}

// drop returns the body of a drop rule of the open channel.
func drop(f filter.Filter) string {
	text, _ := json.Marshal(f)
	return fmt.Sprintf(`{"channel_id":%d,"rule_name":"r","filters":%s}`, open, text)
}

// contradicting returns n conditions on one field, of which no value meets two.
func contradicting(n int) (group filter.Group) {
	for i := range n {
		group = append(group, filter.Condition{Key: "labels.host", Oper: filter.In, Vals: []string{fmt.Sprint(i)}})
	}
	return group
}

func huge(n int) (f filter.Filter) {
	f = filter.Filter{{{Key: "title", Oper: filter.In}}}
	for range n {
		f[0][0].Vals = append(f[0][0].Vals, "/(x|y){900}z/")
	}
	return f
}

func TestDropRulesAreBounded(t *testing.T) {
	s := start(t)
	refused := func(f filter.Filter, parts ...string) step {
		return step{Path: "/channel/unsubscribe/rule/create", Body: drop(f), Code: "InvalidParameter", Message: parts}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	calls(t, s, []step{
		refused(filter.Filter{contradicting(10_000)}, "filters[0]", "100", "10000"),
		refused(huge(200), "filters", "at most 100 regular expressions", "200"),
		refused(huge(2000), "filters[0][0].vals", "1000", "2000"),
		refused(huge(1), "filters[0][0].vals[0]", "1000 instructions", "2701"),
		{Path: "/channel/unsubscribe/rule/create", Body: drop(filter.Filter{contradicting(100)}), Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			if n := strings.Count(string(r.Data), "never matches"); n != 1 {
				t.Errorf("%d warnings in %s", n, r.Data)
			}
		}},
	})
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; made > 256<<20 {
		t.Errorf("allocated %d bytes, want at most 256 MiB", made)
	}
}

// An account file has the same bounds as the API.
func TestDropRulesOfFileAreBounded(t *testing.T) {
	t.Parallel()
	s := start(t)
	record := func(i int, f filter.Filter) channel.DropRule {
		return channel.DropRule{Rule: rule(open, fmt.Sprintf("69b3c426b4a6f5abf1%06x", i), 0, 1), Filters: f}
	}
	load := func(rules ...channel.DropRule) error {
		return within(s.DB, func(tx *db.Tx) error { return channel.Drops.Load(tx, nil, apitest.AccountA, rules) })
	}
	list := func(n int, f filter.Filter) (rules []channel.DropRule) {
		for i := range n {
			rules = append(rules, record(i, f))
		}
		return rules
	}
	costly := filter.Filter{{{Key: "title", Oper: filter.In, Vals: []string{"/(x|y){300}/"}}}}
	for name, c := range map[string]struct {
		rules []channel.DropRule
		want  string
	}{
		"conditions":   {list(1, filter.Filter{contradicting(10_000)}), "drop_rules[0].filters[0]: must have at most 100 conditions, got 10000"},
		"expressions":  {list(1, huge(200)), "drop_rules[0].filters: must have at most 100 regular expressions, got 200"},
		"instructions": {list(1, huge(1)), "drop_rules[0].filters[0][0].vals[0]: must have at most 1000 instructions"},
		"rules":        {list(501, info), "drop_rules: must have at most 500 rules of one channel, got 501 of channel 1001"},
		"together":     {list(3, costly), "drop_rules: must have at most 2000 instructions in the compiled regular expressions of all rules together, got 2706 of channel 1001"},
	} {
		if err := load(c.rules...); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), " is not valid", ""), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if err := load(list(2, costly)...); err != nil {
		t.Error(err)
	}
}

// One rule beyond the bound is refused. The rules of a full channel can still be changed, listed and deleted.
func TestRulesOfChannelAreBounded(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Write(func(tx *db.Tx) error {
		var rules []channel.DropRule
		for range 500 {
			rules = append(rules, channel.DropRule{Rule: rule(open, id.Object(apitest.Now), 0, 1), Filters: info})
		}
		rules[0].RuleID = "69b3c426b4a6f5abf1f54870"
		return channel.Drops.Load(tx, nil, apitest.AccountA, rules)
	})
	named := `{"channel_id":1001,"rule_id":"69b3c426b4a6f5abf1f54870"`
	calls(t, s, []step{
		{Path: "/channel/unsubscribe/rule/create", Body: drop(info), Code: "InvalidParameter", Message: []string{"channel_id", "500", "501"}},
		{Path: "/channel/unsubscribe/rule/create", Body: strings.Replace(drop(info), "1001", "1002", 1)},
		{Path: "/channel/unsubscribe/rule/update", Body: named + `,"rule_name":"x"}`},
		{Path: "/channel/unsubscribe/rule/list", Body: `{"channel_id":1001}`, Then: listed(500, "")},
		{Path: "/channel/unsubscribe/rule/list", Body: `{"channel_id":1001,"p":5,"limit":100}`, Then: listed(100, `"total":500,"has_next_page":false`)},
		{Path: "/channel/unsubscribe/rule/list", Body: `{"channel_id":1001,"p":2}`, Then: listed(20, `"total":500,"has_next_page":true`)},
		{Path: "/channel/unsubscribe/rule/list", Body: `{"channel_id":1001,"p":600,"limit":10}`, Then: listed(0, `"total":500,"has_next_page":false`)},
		{Path: "/channel/unsubscribe/rule/list", Body: `{"channel_id":1001,"p":1000,"limit":100}`, Code: "InvalidParameter", Message: []string{"p"}},
		{Path: "/channel/unsubscribe/rule/delete", Body: named + `}`},
		{Path: "/channel/unsubscribe/rule/create", Body: drop(info)},
	})
}

// listed checks that a reply has n items and contains rest.
func listed(n int, rest string) func(*testing.T, *apitest.Server, apitest.Reply) {
	return func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
		t.Helper()
		var data map[string]json.RawMessage
		var items []json.RawMessage
		if err := json.Unmarshal(r.Data, &data); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data["items"], &items); err != nil || len(items) != n {
			t.Errorf("%d items, %v, want %d", len(items), err, n)
		}
		if rest == "" && len(data) != 1 || !strings.Contains(string(r.Data), rest) {
			t.Errorf("%d members, want %s in ...%s", len(data), rest, r.Data[max(0, len(r.Data)-60):])
		}
	}
}

// Rules that an older version stored beyond the bounds can be listed, made smaller and deleted, but not grow.
func TestStoredRulesBeyondBounds(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Write(func(tx *db.Tx) error {
		for i, f := range []filter.Filter{{contradicting(300)}, huge(150)} {
			r := channel.DropRule{Rule: rule(open, fmt.Sprintf("69b3c426b4a6f5abf1f5487%d", i), 0, 1), Filters: f}
			r.Status = "enabled"
			if err := channel.Drops.Put(tx, apitest.AccountA, &r); err != nil {
				return err
			}
		}
		return nil
	})
	named := func(i int, more string) string {
		return fmt.Sprintf(`{"channel_id":1001,"rule_id":"69b3c426b4a6f5abf1f5487%d"%s}`, i, more)
	}
	calls(t, s, []step{
		{Path: "/channel/unsubscribe/rule/list", Body: `{"channel_id":1001}`, Then: listed(2, "")},
		{Path: "/channel/unsubscribe/rule/create", Body: drop(filter.Filter{{{Key: "title", Oper: filter.In, Vals: []string{"/a/"}}}}), Code: "InvalidParameter", Message: []string{"2000 instructions"}},
		{Path: "/channel/unsubscribe/rule/disable", Body: named(1, "")},
		{Path: "/channel/unsubscribe/rule/update", Body: named(0, `,"rule_name":"x"`), Code: "InvalidParameter", Message: []string{"filters[0]"}},
		{Path: "/channel/unsubscribe/rule/update", Body: named(0, `,"rule_name":"x","filters":[[{"key":"a","oper":"IN","vals":["b"]}]]`)},
		{Path: "/channel/unsubscribe/rule/delete", Body: named(1, "")},
		{Path: "/channel/unsubscribe/rule/list", Body: `{"channel_id":1001}`, Then: listed(1, "")},
	})
}
