package monitor_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/monitor"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/querier"
	"tocsin/internal/schedule"
)

// wave is a datasource whose series host=a and host=b are over 90 in the first ten minutes of some hours.
type wave struct{ answers }

// value returns the value of a host at a moment: a fires at 01:00, 09:00 and 13:00 UTC, b five minutes later for as long.
func (wave) value(host string, at time.Time) float64 {
	if host == "b" {
		at = at.Add(-5 * time.Minute)
	}
	if h := at.UTC().Hour(); (h == 1 || h == 9 || h == 13) && at.Minute() < 10 {
		return 95
	}
	return 10
}

func (w wave) Query(_ context.Context, a querier.Ask) (rows []evaluate.Row, failed *evaluate.Failure) {
	for _, host := range []string{"a", "b"} {
		rows = append(rows, evaluate.Row{Labels: map[string]string{"host": host}, Values: evaluate.Values{{Number: w.value(host, a.AsOf)}}})
	}
	return rows, nil
}

func (w wave) Range(_ context.Context, _ querier.Ask, from, to time.Time, step time.Duration) (all []querier.Series, failed *evaluate.Failure) {
	for _, host := range []string{"a", "b"} {
		s := querier.Series{Labels: map[string]string{"host": host}}
		for at := from; !at.After(to); at = at.Add(step) {
			s.Points = append(s.Points, querier.Point{At: at, Value: w.value(host, at)})
		}
		all = append(all, s)
	}
	return all, nil
}

// startTrial starts a server with the waves as its datasource and three channels: 1001 groups alerts as their source does and
// notifies schedule 31, in which the owner and Reader hand over every day at noon in Shanghai; 1002 is private; in 1003 each
// alert is an incident.
func startTrial(t *testing.T) *apitest.Server {
	t.Helper()
	bus, keyring := &activity.Bus{}, apitest.Box(t)
	notifier := notify.New(notify.Config{Bus: bus, Keyring: keyring, Clock: clock.At(apitest.Now), Can: func(string) bool { return true }})
	s := startWith(t, func(m *monitor.Config) {
		m.Open = func(querier.Datasource) (querier.Querier, *evaluate.Failure) { return wave{}, nil }
		m.Escalation = &escalation.Service{Bus: bus, Keyring: keyring, Notify: notifier}
	})
	read := func(text string, into any) {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	var channels []channel.Channel
	read(`[{"channel_id": 1001, "channel_name": "Payments", "group": {"method": "p", "equals": [["group_key"]]}}, {"channel_id": 1002, "channel_name": "Security", "team_id": 99, "is_private": true},
		{"channel_id": 1003, "channel_name": "Single"}]`, &channels)
	var schedules []schedule.Record
	read(`[{"schedule_id": 31, "schedule_name": "Turns", "layers": [{"layer_name": "n", "mode": 0, "layer_start": 1775966400, "rotation_unit": "day", "rotation_value": 1, "groups": [
		{"group_name": "O", "members": [{"role_id": 0, "person_ids": [2476123212131]}]}, {"group_name": "R", "members": [{"role_id": 0, "person_ids": [2659460982131]}]}]}]}]`, &schedules)
	var rules []channel.EscalateRule
	for _, id := range []int{1001, 1002, 1003} {
		var rule channel.EscalateRule
		read(fmt.Sprintf(`{"rule_id": "5e5e5e5e5e5e5e5e5e5e%d", "channel_id": %d, "rule_name": "Turns", "template_id": "000000000000000000000001", "aggr_window": 120,
			"layers": [{"target": {"schedule_to_role_ids": {"31": []}, "by": {"follow_preference": true}}, "escalate_window": 10}]}`, id, id), &rule)
		rules = append(rules, rule)
	}
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, channels); err != nil {
			return err
		}
		if err := schedule.Load(tx, keyring, apitest.AccountA, schedules); err != nil {
			return err
		}
		return channel.Escalates.Load(tx, keyring, apitest.AccountA, rules)
	})
	s.Grant(auth.AlertingRulesRead, auth.DatasourcesRead, auth.IncidentsRead)
	return s
}

