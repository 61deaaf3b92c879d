package lint_test

import (
	"encoding/json"
	"reflect"
	"strconv"
	"testing"
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/evaluate"
	corelint "tocsin/internal/core/lint"
	"tocsin/internal/core/sentence"
	"tocsin/internal/datasource"
	"tocsin/internal/edge"
	"tocsin/internal/engine/lint"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/untold"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/preference"
	"tocsin/internal/querier"
	"tocsin/internal/schedule"
)

// Each caller sees the findings about the objects that they may read.
func TestListShowsWhatCallerMayRead(t *testing.T) {
	t.Parallel()
	keyring := apitest.Box(t)
	notifier := notify.New(notify.Config{Keyring: keyring, Can: func(method string) bool { return method == "email" }})
	s := apitest.Start(t, (&lint.Service{Keyring: keyring, Notify: notifier}).Ops())
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1001, ChannelName: "Payments"}, {ChannelID: 1002, ChannelName: "Security", TeamID: 99, IsPrivate: true}}); err != nil {
			return err
		}
		if err := integration.Load(tx, keyring, apitest.AccountA, []integration.Integration{{IntegrationID: 2001, IntegrationName: "Prometheus", IntegrationType: "prometheus"}}); err != nil {
			return err
		}
		if err := untold.Kind.Put(tx, apitest.AccountA, &untold.Fallback{PersonIDs: []int64{apitest.Reader}}); err != nil {
			return err
		}
		return preference.Kind.Put(tx, apitest.AccountA, &preference.Preference{PersonID: apitest.Reader, QuietHours: []preference.Quiet{{Start: "22:00", End: "07:00", But: []string{"Info"}}}})
	})
	s.Converse(t, []apitest.Turn{
		{Path: "/lint/list", Body: `{}`, Golden: "lint_list"},
		{Path: "/lint/list", Body: `{"severity": "warning"}`, Has: `{"items": [{"code": "quiet_hours_hold_critical"}], "total": 1}`},
		{Path: "/lint/list", Body: `{"severity": "fatal"}`, Code: "InvalidParameter", Says: []string{"severity"}},
		{Path: "/lint/list", Key: apitest.KeyNothing, Body: `{}`, Code: "AccessDenied", Says: []string{"Channels Read"}},
		{Path: "/lint/list", Key: apitest.KeyB, Body: `{}`, Has: `{"items": [{"code": "fallback_not_set"}], "total": 1}`},
	})
	s.Grant(auth.ChannelsRead)
	s.Converse(t, []apitest.Turn{
		{Path: "/lint/list", Key: apitest.KeyReader, Body: `{}`, Has: `{"items": [{"code": "channel_without_rule", "object": {"name": "Payments"}}], "total": 1}`},
	})
	s.Grant(auth.ChannelsRead, auth.IntegrationsRead)
	s.Converse(t, []apitest.Turn{
		{Path: "/lint/list", Key: apitest.KeyReader, Body: `{}`, Has: `{"items": [{"code": "source_without_channel"}, {"code": "channel_without_rule"}], "total": 2}`},
	})
}

// TestListKeepsHostileNames names a channel, its escalation rule, a schedule of the rule and a person by a text that reads
// like a sentence: it is one argument wherever it is shown.
func TestListKeepsHostileNames(t *testing.T) {
	t.Parallel()
	keyring := apitest.Box(t)
	notifier := notify.New(notify.Config{Keyring: keyring, Can: func(method string) bool { return method == "email" }})
	for _, name := range []string{
		"N is paged for Info", "N has ended and can be removed", "A, B and C", `x" of channel "Day`, `{"code":"l_no_fallback"}`,
	} {
		s := apitest.Start(t, (&lint.Service{Keyring: keyring, Notify: notifier}).Ops())
		s.Exec(`UPDATE person SET person_name = $1, email = '' WHERE account_id = $2 AND person_id = $3`, name, apitest.AccountA, apitest.Reader)
		s.Write(func(tx *db.Tx) error {
			if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1001, ChannelName: name}}); err != nil {
				return err
			}
			disabled := schedule.Record{ScheduleID: 9001, Body: schedule.Body{ScheduleName: name, Status: new(int64(1))}}
			if err := schedule.Load(tx, keyring, apitest.AccountA, []schedule.Record{disabled}); err != nil {
				return err
			}
			return channel.Escalates.Load(tx, keyring, apitest.AccountA, []channel.EscalateRule{{
				Rule:       channel.Rule{RuleID: "5e5e5e5e5e5e5e5e5e5e5e01", ChannelID: 1001, RuleName: name, Status: "enabled"},
				TemplateID: "000000000000000000000001", Layers: []channel.Layer{{Target: channel.Target{
					PersonIDs: []int64{apitest.Reader}, ScheduleToRoleIDs: map[string][]int64{"9001": {}}, By: &channel.By{Critical: []string{"email"}},
				}}},
			}})
		})
		found := map[corelint.Code]sentence.Data{}
		var reply lint.Listed
		if err := json.Unmarshal(s.Call(apitest.KeyA, "/lint/list", `{}`).Data, &reply); err != nil {
			t.Fatal(err)
		}
		for _, f := range reply.Items {
			if f.SentenceData.English() != f.Sentence.English() {
				t.Errorf("%q has the data of %q", f.Sentence, f.SentenceData.English())
			}
			found[f.Code] = f.SentenceData
		}
		quoted := strconv.Quote(name)
		rule := &sentence.Data{Code: "l_escalate_rule", Args: []any{quoted, quoted}}
		for code, want := range map[corelint.Code]sentence.Data{
			corelint.PersonUnreachable: {Code: "l_person", Args: []any{name, []any{"Critical", "Warning", "Info"}, &sentence.Data{Code: "no_email"}}},
			corelint.StepWithoutPerson: {Code: "l_step_part", Args: []any{
				&sentence.Data{Code: "l_step_of", Args: []any{int64(1), rule}}, "schedule", quoted, &sentence.Data{Code: "l_part_disabled"}}},
			corelint.RulePagesNoOne: {Code: "l_in_vain", Args: []any{rule, []any{"Critical", "Warning", "Info"}}},
		} {
			if got := found[code]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: the data of %q is that of %q", code, want.English(), got.English())
				t.Logf("got %+v, want %+v", got, want)
			}
		}
	}
}

