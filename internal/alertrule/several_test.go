package alertrule_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

func TestSeveralRules(t *testing.T) {
	t.Parallel()
	s := start(t, alertrule.Config{})
	s.Grant(auth.AlertingRulesRead)
	var folder struct {
		FolderID int64 `json:"folder_id"`
	}
	s.Call(apitest.KeyA, "/monit/folder/create", `{"folder_name": "Shop"}`).Into(&folder)
	s.Scenarios(t, "/monit/rule/import", []apitest.Scenario{
		{Name: "valid ones are created", Golden: "monit_rule_import", Body: `[` + rule(`"name": "Disk"`) + `,` + rule(`"name": "CPU", "id": 77, "channel_ids": [11]`) + `,` +
			rule(`"name": "Disk"`) + `,` + rule(`"name": "Odd", "cron_pattern": "never"`) + `]`},
		{Name: "as the schema wants them", Body: `[` + rule(`"ds_type": "redis"`) + `]`, Code: "InvalidParameter", Says: []string{"[0].ds_type", "redis"}},
		{Name: "no array", Body: rule(``), Code: "InvalidParameter", Says: []string{"array"}},
		{Name: "none", Body: `[]`, Data: `[]`},
		{Name: "reader", Key: apitest.KeyReader, Body: `[]`, Code: "AccessDenied"},
	})
	s.Clock.Add(time.Minute)
	s.Scenarios(t, "/monit/rule/export", []apitest.Scenario{
		{Name: "without what is the account's", Body: `{"ids": [2]}`, Golden: "monit_rule_export"},
	})
	s.Clock.Add(time.Minute)
	s.Scenarios(t, "/monit/rule/export", []apitest.Scenario{{Name: "unknown", Body: `{"ids": [9]}`, Code: "ResourceNotFound"}})
	s.Scenarios(t, "/monit/rule/counter/channel", []apitest.Scenario{
		{Name: "by name", Body: `{}`, Golden: "monit_rule_counter_channel", Data: `{"Shop": 1}`},
	})
	s.Scenarios(t, "/monit/rule/update/fields", []apitest.Scenario{
		{Name: "what it names", Body: `{"ids": [1, 2, 1, 9], "fields": ["enabled", "labels"], "enabled": false, "labels": {"a": "b"}, "description": "ignored"}`, Golden: "monit_rule_update_fields",
			Data: `[{"name": "Disk", "message": ""}, {"name": "CPU", "message": ""}, {"name": "9", "message": "alert_rule 9 does not exist"}]`},
		{Name: "one that cannot", Body: `{"ids": [1, 2], "fields": ["channel_ids", "timezone"], "channel_ids": [11], "timezone": "CST"}`, Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			if strings.Count(string(r.Data), "timezone: must be") != 2 {
				t.Errorf("%s", r.Data)
			}
		}},
		{Name: "unknown member", Body: `{"ids": [1], "fields": ["name"]}`, Code: "InvalidParameter", Says: []string{"fields[0]", "name"}},
		{Name: "reader", Key: apitest.KeyReader, Body: `{"ids": [1], "fields": ["enabled"]}`, Code: "AccessDenied"},
	})
	var r alertrule.Rule
	if s.Call(apitest.KeyA, infoPath, `{"id": 2}`).Into(&r); r.On() || r.Labels["a"] != "b" || r.Description != "" || r.Timezone != "" || len(r.ChannelIDs) != 1 {
		t.Errorf("%+v", r)
	}
	s.Call(apitest.KeyA, createPath, rule(fmt.Sprintf(`"folder_id": %d, "name": "Disk"`, folder.FolderID))).Into(new(any))
	s.Scenarios(t, "/monit/rule/move", []apitest.Scenario{
		{Name: "but those whose name is taken", Body: fmt.Sprintf(`{"ids": [1, 2], "dest_folder_id": %d}`, folder.FolderID), Golden: "monit_rule_move",
			Data: `[{"name": "Disk", "message": "name: another rule of the folder has the name \"Disk\""}, {"name": "CPU", "message": ""}]`},
		{Name: "unknown folder", Body: `{"ids": [1], "dest_folder_id": 9}`, Code: "ResourceNotFound", Says: []string{"9"}},
	})
	status := func(name string) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			apitest.Golden(t, name, r.Body, fmt.Sprint(folder.FolderID), "6113996590131")
		}
	}
	s.Scenarios(t, "/monit/rule/status", []apitest.Scenario{
		{Name: "all folders", Body: `{}`, Then: status("monit_rule_status")},
		{Name: "those in one", Body: `{"folder_id": 1}`, Data: `[]`},
		{Name: "unknown", Body: `{"folder_id": 9}`, Code: "ResourceNotFound"},
	})
	s.Scenarios(t, "/monit/rule/counter/status", []apitest.Scenario{{Name: "top", Body: `{}`, Then: status("monit_rule_counter_status")}})
	s.Scenarios(t, "/monit/folder/delete", []apitest.Scenario{
		{Name: "not empty", Body: fmt.Sprintf(`{"folder_id": %d}`, folder.FolderID), Code: "ReferenceExist", Says: []string{"CPU", "1 more"}},
	})
	s.Scenarios(t, "/monit/rule/audits", []apitest.Scenario{
		{Name: "newest first", Body: `{"id": 2}`, Golden: "monit_rule_audits"},
		{Name: "unknown", Body: `{"id": 9}`, Code: "ResourceNotFound"},
		{Name: "another account's", Key: apitest.KeyB, Body: `{"id": 2}`, Code: "ResourceNotFound"},
	})
	s.Scenarios(t, "/monit/rule/audit/detail", []apitest.Scenario{
		{Name: "with the rule", Body: `{"id": 2}`, Golden: "monit_rule_audit_detail"},
		{Name: "another account's", Key: apitest.KeyB, Body: `{"id": 2}`, Code: "ResourceNotFound"},
		{Name: "unknown", Body: `{"id": 99}`, Code: "ResourceNotFound"},
	})
	s.Scenarios(t, "/monit/rule/dstypes", []apitest.Scenario{{Name: "all", Body: `{}`, Golden: "monit_rule_dstypes"}})
	s.Clock.Add(48 * time.Hour)
	s.Scenarios(t, "/monit/rule/delete/batch", []apitest.Scenario{
		{Name: "one is unknown", Body: `{"ids": [1, 9]}`, Code: "ResourceNotFound", Says: []string{"9"}},
		{Name: "done", Body: `{"ids": [2, 1, 2]}`, Golden: "monit_rule_delete_batch"},
		{Name: "again", Body: `{"ids": [1]}`, Code: "ResourceNotFound"},
	})
	s.Scenarios(t, "/monit/rule/counter/total", []apitest.Scenario{{Name: "by day", Body: `{}`, Golden: "monit_rule_counter_total", Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
		var days []alertrule.Total
		if r.Into(&days); len(days) != 3 || days[0].Num != 3 || days[1].Num != 3 || days[2].Num != 1 {
			t.Errorf("%+v", days)
		}
	}}})
}

