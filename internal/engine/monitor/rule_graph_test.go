package monitor_test

import (
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/engine/monitor"
	"tocsin/internal/platform/db"
)

func TestGraph(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Grant(auth.AlertingRulesRead, auth.DatasourcesRead)
	const path = "/monit/rule/graph"
	span := func(rest string) string { return `{"id": 1, "from": 1776052000000, "to": 1776055600000` + rest + `}` }
	s.Scenarios(t, path, []apitest.Scenario{
		{Name: "an hour", Key: apitest.KeyReader, Body: span(``), Golden: "monit_rule_graph"},
		{Name: "the datasource by id", Body: span(`, "ds_id": 1`), Then: steps(30)},
		{Name: "another datasource", Body: span(`, "ds_id": 7`), Code: "InvalidParameter", Says: []string{"ds_id", "7"}},
		{Name: "no datasource", Body: `{"id": 2, "from": 1776052000000, "to": 1776055600000}`, Code: "InvalidParameter", Says: []string{"no datasource"}},
		{Name: "no rule", Body: `{"id": 9, "from": 1776052000000, "to": 1776055600000}`, Code: "ResourceNotFound"},
		{Name: "another account", Key: apitest.KeyB, Body: span(``), Code: "ResourceNotFound"},
		{Name: "31 days", Body: `{"id": 1, "from": 1773373600000, "to": 1776052000000}`, Then: steps(3720)},
		{Name: "a longer time", Body: `{"id": 1, "from": 1773373599000, "to": 1776052000000}`, Code: "InvalidParameter", Says: []string{"to", "744h0m0s", "744h0m1s"}},
		{Name: "backwards", Body: `{"id": 1, "from": 1776052000001, "to": 1776052000000}`, Code: "InvalidParameter", Says: []string{"to", "after from"}},
	})
	var g monitor.Graph
	s.Call(apitest.KeyA, path, span(``)).Into(&g)
	if q := g.Queries[0]; q.Total != 17 || len(q.Series) != 17 || q.Series[0].Labels["instance"] != "web16" || fmt.Sprint(q.Series[0].Points) != "[[1.776052e+12 16]]" {
		t.Errorf("%d series, the first %+v", q.Total, q.Series[0])
	}
	if log := audited(s, "monitor_rule:read:graph"); len(log) > 0 {
		t.Errorf("audit log: %s", log)
	}
	s.Grant(auth.DatasourcesRead)
	if r := s.Call(apitest.KeyReader, path, span(``)); r.Code != "AccessDenied" {
		t.Errorf("without Alerting Rules Read: %s", r.Body)
	}
}

// steps checks the source and the steps of a graph.
func steps(seconds int64) func(*testing.T, *apitest.Server, apitest.Reply) {
	return func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
		var g monitor.Graph
		r.Into(&g)
		if g.DSID != 1 || g.DSName != "Prometheus fra" || g.Step != seconds {
			t.Errorf("%d %s in steps of %d, want %d", g.DSID, g.DSName, g.Step, seconds)
		}
	}
}

// audited returns the bodies of the entries of an operation in the audit log.
func audited(s *apitest.Server, operation string) (bodies []string) {
	s.Read(func(tx *db.Tx) (err error) {
		bodies, err = db.All(tx, db.Column[string], `SELECT body FROM audit_log WHERE operation = $1`, operation)
		return err
	})
	return bodies
}

// A span that began before the graph begins with it; a span that goes on has no end.
func TestGraphShowsFiringSpans(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Exec(`DELETE FROM rule_instance`)
	s.Exec(`DELETE FROM rule_transition`)
	add := func(n int, host, change string, at int64) {
		s.Exec(`INSERT INTO rule_transition (account_id, transition_id, rule_id, datasource_id, check_name, instance_key, at, change, from_severity, severity, event_id, body)
			VALUES ($1, $2, 1, 1, 'threshold', $3, $4, $5, '', 'Warning', '', $6)`, apitest.AccountA, fmt.Sprintf("%08x%016x", at/1000, n),
			evaluate.Key(map[string]string{"host": host}), at, change, fmt.Sprintf(`{"labels":{"host":%q},"why":[]}`, host))
	}
	add(1, "a", "begin", 1776051000000)
	add(2, "a", "recovered", 1776053000000)
	add(3, "a", "begin", 1776054000000)
	add(4, "a", "rise", 1776054100000)
	add(5, "a", "gone", 1776054500000)
	add(6, "b", "begin", 1776055000000)
	add(7, "b", "recovered", 1776056000000)
	add(8, "c", "begin", 1776055700000)
	add(9, "c", "recovered", 1776055800000)
	s.Exec(`INSERT INTO rule_instance (account_id, rule_id, datasource_id, check_name, instance_key, severity, since, alert_key, channels, epoch, repeated_at, body)
		VALUES ($1, 1, 1, 'threshold', 'd', 'Critical', 1776050000000, '', '[]', 1, 1, '{"labels":{"host":"d"}}')`, apitest.AccountA)
	var g monitor.Graph
	s.Call(apitest.KeyA, "/monit/rule/graph", `{"id": 1, "from": 1776052000000, "to": 1776055600000}`).Into(&g)
	got := ""
	for _, one := range g.Spans {
		got += fmt.Sprint(one.Labels["host"], " ", one.Begin-1776052000000, "-", max(one.End-1776052000000, -1), " ")
	}
	if want := "a 0-1000000 d 0--1 a 2000000-2500000 b 3000000-3600000 "; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
