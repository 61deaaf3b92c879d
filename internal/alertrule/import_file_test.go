package alertrule_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"tocsin/internal/alertrule"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
)

const ruleFile = `groups: [{name: hosts, interval: 1m, rules: [{alert: Down, expr: up == 0, for: 2m, labels: {severity: page}},
	{alert: Down, expr: up == 0, labels: {severity: info}}, {record: a, expr: b}, {alert: Limited, expr: up, labels: {alertname: x, severity: info}}]}]`

func fileOf(text, rest string) string {
	quoted, _ := json.Marshal(text)
	return fmt.Sprintf(`{"ds_id": 1, "text": %s%s}`, quoted, rest)
}

// A second import of a file makes no rule twice, changes nothing that is the same, and leaves what only the server has.
func TestImportFile(t *testing.T) {
	t.Parallel()
	s := start(t, alertrule.Config{})
	const path = "/monit/rule/import/file"
	done := func(body string) string {
		var f alertrule.FileImport
		s.Call(apitest.KeyA, path, body).Into(&f)
		text := fmt.Sprint(f.Created, " ", f.Updated)
		for _, i := range f.Items {
			text += fmt.Sprint("; ", i.Name, " ", i.Status, " ", i.Action)
		}
		return text
	}
	for _, body := range []string{fileOf(ruleFile, `, "dry_run": true`), fileOf(ruleFile, "")} {
		const want = "3 0; Down changed create; Down changed create; a not_carried none; Limited changed create"
		if got := done(body); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if got := done(fileOf(ruleFile, "")); !strings.HasPrefix(got, "0 0; ") || strings.Contains(got, "create") || strings.Contains(got, "update") {
		t.Errorf("the same again: %s", got)
	}
	var list []alertrule.Rule
	s.Call(apitest.KeyA, "/monit/rule/list/basic", `{"folder_id": 1}`).Into(&list)
	named := map[string]uint64{}
	for _, r := range list {
		named[r.Name] = r.ID
	}
	if len(named) != len(list) || named["Down"] == 0 || named["Down (2)"] == 0 || named["Limited"] == 0 {
		t.Fatalf("%v", named)
	}
	s.Call(apitest.KeyA, "/monit/rule/update/fields", fmt.Sprintf(`{"ids": [%d], "fields": ["enabled", "repeat_total"], "enabled": false, "repeat_total": 7}`, named["Down"])).Into(new(any))
	if got := done(fileOf(strings.Replace(ruleFile, "for: 2m", "for: 5m", 1), "")); !strings.HasPrefix(got, "0 1; Down ") {
		t.Errorf("changed: %s", got)
	}
	var r alertrule.Rule
	s.Call(apitest.KeyA, "/monit/rule/info", fmt.Sprintf(`{"id": %d}`, named["Down"])).Into(&r)
	if r.On() || r.RepeatTotal != 7 || r.RuleConfigs.CheckAnydata.AlertingCheckTimes != 6 || r.RuleConfigs.CheckAnydata.Severity != "Critical" {
		t.Errorf("%+v", r)
	}
	s.Grant(auth.AlertingRulesRead)
	s.Scenarios(t, path, []apitest.Scenario{
		{Name: "no file", Body: fileOf("x", ""), Code: "InvalidParameter", Says: []string{"text"}},
		{Name: "no datasource", Body: strings.Replace(fileOf(ruleFile, ""), `"ds_id": 1`, `"ds_id": 99`, 1), Code: "InvalidParameter", Says: []string{"ds_id", "99"}},
		{Name: "no folder", Body: fileOf(ruleFile, `, "folder_id": 99`), Data: ""},
		{Name: "a reader", Key: apitest.KeyReader, Body: fileOf(ruleFile, ""), Code: "AccessDenied"},
		{Name: "again", Body: fileOf(ruleFile, `, "dry_run": true`), Golden: "monit_rule_import_file"},
	})
}
