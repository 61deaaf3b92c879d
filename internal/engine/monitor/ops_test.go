package monitor_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/monitor"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/node"
	"tocsin/internal/platform/secret"
	"tocsin/internal/querier"
)

// answers is a datasource with one answer.
type answers struct{}

func (a answers) Query(_ context.Context, ask querier.Ask) ([]evaluate.Row, *evaluate.Failure) {
	if ask.Expr == "broken" {
		return nil, &evaluate.Failure{Kind: evaluate.BadQuery, Message: "parse error at character 3"}
	}
	if ask.Expr == "away" {
		return nil, &evaluate.Failure{Kind: evaluate.Unreachable, Message: "connection refused"}
	}
	return []evaluate.Row{{Labels: map[string]string{"instance": "web1"}, Values: evaluate.Values{{Number: 97}}}}, nil
}

// Range returns as many series as the expression has letters, with two points each, one of which is no number.
func (a answers) Range(_ context.Context, ask querier.Ask, from, to time.Time, step time.Duration) (all []querier.Series, failed *evaluate.Failure) {
	if _, failed := a.Query(context.Background(), ask); failed != nil {
		return nil, failed
	}
	for i := range len(ask.Expr) {
		all = append(all, querier.Series{Labels: map[string]string{"instance": fmt.Sprint("web", i)}, Points: []querier.Point{{At: from, Value: float64(i)}, {At: from.Add(step), Value: math.NaN()}}})
	}
	return all, nil
}

func (a answers) Test(context.Context) []querier.Phase { return nil }
func (a answers) Close() error                         { return nil }

// start returns a server with a datasource, rule 1 on it and rule 2 on none.
func start(t *testing.T) *apitest.Server {
	t.Helper()
	return startWith(t, func(*monitor.Config) {})
}

