package alertrule_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/alertrule"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
	"tocsin/internal/rulefolder"
)

const (
	createPath = "/monit/rule/create"
	updatePath = "/monit/rule/update"
	deletePath = "/monit/rule/delete"
	infoPath   = "/monit/rule/info"
	listPath   = "/monit/rule/list/basic"
)

// start returns a server with two datasources, channel 11 and the private channel 12, which the caller of KeyReader may not read.
func start(t testing.TB, c alertrule.Config) *apitest.Server {
	t.Helper()
	keyring, err := secret.Open(filepath.Join(t.TempDir(), "keys"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := apitest.Start(t, alertrule.New(c).Ops(), (&rulefolder.Service{Rules: alertrule.CountByFolder}).Ops(),
		(&datasource.Service{Keyring: keyring}).Ops(), channel.Ops(keyring))
	for _, d := range []struct{ kind, name string }{{"prometheus", "Prometheus fra"}, {"loki", "Loki"}} {
		s.Call(apitest.KeyA, "/monit/datasource/create", fmt.Sprintf(`{"type_ident": %q, "name": %q, "address": "http://p:9090", "edge_cluster_name": "default", "payload": {%q: {}}}`,
			d.kind, d.name, d.kind)).Into(new(any))
	}
	s.Write(func(tx *db.Tx) error {
		return channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 11, ChannelName: "Shop"}, {ChannelID: 12, ChannelName: "Secret", IsPrivate: true}})
	})
	return s
}

const configs = `{"queries": [{"name": "A", "expr": "disk_used_percent"}], "check_threshold": {"enabled": true, "alerting_check_times": 3, "critical": "$A > 95"}}`

// rule returns the body of a request with further members, which come last and so must not be among the usual ones.
func rule(more string) string {
	members := map[string]any{}
	for _, text := range []string{`{"name": "Disk", "ds_type": "prometheus", "ds_list": ["Prom*"], "cron_pattern": "@every 30s", "rule_configs": ` + configs + `}`, `{` + more + `}`} {
		if err := json.Unmarshal([]byte(text), &members); err != nil {
			panic(err)
		}
	}
	body, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return string(body)
}

func TestCreate(t *testing.T) {
	t.Parallel()
	s := start(t, alertrule.Config{})
	s.Grant(auth.AlertingRulesRead)
	refuse := func(name, more string, says ...string) apitest.Scenario {
		return apitest.Scenario{Name: name, Body: rule(more), Code: "InvalidParameter", Says: says}
	}
	full := `"labels": {"team": "shop"}, "timezone": "Europe/Berlin", "cron_pattern": "0 */5 * * * 1-5", "delay_seconds": 30, "ds_ids": [1],
		"enabled_times": [{"days": [1, 2, 3, 4, 5], "stime": "08:00", "etime": "20:00"}], "annotations": {"runbook": "https://r.example.com"},
		"description_type": "markdown", "description": "{{$value}} %", "channel_ids": [11], "repeat_interval": 600, "repeat_total": 3`
	s.Scenarios(t, createPath, []apitest.Scenario{
		{Name: "whole", Body: rule(full), Golden: "monit_rule_create"},
		{Name: "least", Body: rule(`"name": "Least", "account_id": 7, "creator_id": 8, "creator_name": "x", "created_at": 9`), Data: `{"id": 2, "folder_id": 1, "name": "Least", "ds_type": "prometheus", "enabled": true,
			"labels": {}, "debug_log_enabled": false, "cron_pattern": "@every 30s", "timezone": "", "delay_seconds": 0, "ds_list": ["Prom*"], "ds_ids": [],
			"rule_configs": {"queries": [{"name": "A", "expr": "disk_used_percent", "label_fields": [], "value_fields": [], "args": {}}], "relate_queries": [],
				"check_threshold": {"enabled": true, "alerting_check_times": 3, "recovery_check_times": 0, "critical": "$A > 95", "warning": "", "info": "", "recovery": {"mode": "invert", "condition": "", "args": {}}}},
			"enabled_times": [], "annotations": {}, "description_type": "text", "description": "", "channel_ids": [], "repeat_interval": 3600, "repeat_total": 0,
			"account_id": 2451002751131, "creator_id": 2476123212131, "creator_name": "Olga Owner", "updater_id": 2476123212131, "updater_name": "Olga Owner", "created_at": 1776052801, "updated_at": 1776052801, "checks": []}`},
		refuse("the name is taken", ``, "name", "Disk"),
		refuse("an id", `"id": 5`, "id", "left out", "5"),
		refuse("no name", `"name": ""`, "name"),
		refuse("unknown type", `"ds_type": "redis"`, "ds_type", "redis"),
		refuse("no datasource", `"ds_list": []`, "ds_list"),
		refuse("unknown datasource", `"ds_ids": [9]`, "ds_ids[0]", "datasource 9"),
		refuse("datasource of another type", `"ds_ids": [1, 2]`, "ds_ids[1]", "loki", "prometheus"),
		refuse("unknown channel", `"channel_ids": [11, 9]`, "channel_ids[1]", "channel 9"),
		refuse("unknown folder", `"folder_id": 9`, "folder_id", "9"),
		refuse("four fields", `"cron_pattern": "* * * *"`, "cron_pattern"),
		refuse("a zone in the pattern", `"cron_pattern": "CRON_TZ=Europe/Berlin * * * * *"`, "cron_pattern", "timezone"),
		refuse("half a zone in the pattern", `"cron_pattern": "TZ=0"`, "cron_pattern"),
		refuse("half a second", `"cron_pattern": "@every 500ms"`, "cron_pattern", "1s", "500ms"),
		refuse("a day that does not exist", `"cron_pattern": "0 0 30 2 *"`, "cron_pattern"),
		refuse("a name of a pattern", `"cron_pattern": "@hourly"`, "cron_pattern"),
		refuse("an abbreviation for a zone", `"timezone": "CST"`, "timezone", "CST"),
		refuse("EST is no place", `"timezone": "EST"`, "timezone", "EST"),
		refuse("an offset for a zone", `"timezone": "UTC+8"`, "timezone", "UTC+8"),
		refuse("the server's zone", `"timezone": "Local"`, "timezone", "Local"),
		refuse("an annotation with $", `"annotations": {"$x": "y"}`, "annotations", "$x"),
		refuse("no query", `"rule_configs": {"queries": []}`, "rule_configs.queries"),
		refuse("too large", `"description": "`+strings.Repeat("x", 16385)+`"`, "description", "16384"),
		{Name: "a private channel of others", Key: apitest.KeyNothing, Body: rule(`"name": "Private"`), Code: "AccessDenied"},
		{Name: "reader", Key: apitest.KeyReader, Body: rule(`"name": "x"`), Code: "AccessDenied", Says: []string{"Alerting Rules Manage (monit)"}},
		{Name: "another account's channel", Key: apitest.KeyB, Body: rule(`"channel_ids": [11]`), Code: "InvalidParameter", Says: []string{"channel_ids[0]"}},
	})
}