// ruleOf returns a request about a rule that alerts in channels.
func ruleOf(channels, counts, rest string) string {
	return `{"rule": {"name": "Load", "ds_type": "prometheus", "ds_list": ["Prom*"], "cron_pattern": "@every 1m", "channel_ids": [` + channels + `], "description": "on {{$labels.host}}: {{$value}}",
		"rule_configs": {"queries": [{"name": "A", "expr": "secret_load"}], "check_threshold": {"enabled": true, "warning": "$A > 90"` + counts + `}}}` + rest + `}`
}

func TestRuleTrial(t *testing.T) {
	t.Parallel()
	s := startTrial(t)
	s.Clock.Set(time.Date(2026, 4, 13, 9, 5, 0, 0, time.UTC))
	const path = "/monit/rule/test"
	s.Scenarios(t, path, []apitest.Scenario{
		{Name: "two fire", Body: ruleOf("1001", "", ""), Golden: "monit_rule_test"},
		{Name: "a mistake", Body: strings.Replace(ruleOf("1001", "", ""), "$A > 90", "$B > 90", 1), Code: "InvalidParameter", Says: []string{"rule.rule_configs.check_threshold.warning"}},
		{Name: "another datasource", Body: ruleOf("", "", `, "ds_id": 9`), Code: "InvalidParameter", Says: []string{"ds_id", "9"}},
		{Name: "another account", Key: apitest.KeyB, Body: ruleOf("", "", `, "ds_id": 1`), Code: "InvalidParameter", Says: []string{"ds_id"}},
	})
	call := func(key, body string) (r monitor.RuleTrial) {
		s.Call(key, path, body).Into(&r)
		return r
	}
	pending := call(apitest.KeyA, ruleOf("1001, 1002, 1003", `, "alerting_check_times": 3`, ""))
	if len(pending.Instances) != 2 || pending.Instances[0].State != "pending" || !strings.Contains(pending.Instances[0].Description, "on a: 95") || len(pending.WouldNotify) != 3 {
		t.Errorf("%+v", pending)
	}
	if r := call(apitest.KeyReader, ruleOf("1001, 1002", "", "")); len(r.WouldNotify) != 1 || r.WouldNotify[0].ChannelID != 1001 || r.WouldNotify[0].Escalation == nil {
		t.Errorf("a private channel is shown: %+v", r.WouldNotify)
	}
	s.Grant(auth.AlertingRulesRead, auth.DatasourcesRead)
	if r := call(apitest.KeyReader, ruleOf("1001", "", "")); len(r.WouldNotify) != 1 || r.WouldNotify[0].Escalation != nil {
		t.Errorf("without Incidents Read: %+v", r.WouldNotify)
	}
	s.Clock.Set(time.Date(2026, 4, 13, 10, 5, 0, 0, time.UTC))
	if r := call(apitest.KeyA, ruleOf("1001", "", "")); r.Rows != 2 || r.Total != 0 || len(r.WouldNotify) != 1 || len(r.WouldNotify[0].Escalation.Steps) == 0 {
		t.Errorf("nothing fires: %+v", r)
	}
	for _, body := range audited(s, "monitor_rule:read:test") {
		if strings.Contains(body, "secret_load") {
			t.Errorf("the audit log has the query: %s", body)
		}
	}
}

// A broken query is an answer about the rule, not a failure of the operation.
func TestRuleTrialShowsFailures(t *testing.T) {
	t.Parallel()
	s := start(t)
	for expr, kind := range map[string]string{"broken": "query", "away": "unreachable"} {
		var r monitor.RuleTrial
		s.Call(apitest.KeyA, "/monit/rule/test", strings.Replace(ruleOf("", "", ""), "secret_load", expr, 1)).Into(&r)
		if r.Outcome != "unknown" || r.Kind != kind || r.Message == "" || r.Total != 0 {
			t.Errorf("%s: %+v", expr, r)
		}
	}
}