// TestPrivateChannelsKeepTheirRules holds that a caller who may not read a private channel neither adds it nor takes it away.
func TestPrivateChannelsKeepTheirRules(t *testing.T) {
	t.Parallel()
	s := start(t, alertrule.Config{})
	s.Grant(auth.AlertingRulesManage)
	s.Call(apitest.KeyA, createPath, rule(`"channel_ids": [12]`)).Into(new(any))
	denied := func(path, body string) apitest.Scenario {
		return apitest.Scenario{Name: path, Key: apitest.KeyReader, Body: body, Code: "AccessDenied", Says: []string{"private"}}
	}
	s.Scenarios(t, createPath, []apitest.Scenario{denied("add", rule(`"name": "x", "channel_ids": [12]`))})
	s.Scenarios(t, updatePath, []apitest.Scenario{
		denied("take away", rule(`"id": 1`)),
		{Name: "keep", Key: apitest.KeyReader, Body: rule(`"id": 1, "channel_ids": [12, 11]`)},
	})
	s.Scenarios(t, deletePath, []apitest.Scenario{denied("delete", `{"id": 1}`)})
	s.Scenarios(t, "/monit/rule/counter/channel", []apitest.Scenario{{Name: "left out", Key: apitest.KeyReader, Body: `{}`, Data: `{"Shop": 1}`}})
}

// TestEvaluationsAreBounded counts the evaluations of all rules on all datasources that they match.
func TestEvaluationsAreBounded(t *testing.T) {
	t.Parallel()
	s := start(t, alertrule.Config{})
	s.Exec(`INSERT INTO datasource (account_id, datasource_id, type_ident, datasource_name, enabled, note, address, payload, edge_cluster_name, updated_at)
		SELECT $1, 100 + CAST(n.value AS BIGINT), 'mysql', 'db-' || n.value, TRUE, '', 'a:1', '{"mysql":{}}', 'default', 0 FROM json_each($2) n`,
		apitest.AccountA, db.JSON(numbers(1100)))
	const second = `, "cron_pattern": "@every 1s"`
	mysql := func(name, pattern, more string) string {
		return rule(fmt.Sprintf(`"name": %q, "ds_type": "mysql", "ds_list": [%q]%s`, name, pattern, more))
	}
	s.Scenarios(t, createPath, []apitest.Scenario{
		{Name: "too many datasources", Body: mysql("all", "db-*", second), Code: "InvalidParameter", Says: []string{"ds_list", "1000", "1100"}},
		{Name: "some hundred a second", Body: mysql("some", "db-3*", second)},
		{Name: "more, less often", Body: mysql("more", "db-*1*", `, "cron_pattern": "@every 1m"`)},
		{Name: "off", Body: mysql("off", "db-*1*", second+`, "enabled": false`)},
		{Name: "too often", Body: mysql("too much", "db-1099", second+`, "ds_ids": [`+list(950)+`]`), Code: "InvalidParameter", Says: []string{"cron_pattern", "1000", "times a second"}},
	})
	s.Scenarios(t, updatePath, []apitest.Scenario{
		{Name: "less is no more", Body: mysql("some", "db-33*", second+`, "id": 1`)},
	})
}