// startWith is start with another configuration.
func startWith(t *testing.T, change func(*monitor.Config)) *apitest.Server {
	t.Helper()
	keyring, err := secret.Open(filepath.Join(t.TempDir(), "keys"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	d, err := db.Open(t.Context(), dbtest.Migrated(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	at := clock.At(time.Date(2026, 4, 13, 4, 0, 0, 0, time.UTC))
	nodes := node.New(node.Config{DB: d, Clock: at, Name: "tocsin-1", SealKeys: func() []string { return nil }, Offset: func() time.Duration { return 0 }})
	config := monitor.Config{
		DB: d, Keyring: keyring, Clock: at, Log: slog.New(slog.DiscardHandler), Nodes: nodes,
		Open: func(querier.Datasource) (querier.Querier, *evaluate.Failure) { return answers{}, nil },
	}
	change(&config)
	m := monitor.New(config)
	s := apitest.Start(t, m.Ops(), alertrule.New(alertrule.Config{States: m.States}).Ops(), (&datasource.Service{Keyring: keyring}).Ops())
	m.DB = s.DB
	s.Call(apitest.KeyA, "/monit/datasource/create",
		`{"type_ident": "prometheus", "name": "Prometheus fra", "address": "http://p:9090", "edge_cluster_name": "default", "payload": {"prometheus": {}}}`).Into(new(any))
	for _, name := range []string{"Prom*", "other"} {
		s.Call(apitest.KeyA, "/monit/rule/create", fmt.Sprintf(`{"name": "Disk on %s", "ds_type": "prometheus", "ds_list": [%q], "cron_pattern": "@every 30s",
			"rule_configs": {"queries": [{"name": "A", "expr": "disk_used_percent"}], "check_threshold": {"enabled": true, "critical": "$A > 95"}}}`, name, name)).Into(new(any))
	}
	labels := map[string]string{"instance": "web1"}
	s.Exec(`INSERT INTO rule_instance (account_id, rule_id, datasource_id, check_name, instance_key, severity, since, alert_key, channels, epoch, repeated_at, body)
		VALUES ($1, 1, 1, 'threshold', $2, 'Critical', 1776052740000, '1:1:A:0:threshold', '[]', 1, 1776052740000,
		'{"query":"A","rule":"Disk","labels":{"instance":"web1"},"event_labels":{"instance":"web1"},"title":"Disk: instance=web1","value":97}')`,
		apitest.AccountA, evaluate.Key(labels))
	for i, change := range []string{"begin", "rise"} {
		s.Exec(`INSERT INTO rule_transition (account_id, transition_id, rule_id, datasource_id, check_name, instance_key, at, change, from_severity, severity, event_id, body)
			VALUES ($1, $2, 1, 1, 'threshold', $3, 1776052740000, $4, '', 'Critical', $5,
			'{"labels":{"instance":"web1"},"why":[{"code":"mon_holds","args":["\"$A > 95\"","97",">","95"]}],"as_of":1776052740000,
			"queries":[{"name":"A","expr":"disk_used_percent","values":{"":"97"}}],
			"clauses":[{"text":"$A > 95","truth":"true","left":"97","op":">","right":"95"}],"value":97,"ds_name":"Prometheus fra","ds_type":"prometheus"}')`,
			apitest.AccountA, fmt.Sprintf("69dc69c4000000000000000%d", i), evaluate.Key(labels), change, fmt.Sprintf("69dc69c4000000010000000%d", i))
	}
	s.Grant(auth.AlertingRulesRead)
	return s
}

func TestState(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path = "/monit/rule/state"
	s.Scenarios(t, path, []apitest.Scenario{
		{Name: "fires", Key: apitest.KeyReader, Body: `{"id": 1}`, Golden: "monit_rule_state"},
		{Name: "no datasource", Body: `{"id": 2}`, Data: `{"runtime_state": "no_datasource", "instances": [], "watches": [], "members": []}`},
		{Name: "other account", Key: apitest.KeyB, Body: `{"id": 1}`, Code: "ResourceNotFound"},
		{Name: "unknown", Body: `{"id": 9}`, Code: "ResourceNotFound", Says: []string{"9"}},
		{Name: "no rule", Body: `{}`, Code: "InvalidParameter", Says: []string{"id", "required"}},
	})
	s.Exec(`INSERT INTO rule_watch (account_id, rule_id, datasource_id, since, body) VALUES ($1, 1, 1, 1776052750000, '{"kind":"timeout","message":"no answer in 10 s"}')`, apitest.AccountA)
	s.Scenarios(t, path, []apitest.Scenario{{Name: "not known", Body: `{"id": 1}`, Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
		var state monitor.RuleState
		r.Into(&state)
		if state.RuntimeState != "abnormal" || state.Instances[0].State != "unknown" || state.Watches[0].Reason != "no answer in 10 s" || state.Watches[0].Kind != "timeout" || state.Watches[0].Since != 1776052750000 {
			t.Errorf("%+v", state)
		}
	}}})
}

func TestRulesAreListedWithWhatIsKnown(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Exec(`INSERT INTO rule_watch (account_id, rule_id, datasource_id, since, body) VALUES ($1, 1, 1, 1776052750000, '{}')`, apitest.AccountA)
	var rules []alertrule.Basic
	s.Call(apitest.KeyA, "/monit/rule/list/basic", `{}`).Into(&rules)
	r := rules[0]
	if r.RuntimeState != "abnormal" || r.UnknownSince != 1776052750000 || r.ActiveAlertCount != 1 || r.LastTransitionAt != 1776052740000 || len(r.DSList) != 1 {
		t.Errorf("%+v", r)
	}
	if rules[1].RuntimeState != "no_datasource" || rules[1].LastTransitionAt != 0 || rules[1].Triggered {
		t.Errorf("%+v", rules[1])
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Scenarios(t, "/monit/rule/history", []apitest.Scenario{
		{Name: "first page", Key: apitest.KeyReader, Body: `{"id": 1, "limit": 1}`, Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			var page struct {
				Items []monitor.Transition
				Total int64
				Next  string `json:"search_after_ctx"`
			}
			r.Into(&page)
			if len(page.Items) != 1 || page.Total != 2 || page.Items[0].To != "rise" || page.Next == "" {
				t.Errorf("%+v", page)
			}
			s.Call(apitest.KeyA, "/monit/rule/history", fmt.Sprintf(`{"id": 1, "limit": 1, "search_after_ctx": %q}`, page.Next)).Into(&page)
			if page.Items[0].To != "begin" || page.Next != "" {
				t.Errorf("%+v", page)
			}
		}},
		{Name: "all", Body: `{"id": 1}`, Golden: "monit_rule_history"},
		{Name: "none", Body: `{"id": 2}`, Data: `{"items": [], "total": 0, "has_next_page": false, "search_after_ctx": ""}`},
		{Name: "other account", Key: apitest.KeyB, Body: `{"id": 1}`, Code: "ResourceNotFound"},
		{Name: "no rule", Body: `{}`, Code: "InvalidParameter", Says: []string{"id", "required"}},
	})
}

func TestExplain(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Scenarios(t, "/monit/rule/explain", []apitest.Scenario{
		{Name: "last change", Key: apitest.KeyReader, Body: `{"rule_id": 1, "ds_id": 1}`, Golden: "monit_rule_explain"},
		{Name: "of labels", Body: `{"rule_id": 1, "ds_id": 1, "labels": {"instance": "web2"}}`, Data: `{"sentences": ["the rule has found nothing on this datasource yet."],
			"sentences_data": [{"code": "mon_no_change"}], "as_of": 0, "queries": [], "clauses": []}`},
		{Name: "of a key", Body: `{"rule_id": 1, "ds_id": 1, "instance_key": "00"}`, Data: `{"sentences": ["the rule has found nothing on this datasource yet."],
			"sentences_data": [{"code": "mon_no_change"}], "as_of": 0, "queries": [], "clauses": []}`},
		{Name: "other account", Key: apitest.KeyB, Body: `{"rule_id": 1, "ds_id": 1}`, Code: "ResourceNotFound"},
		{Name: "no datasource", Body: `{"rule_id": 1}`, Code: "InvalidParameter", Says: []string{"ds_id", "required"}},
	})
}

func TestPreview(t *testing.T) {
	t.Parallel()
	s := start(t)
	const ask = `{"ds_type": "prometheus", "ds_name": "Prometheus fra", "expr": %q}`
	s.Scenarios(t, "/monit/preview/sync", []apitest.Scenario{
		{Name: "rows", Body: fmt.Sprintf(ask, "up"), Golden: "monit_preview_sync"},
		{Name: "refused", Body: fmt.Sprintf(ask, "broken"), Code: "InvalidParameter", Says: []string{"parse error at character 3"}},
		{Name: "away", Body: fmt.Sprintf(ask, "away"), Code: "ServiceUnavailable", Says: []string{"connection refused"}},
		{Name: "unknown", Body: `{"ds_type": "loki", "ds_name": "Prometheus fra", "expr": "up"}`, Code: "InvalidParameter", Says: []string{"can not find datasource"}},
		{Name: "other account", Key: apitest.KeyB, Body: fmt.Sprintf(ask, "up"), Code: "InvalidParameter", Says: []string{"can not find datasource"}},
		{Name: "rules alone", Key: apitest.KeyReader, Body: fmt.Sprintf(ask, "up"), Code: "AccessDenied"},
		{Name: "no query", Body: `{"ds_type": "prometheus", "ds_name": "x"}`, Code: "InvalidParameter", Says: []string{"expr", "required"}},
	})
	if log := audited(s, "monitor_rule:read:preview"); len(log) == 0 || strings.Contains(log[0], "up") || !strings.Contains(log[0], "query_sha256") {
		t.Errorf("audit log: %s", log)
	}
	s.Scenarios(t, "/monit/query/data", []apitest.Scenario{
		{Name: "rows", Body: fmt.Sprintf(ask, "up"), Golden: "monit_query_data"},
		{Name: "rules alone", Key: apitest.KeyReader, Body: fmt.Sprintf(ask, "up"), Code: "AccessDenied"},
	})
	s.Grant(auth.DatasourcesRead)
	s.Scenarios(t, "/monit/preview/sync", []apitest.Scenario{
		{Name: "datasources alone", Key: apitest.KeyReader, Body: fmt.Sprintf(ask, "up"), Code: "AccessDenied", Says: []string{"Alerting Rules Read"}},
	})
}

func TestDatasourceState(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path = "/monit/datasource/state"
	s.Grant(auth.DatasourcesRead)
	s.Scenarios(t, path, []apitest.Scenario{
		{Name: "waits", Key: apitest.KeyReader, Body: `{}`, Golden: "monit_datasource_state"},
		{Name: "other account", Key: apitest.KeyB, Body: `{}`, Data: `{"items": []}`},
	})
	s.Exec(`INSERT INTO rule_watch (account_id, rule_id, datasource_id, since, body) VALUES ($1, 0, 1, 1776052740000, '{"kind":"unreachable","message":"connection refused"}')`, apitest.AccountA)
	s.Scenarios(t, path, []apitest.Scenario{
		{Name: "lost", Body: `{}`, Data: `{"items": [{"ds_id": 1, "state": "lost", "since": 1776052740000, "reason": "connection refused", "last_at": 0, "took_ms": 0, "rules": 1}]}`},
	})
}