func TestConversation(t *testing.T) {
	t.Parallel()
	s := start(t, alertrule.Config{})
	s.Grant(auth.AlertingRulesRead)
	s.Call(apitest.KeyA, createPath, rule(`"channel_ids": [11], "ds_ids": [1], "enabled": false`)).Into(new(any))
	s.Scenarios(t, infoPath, []apitest.Scenario{
		{Name: "it", Body: `{"id": 1}`, Golden: "monit_rule_info"},
		{Name: "another account's", Key: apitest.KeyB, Body: `{"id": 1}`, Code: "ResourceNotFound"},
		{Name: "reader", Key: apitest.KeyReader, Body: `{"id": 1}`},
	})
	s.Scenarios(t, "/monit/datasource/delete", []apitest.Scenario{
		{Name: "named by a rule", Body: `{"id": 1}`, Code: "ReferenceExist", Says: []string{"alert_rule 1 (Disk)"}},
	})
	s.Call(apitest.KeyA, "/channel/disable", `{"channel_id": 11}`).Into(new(any))
	s.Scenarios(t, "/channel/delete", []apitest.Scenario{
		{Name: "named by a rule", Body: `{"channel_id": 11, "dry_run": true}`, Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			if !strings.Contains(string(r.Data), "alert_rule 1 (Disk)") {
				t.Errorf("%s", r.Data)
			}
		}},
	})
	s.Scenarios(t, updatePath, []apitest.Scenario{
		{Name: "all but enabled is replaced", Body: rule(`"id": 1, "name": "Disk 2"`), Golden: "monit_rule_update", Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			var got alertrule.Rule
			r.Into(&got)
			if got.On() || len(got.ChannelIDs) > 0 || got.Name != "Disk 2" {
				t.Errorf("%+v", got)
			}
		}},
		{Name: "no id", Body: rule(``), Code: "InvalidParameter", Says: []string{"id"}},
		{Name: "unknown", Body: rule(`"id": 9`), Code: "ResourceNotFound", Says: []string{"alert_rule 9"}},
		{Name: "another account's", Key: apitest.KeyB, Body: rule(`"id": 1`), Code: "ResourceNotFound"},
		{Name: "reader", Key: apitest.KeyReader, Body: rule(`"id": 1`), Code: "AccessDenied"},
	})
	s.Call(apitest.KeyA, "/monit/datasource/delete", `{"id": 1}`).Into(new(any)) // the rule names it by pattern alone
	s.Scenarios(t, listPath, []apitest.Scenario{
		{Name: "a folder", Body: `{"folder_id": 1}`, Golden: "monit_rule_list_basic"},
		{Name: "all", Body: `{}`, Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			if !strings.Contains(string(r.Data), "Disk 2") {
				t.Errorf("%s", r.Data)
			}
		}},
		{Name: "unknown folder", Body: `{"folder_id": 9}`, Code: "ResourceNotFound"},
		{Name: "another account", Key: apitest.KeyB, Body: `{}`, Data: `[]`},
	})
	s.Scenarios(t, deletePath, []apitest.Scenario{
		{Name: "tried out", Body: `{"id": 1, "dry_run": true}`, Data: `{"dry_run": true, "allowed": true, "removes": [{"kind": "alert_rule", "id": "1", "name": "Disk 2"}]}`},
		{Name: "another account's", Key: apitest.KeyB, Body: `{"id": 1}`, Code: "ResourceNotFound"},
		{Name: "reader", Key: apitest.KeyReader, Body: `{"id": 1}`, Code: "AccessDenied"},
		{Name: "done", Body: `{"id": 1}`, Golden: "monit_rule_delete"},
		{Name: "again", Body: `{"id": 1}`, Code: "ResourceNotFound"},
	})
	var next struct{ ID uint64 }
	if s.Call(apitest.KeyA, createPath, rule(``)).Into(&next); next.ID != 2 {
		t.Errorf("the id %d was given out again", next.ID)
	}
}