func numbers(n int64) (all []int64) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func list(n int64) string {
	text := strings.Builder{}
	for i := range n {
		fmt.Fprintf(&text, ",%d", 100+i)
	}
	return text.String()[1:]
}

func TestRecords(t *testing.T) {
	t.Parallel()
	s := start(t, alertrule.Config{})
	made := func(id uint64, name string) alertrule.Rule {
		on := false
		r := alertrule.Rule{ID: id, FolderID: 1, Name: name, DSType: "loki", Enabled: &on}
		r.CronPattern = "*/5 * * * *"
		r.DSList = []string{"*"}
		r.RuleConfigs = evaluate.Config{
			Queries:      []evaluate.Query{{Name: "A", Expr: "{a=\"b\"}"}},
			CheckAnydata: &evaluate.Anydata{Counts: evaluate.Counts{Enabled: true}, Severity: "Info"},
		}
		return r
	}
	records := []alertrule.Rule{made(5, "b"), made(1<<63+1, "a")}
	dumped, err := apitest.Passed(t, s.DB, alertrule.Load, alertrule.Dump, records)
	if err != nil || len(dumped) != 2 || dumped[0].ID != 5 || dumped[1].Name != "a" || dumped[0].On() {
		t.Errorf("%+v %v", dumped, err)
	}
	for _, spoil := range []func(*alertrule.Rule){
		func(r *alertrule.Rule) { r.ID = 0 },
		func(r *alertrule.Rule) { r.Name = "b" },
		func(r *alertrule.Rule) { r.ID = 5 },
		func(r *alertrule.Rule) { r.FolderID = 9 },
		func(r *alertrule.Rule) { r.AccountID = 9 },
		func(r *alertrule.Rule) { r.CronPattern = "x" },
		func(r *alertrule.Rule) { r.DSType = "redis" },
	} {
		r := made(6, "c")
		spoil(&r)
		if _, err := apitest.Passed(t, s.DB, alertrule.Load, alertrule.Dump, []alertrule.Rule{made(5, "b"), r}); fault.KindOf(err) != fault.InvalidParameter || !strings.Contains(err.Error(), "alert_rules[1]") {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// TestRetention deletes what is past its time.
func TestRetention(t *testing.T) {
	t.Parallel()
	service := alertrule.New(alertrule.Config{})
	s := start(t, alertrule.Config{})
	s.Call(apitest.KeyA, createPath, rule(``)).Into(new(any))
	s.Call(apitest.KeyA, deletePath, `{"id": 1}`).Into(new(any))
	for _, days := range []int{29, 31} {
		s.Write(func(tx *db.Tx) error {
			for _, kept := range service.Module().Prune {
				if _, err := kept.Of(tx, apitest.AccountA, s.Clock.Now().AddDate(0, 0, days)); err != nil {
					return err
				}
			}
			_, deleted, err := alertrule.Changed(tx, apitest.AccountA, -1)
			if (len(deleted) == 1) != (days == 29) {
				t.Errorf("after %d days: %v", days, deleted)
			}
			return err
		})
	}
	r := s.Call(apitest.KeyA, "/monit/rule/audits", `{"id": 1}`)
	if r.Code != "ResourceNotFound" {
		t.Errorf("%s", r.Body)
	}
}

// TestQueriesAreTried holds that a datasource that fails refuses a rule only if the caller asks for that.
func TestQueriesAreTried(t *testing.T) {
	t.Parallel()
	s := start(t, alertrule.Config{Try: func(_ context.Context, account int64, r alertrule.Rule) []alertrule.Trial {
		if account != apitest.AccountA || r.Name == "" {
			t.Errorf("%d %q", account, r.Name)
		}
		return []alertrule.Trial{{DSID: 1, DSName: "Prometheus fra", Status: "failed", Message: "parse error"}}
	}})
	saved := func(want int) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			var got alertrule.Saved
			if r.Into(&got); len(got.Checks) != want || got.ID == 0 {
				t.Errorf("%+v", got)
			}
		}
	}
	s.Scenarios(t, createPath, []apitest.Scenario{
		{Name: "stored with what was answered", Body: rule(``), Then: saved(1)},
		{Name: "off", Body: rule(`"name": "x", "enabled": false`), Then: saved(0)},
		{Name: "strict", Body: rule(`"name": "y", "strict": true`), Code: "InvalidParameter", Says: []string{"rule_configs.queries", "Prometheus fra", "parse error"}},
	})
	s.Scenarios(t, updatePath, []apitest.Scenario{{Name: "changed", Body: rule(`"id": 1`), Then: saved(1)}})
}
