package lint

import (
	"fmt"
	"testing"
	"time"
)

func TestAlertRulesThatDifferInOneValueAreFound(t *testing.T) {
	t.Parallel()
	source := []Datasource{{ID: 1, Name: "P", Type: "prometheus"}}
	rule := func(n int, query, rest string) AlertRule {
		return AlertRule{ID: uint64(n), Name: fmt.Sprint("R", n), Type: "prometheus", Sources: source, Taken: true, Queries: []string{query}, Rest: rest}
	}
	c := Config{Now: 1776038400, Zone: time.UTC, Mail: true, Fallback: Fallback{Set: true}}
	alike := func() (found []string) {
		for _, f := range Check(c) {
			if f.Code == RulesAlike {
				found = append(found, f.Sentence.English())
			}
		}
		return found
	}
	for n := range 4 {
		c.AlertRules = append(c.AlertRules, rule(n, fmt.Sprintf(`cpu{host="web%d",job="node"}`, n), "every 30s"))
	}
	c.AlertRules = append(c.AlertRules, rule(10, `cpu{host="web9",job="node"}`, "every 60s"), rule(11, `cpu{host="web8",job="other"}`, "every 30s"), rule(12, `mem{host="web7",job="node"}`, "every 30s"))
	if found := alike(); len(found) != 0 {
		t.Errorf("four rules: %q", found)
	}
	c.AlertRules = append(c.AlertRules, rule(5, `cpu{host="web5",job="node"}`, "every 30s"))
	want := `5 alert rules such as "R0" differ in one value alone, such as "web0" and "web1"`
	if found := alike(); len(found) != 1 || found[0] != want {
		t.Errorf("found %q, want %q", found, want)
	}
}