// The owner is on call from Sunday noon in Shanghai (04:00 UTC), Reader from Monday noon: the waves of 13:00 and 01:00 are the
// owner's, that of 09:00 on Monday is Reader's. Both series of a wave are one incident in channel 1001, and two in 1003.
func TestBacktestCountsPersons(t *testing.T) {
	t.Parallel()
	s := startTrial(t)
	const path, day = "/monit/rule/backtest", `, "from": 1775995200000, "to": 1776081600000` // 12 April 12:00 to 13 April 12:00 UTC
	s.Scenarios(t, path, []apitest.Scenario{{Name: "a day", Body: ruleOf("1001", "", day), Golden: "monit_rule_backtest"}})
	for _, c := range []struct {
		channels, counts, want string
		total, incidents       int64
	}{
		{"1001", "", "[{2476123212131 Olga Owner 2 0} {2659460982131 Rita Reader 1 0}]", 6, 3},
		{"1003", "", "[{2476123212131 Olga Owner 4 0} {2659460982131 Rita Reader 2 0}]", 6, 6},
		{"1001, 1003", "", "[{2476123212131 Olga Owner 6 0} {2659460982131 Rita Reader 3 0}]", 6, 9},
		{"1001", `, "alerting_check_times": 9`, "[]", 6, 6}, // over before the first notification
		{"1001", `, "alerting_check_times": 11`, "[]", 0, 0},
	} {
		var r monitor.Backtest
		s.Call(apitest.KeyA, path, ruleOf(c.channels, c.counts, day)).Into(&r)
		if fmt.Sprint(r.Persons) != c.want || r.Total != c.total || r.Incidents != c.incidents || r.Points != 1441 || r.Skipped != 0 {
			t.Errorf("channels %s%s: %v, %d alerts in %d incidents, %d points, %d skipped", c.channels, c.counts, r.Persons, r.Total, r.Incidents, r.Points, r.Skipped)
		}
	}
	var r monitor.Backtest
	s.Call(apitest.KeyReader, path, ruleOf("1002", "", day)).Into(&r)
	if len(r.Persons) != 0 {
		t.Errorf("a private channel is shown: %v", r.Persons)
	}
	s.Exec(`UPDATE person SET time_zone = 'America/Los_Angeles' WHERE person_id = 2476123212131`) // where 13:02 UTC is 06:02, and 01:02 18:02
	s.Exec(`UPDATE person SET time_zone = 'America/Anchorage' WHERE person_id = 2659460982131`)   // where 09:02 UTC is 01:02
	s.Call(apitest.KeyA, path, ruleOf("1001", "", day)).Into(&r)
	if got := fmt.Sprint(r.Persons); got != "[{2476123212131 Olga Owner 2 0} {2659460982131 Rita Reader 1 1}]" {
		t.Errorf("at night: %s", got)
	}
	s.Grant(auth.AlertingRulesRead, auth.DatasourcesRead)
	r = monitor.Backtest{}
	s.Call(apitest.KeyReader, path, ruleOf("1001", "", day)).Into(&r)
	if len(r.Persons) != 0 || r.Total != 6 {
		t.Errorf("without Incidents Read: %+v", r)
	}
}