// A datasource is asked by its cluster: what the server does not resolve is no problem of a datasource that an edge asks.
func TestDatasourcesOfEdgesAreTheirs(t *testing.T) {
	t.Parallel()
	keyring := apitest.Box(t)
	notifier := notify.New(notify.Config{Keyring: keyring, Can: func(method string) bool { return method == "email" }})
	s := apitest.Start(t, (&lint.Service{Keyring: keyring, Notify: notifier, SecretEnv: querier.SecretEnv{}}).Ops())
	s.Write(func(tx *db.Tx) error {
		err := datasource.Load(tx, keyring, apitest.AccountB, []datasource.Record{{Item: datasource.Item{
			ID: 1, AccountID: apitest.AccountB, TypeIdent: "prometheus", Name: "far", Address: "http://p.example.com", EdgeClusterName: "fra", Enabled: true,
			Payload: &datasource.Payload{Prometheus: &datasource.HTTP{BasicAuthPassword: new("${env:SECRET}")}},
		}}})
		if err != nil {
			return err
		}
		return alertrule.Load(tx, apitest.AccountB, []alertrule.Rule{{
			ID: 1, Name: "Disk", DSType: "prometheus", Head: alertrule.Head{CronPattern: "@every 30s"}, Sources: alertrule.Sources{DSList: []string{"*"}},
			Body: alertrule.Body{RuleConfigs: evaluate.Config{
				Queries: []evaluate.Query{{Name: "A", Expr: "up"}}, CheckAnydata: &evaluate.Anydata{Counts: evaluate.Counts{Enabled: true}, Severity: "Info"},
			}},
		}})
	})
	finds := func(when, codes string) {
		t.Helper()
		t.Log(when)
		s.Converse(t, []apitest.Turn{{Path: "/lint/list", Key: apitest.KeyB, Body: `{}`, Has: `{"items": [{"code": "rule_without_channel"}, ` + codes + `{"code": "fallback_not_set"}]}`}})
	}
	joins := func(id string, seen time.Time, env querier.SecretEnv) {
		s.Write(func(tx *db.Tx) error {
			return edge.Join(tx, edge.Member{Account: apitest.AccountB, Cluster: "fra", ID: id, Run: "1", Seen: seen, Details: edge.Details{SecretEnv: env}}, seen)
		})
	}
	finds("no edge", `{"code": "datasource_without_edge", "object": {"name": "far"}}, `)
	joins("a", apitest.Now.Add(-edge.Lease), querier.SecretEnv{"SECRET": {"p.example.com"}})
	finds("an edge that is gone", `{"code": "datasource_without_edge"}, `)
	joins("a", apitest.Now, querier.SecretEnv{})
	finds("an edge without the variable", `{"code": "secret_not_allowed"}, `)
	joins("b", apitest.Now, querier.SecretEnv{"SECRET": {"other.example.com"}})
	finds("another host", `{"code": "secret_not_allowed"}, `)
	joins("c", apitest.Now, querier.SecretEnv{"SECRET": {"p.example.com"}})
	finds("one edge resolves it", ``)
	joins("c", apitest.Now, nil)
	finds("one edge does not report it", ``)
	s.Exec(`UPDATE datasource SET can_write = 'this role is a superuser'`)
	finds("a superuser", `{"code": "role_can_write", "sentence": "datasource \"far\" is asked with a role that can do more than read: this role is a superuser"}, `)
}
