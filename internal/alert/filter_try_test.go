package alert_test

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/team"
)

// startTry starts a server with alerts of today in two channels, one of them private, and one of ten days ago.
func startTry(t *testing.T) *apitest.Server {
	s := start(t)
	now := apitest.Now.Unix()
	recent := func(n int, channel, at int64, labels map[string]string) alert.Alert {
		a := least(fmt.Sprintf("663a1b2c3d4e5f6789ac%04d", n), channel)
		a.StartTime, a.Labels = at, labels
		return a
	}
	s.Write(func(tx *db.Tx) error {
		if err := team.Load(tx, apitest.AccountA, []team.Record{{TeamID: apitest.TeamA + 1, TeamName: "Shop"}}); err != nil {
			return err
		}
		return alert.Load(tx, apitest.AccountA, []alert.Alert{
			recent(1, 1001, now-60, map[string]string{"env": "test", "team": "pay"}),
			recent(2, 1001, now-120, map[string]string{"env": "test"}),
			recent(3, 1001, now-180, map[string]string{"env": "live"}),
			recent(4, 1002, now-240, map[string]string{"env": "test"}),
			recent(5, 1001, now-10*86400, map[string]string{"env": "test"}),
		})
	})
	return s
}

func TestFilterTry(t *testing.T) {
	s := startTry(t)
	const test, tested = `"filters": [[{"key": "labels.env", "oper": "IN", "vals": ["test"]}]]`, `"filters": [[{"key": "labels.env", "oper": "IN", "vals": ["te*"]}, {"key": "severity", "oper": "NOTIN", "vals": ["Info"]}]]`
	s.Scenarios(t, "/alert/filter/try", []apitest.Scenario{
		{Name: "by team", Body: `{"channel_ids": [1001], ` + test + `, "alert": {"title": "CPU", "labels": {"env": "live"}}}`, Golden: "alert_filter_try"},
		{Name: "malformed", Body: `{"filters": [[{"key": "title", "oper": "IN", "vals": ["/(/"]}]]}`, Code: "InvalidParameter", Says: []string{"filters[0][0].vals[0]"}},
		{Name: "both", Body: `{` + test + `, "alert_id": "` + full + `", "alert": {}}`, Code: "InvalidParameter", Says: []string{"alert_id"}},
		{Name: "an unknown alert", Body: `{` + test + `, "alert_id": "000000000000000000000000"}`, Code: "ResourceNotFound"},
		{Name: "an unknown channel", Body: `{` + test + `, "channel_ids": [9]}`, Code: "ResourceNotFound"},
	})
	answers(t, s, apitest.KeyA, "/alert/filter/try", `{"channel_ids": [1001], `+test+`, "days": 20}`, `"matched":3`, `"checked":4`)
	answers(t, s, apitest.KeyReader, "/alert/filter/try", `{`+test+`}`, `"matched":3`)
	answers(t, s, apitest.KeyA, "/alert/filter/try", `{`+tested+`, "alert_id": "663a1b2c3d4e5f6789ac0003"}`, `"value":"live"`, `"matches_empty":false`)
	answers(t, s, apitest.KeyA, "/alert/filter/try", `{"filters": [[{"key": "labels.env", "oper": "NOTIN", "vals": ["live"]}]]}`, `"matches_empty":true`)
	answers(t, s, apitest.KeyA, "/alert/filter/try", `{"filters": [[{"key": "severity", "oper": "IN", "vals": ["Critical", "Warning", "Info", "Ok"]}]]}`, `"matches_empty":true`)
	answers(t, s, apitest.KeyA, "/alert/filter/try", `{"filters": []}`, `"matches_empty":true`, `"matched":4`)
	answers(t, s, apitest.KeyB, "/alert/filter/try", `{`+test+`}`, `"matched":0`, `"checked":0`)
}

// TestFilterTryIsBounded has expensive filters: the reply comes, and is marked as incomplete.
func TestFilterTryIsBounded(t *testing.T) {
	s := start(t)
	now := apitest.Now.Unix()
	s.Write(func(tx *db.Tx) error {
		var many []alert.Alert
		for n := range 100 {
			a := least(fmt.Sprintf("663a1b2c3d4e5f6789ac%04d", n), 1001)
			a.StartTime, a.Description = now-int64(n), strings.Repeat("ab", 3000)
			many = append(many, a)
		}
		return alert.Load(tx, apitest.AccountA, many)
	})
	group := strings.Repeat(`{"key": "description", "oper": "NOTIN", "vals": ["/(a|b|ab){1,12}c/"]},`, 5)
	answers(t, s, apitest.KeyA, "/alert/filter/try", `{"filters": [[`+strings.TrimSuffix(group, ",")+`]]}`, `"complete":false`)
}

// answers checks that a reply contains some texts; spaces in it are left out.
func answers(t *testing.T, s *apitest.Server, key, path, body string, texts ...string) {
	t.Helper()
	reply := string(s.Call(key, path, body).Body)
	for _, text := range texts {
		if !strings.Contains(reply, text) {
			t.Errorf("%s %s: wanted %s in %s", path, body, text, reply)
		}
	}
}

func TestRuleHits(t *testing.T) {
	s := start(t)
	now := apitest.Now.Unix()
	for i, v := range []struct {
		channel, age int64
		outcome      string
		trace        string
	}{
		{1001, 60, "dropped", `[{"stage": "drop", "rule_id": "d1", "rule_name": "Tests", "matched": true, "why": ""}]`},
		{1001, 30, "dropped", `[{"stage": "drop", "rule_id": "d1", "rule_name": "Test systems", "matched": true, "why": ""}]`},
		{1001, 90, "silenced", `[{"stage": "drop", "rule_id": "d1", "matched": false, "why": ""}, {"stage": "silence", "rule_id": "s1", "rule_name": "Backup", "matched": true, "why": ""}]`},
		{1001, 95, "dropped", `[{"stage": "channel", "matched": true, "why": "disabled"}]`},
		{1001, 99, "grouped", `[]`},
		{1001, 20 * 86400, "inhibited", `[{"stage": "inhibit", "rule_id": "i1", "rule_name": "Host down", "matched": true, "why": ""}]`},
		{1002, 60, "dropped", `[{"stage": "drop", "rule_id": "p1", "matched": true, "why": ""}]`},
	} {
		s.Exec(`INSERT INTO verdict (account_id, verdict_id, decided_at, event_id, channel_id, outcome, alert_id, incident_id, integration_id, event_time, severity, body, trace)
			VALUES ($1, $2, $3, $4, $5, $6, '', '', 5, $7, 'Info', $8, $9)`, apitest.AccountA, i+1, now*1000, fmt.Sprintf("663a1b2c3d4e5f6789aa00%02d", i), v.channel, v.outcome,
			now-v.age, fmt.Sprintf(`{"title": "noise %d"}`, i), v.trace)
	}
	s.Scenarios(t, "/alert/rule/hits", []apitest.Scenario{
		{Name: "of a week", Body: `{"channel_id": 1001}`, Golden: "alert_rule_hits"},
		{Name: "too long", Body: `{"channel_id": 1001, "days": 32}`, Code: "InvalidParameter", Says: []string{"days"}},
		{Name: "an unknown channel", Body: `{"channel_id": 9}`, Code: "ResourceNotFound"},
		{Name: "another account's", Key: apitest.KeyB, Body: `{"channel_id": 1001}`, Code: "ResourceNotFound"},
	})
	answers(t, s, apitest.KeyA, "/alert/rule/hits", `{"channel_id": 1001, "days": 31}`, "Host down")
}