// A backtest finds what a watch finds that is evaluated moment by moment.
func TestBacktestEqualsWatch(t *testing.T) {
	t.Parallel()
	s := startTrial(t)
	var r monitor.Backtest
	s.Call(apitest.KeyA, "/monit/rule/backtest", ruleOf("", `, "alerting_check_times": 3, "recovery_check_times": 2`, `, "from": 1775995200000, "to": 1776081600000`)).Into(&r)
	w, err := evaluate.New(evaluate.Rule{Interval: time.Minute, Config: evaluate.Config{Queries: []evaluate.Query{{Name: "A"}}, CheckThreshold: &evaluate.Threshold{
		Counts: evaluate.Counts{Enabled: true, AlertingCheckTimes: 3, RecoveryCheckTimes: 2}, Warning: "$A > 90", Recovery: evaluate.Recovery{Mode: "invert"}}}}, "")
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string]int{}, map[string]int{}
	for at := time.UnixMilli(1775995200000); at.UnixMilli() <= 1776081600000; at = at.Add(time.Minute) {
		rows, _ := wave{}.Query(t.Context(), querier.Ask{AsOf: at})
		for _, x := range w.Step(at, []evaluate.Answer{{Query: "A", Rows: rows}}).Transitions {
			want[fmt.Sprint(x.To.Ends(), x.Labels["host"], x.At.UnixMilli())]++
		}
	}
	for _, e := range r.Episodes {
		got[fmt.Sprint(false, e.Labels["host"], e.Begin)]++
		got[fmt.Sprint(true, e.Labels["host"], e.End)]++
	}
	if len(want) != 12 || fmt.Sprint(want) != fmt.Sprint(got) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestBacktestBounds(t *testing.T) {
	t.Parallel()
	s := startTrial(t)
	every := func(pattern, rest string) string {
		return strings.Replace(ruleOf("", "", rest), "@every 1m", pattern, 1)
	}
	const month = `, "from": 1773374400000, "to": 1776052800000`
	s.Scenarios(t, "/monit/rule/backtest", []apitest.Scenario{
		{Name: "31 days in steps of 5 minutes", Body: every("@every 5m", month)},
		{Name: "too many steps", Body: every("@every 1m", month), Code: "InvalidParameter", Says: []string{"to", "11000", "44640"}},
		{Name: "too long", Body: every("@every 1h", `, "from": 1773374399000, "to": 1776052800000`), Code: "InvalidParameter", Says: []string{"744h"}},
		{Name: "a schedule of its zone", Body: strings.Replace(every("0 9 * * *", month), `"name"`, `"timezone": "Asia/Shanghai", "name"`, 1), Then: points(31, 0)},
		{Name: "moments off the grid", Body: every("0,1,30 9 * * *", `, "from": 1776049200000, "to": 1776135600000`), Then: points(3, 0)},
		{Name: "no moment", Body: every("0 9 1 1 *", `, "from": 1776049200000, "to": 1776052800000`), Code: "InvalidParameter", Says: []string{"to", "not evaluated"}},
		{Name: "recovery by query", Body: ruleOf("", `, "recovery": {"mode": "ql", "condition": "up"}`, `, "from": 1776038400000, "to": 1776052800000`), Code: "InvalidParameter", Says: []string{"recovery by query"}},
	})
}

func points(n, skipped int64) func(*testing.T, *apitest.Server, apitest.Reply) {
	return func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
		var b monitor.Backtest
		r.Into(&b)
		if b.Points != n || b.Skipped != skipped {
			t.Errorf("%d points, %d skipped", b.Points, b.Skipped)
		}
	}
}

// Both series are there at each moment, by both meanings. A call takes ten rules, and the next call goes on.
func TestProve(t *testing.T) {
	t.Parallel()
	s := startTrial(t)
	const path = "/monit/rule/import/prove"
	body := func(rules, rest string) string {
		return fmt.Sprintf(`{"ds_id": 1, "text": "groups: [{name: g, interval: 1m, rules: [%s]}]"%s}`, rules, rest)
	}
	rule := "{alert: Load, expr: secret_load, for: 5m, keep_firing_for: 2m}"
	s.Scenarios(t, path, []apitest.Scenario{
		{Name: "a rule", Body: body(rule+", {record: a, expr: b}", ""), Golden: "monit_rule_import_prove"},
		{Name: "no file", Body: `{"ds_id": 1, "text": "x"}`, Code: "InvalidParameter", Says: []string{"text"}},
		{Name: "another account", Key: apitest.KeyB, Body: body(rule, ""), Code: "InvalidParameter", Says: []string{"ds_id"}},
	})
	var p monitor.ImportProof
	s.Call(apitest.KeyA, path, body(strings.Repeat(rule+",", 11), "")).Into(&p)
	if p.Next != 10 || len(p.Items) != 10 || p.Items[9].Points != 1440 || p.Items[9].Total != 0 {
		t.Errorf("%+v", p)
	}
	s.Call(apitest.KeyA, path, body(strings.Repeat(rule+",", 11), `, "first": 10`)).Into(&p)
	if p.Next != 0 || len(p.Items) != 1 {
		t.Errorf("%+v", p)
	}
}