// TestEngineReadsChanges has what the engine that evaluates rules reads behind a revision.
func TestEngineReadsChanges(t *testing.T) {
	t.Parallel()
	var calls []string
	s := start(t, alertrule.Config{
		First: func(_ *db.Tx, account, _ int64, _ time.Time) error {
			calls = append(calls, fmt.Sprint("first ", account))
			return nil
		},
		Changed: func(_ *db.Tx, _ int64, r *alertrule.Rule, action string, _ int64, _ time.Time) error {
			calls = append(calls, fmt.Sprint(action, " ", r.ID, " ", r.On()))
			return nil
		},
		States: func(*db.Tx, int64, []uint64, time.Time) (map[uint64]alertrule.State, error) {
			return map[uint64]alertrule.State{2: {Triggered: true, ActiveAlertCount: 3}}, nil
		},
	})
	since := int64(-1)
	look := func(want string) {
		t.Helper()
		s.Read(func(tx *db.Tx) error {
			accounts, err := alertrule.Accounts(tx)
			if err != nil {
				return err
			}
			rules, deleted, err := alertrule.Changed(tx, apitest.AccountA, since)
			got := fmt.Sprint(len(accounts), " accounts:")
			for _, r := range rules {
				got += fmt.Sprintf(" %d by %s every %v,", r.ID, r.UpdaterName, r.Watchable(time.UTC).Interval)
				since = max(since, r.Revision)
			}
			if got += fmt.Sprint(" deleted ", deleted); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if len(accounts) > 0 {
				since = accounts[0].Revision
			}
			return err
		})
	}
	look("0 accounts: deleted []")
	s.Call(apitest.KeyA, createPath, rule(``)).Into(new(any))
	s.Call(apitest.KeyA, createPath, rule(`"name": "Other", "cron_pattern": "*/5 * * * *"`)).Into(new(any))
	look("1 accounts: 1 by Olga Owner every 30s, 2 by Olga Owner every 5m0s, deleted []")
	look("1 accounts: deleted []")
	s.Call(apitest.KeyA, updatePath, rule(`"id": 2, "enabled": false`+`, "name": "Other"`)).Into(new(any))
	look("1 accounts: 2 by Olga Owner every 30s, deleted []")
	var list []alertrule.Basic
	s.Call(apitest.KeyA, listPath, `{}`).Into(&list)
	if len(list) != 2 || list[0].RuntimeState != "normal" || list[1].RuntimeState != "disabled" || list[1].ActiveAlertCount != 3 || !list[1].Triggered {
		t.Errorf("%+v", list)
	}
	s.Call(apitest.KeyA, deletePath, `{"id": 1}`).Into(new(any))
	look("1 accounts: deleted [1]")
	if want := "[first 2451002751131 first 2451002751131 update 2 false delete 1 true]"; fmt.Sprint(calls) != want {
		t.Errorf("%v, want %s", calls, want)
	}
}

func TestRulesMatchDatasources(t *testing.T) {
	t.Parallel()
	r := alertrule.Rule{DSType: "mysql"}
	r.DSList = []string{"db-*-eu", "*", ""}[:1]
	r.DSIDs = []uint64{7}
	for _, c := range []struct {
		id         uint64
		kind, name string
		want       bool
	}{
		{1, "mysql", "db-1-eu", true}, {1, "mysql", "db--eu", true}, {1, "mysql", "db-eu", false}, {1, "mysql", "db-1-us", false}, {1, "mysql", "xdb-1-eu", false},
		{7, "mysql", "other", true}, {7, "postgres", "db-1-eu", false},
	} {
		if got := r.Matches(&datasource.Item{ID: c.id, TypeIdent: c.kind, Name: c.name}); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
