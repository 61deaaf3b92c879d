package demo

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/core/evaluate"
)

// The rules fire and recover by themselves, one after the other.
func TestRulesOfDemoFireInTurns(t *testing.T) {
	t.Parallel()
	zone, _ := time.LoadLocation(timeZone)
	begin := apitest.Now.Truncate(time.Hour)
	type watched struct {
		*evaluate.Watch
		name  string
		every time.Duration
		query string
		seen  map[string]int
	}
	var all []watched
	for _, rule := range configured(momentsAt(apitest.Now)).AlertRules {
		w, err := evaluate.New(rule.Watchable(zone), "")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, watched{w, rule.Name, rule.Watchable(zone).Interval, rule.RuleConfigs.Queries[0].Expr, map[string]int{}})
	}
	for at := begin; at.Before(begin.Add(3 * time.Hour)); at = at.Add(30 * time.Second) {
		open := 0
		if logsDown(at.Add(-time.Minute)) {
			open++ // the alert that the logs do not answer
		}
		for _, w := range all {
			if at.Sub(begin)%w.every == 0 {
				a := evaluate.Answer{Query: "A"}
				for _, line := range graphs[w.query] {
					if v, there := line.value(at); there {
						a.Rows = append(a.Rows, evaluate.Row{Labels: line.labels, Values: evaluate.Values{{Number: v}}})
					}
				}
				if w.query == cardsQuery && logsDown(at) {
					a = evaluate.Answer{Query: "A", Failed: &evaluate.Failure{Kind: evaluate.Unreachable}}
				}
				for _, one := range w.Step(at, []evaluate.Answer{a}).Transitions {
					w.seen[string(one.To)+" "+one.Severity]++
				}
			}
			for _, i := range w.Instances() {
				if i.Firing {
					open++
				}
			}
		}
		if open > 1 {
			t.Errorf("%d alerts are open at %s", open, at.Format("15:04:05"))
		}
	}
	for _, w := range all {
		if n := w.seen["recovered Critical"] + w.seen["recovered Warning"] + w.seen["gone Critical"]; n < 2 || n > 9 {
			t.Errorf("%s ended %d times in three hours: %v", w.name, n, w.seen)
		}
		if w.name == "Checkout is slow" && (w.seen["begin Warning"] != 9 || w.seen["rise Critical"] != 9) {
			t.Errorf("%s: %v", w.name, w.seen)
		}
	}
}

// Graphs have a past: the value of a moment in a range is that of the moment itself.
func TestMetricsHavePast(t *testing.T) {
	t.Parallel()
	now := apitest.Now
	get := func(path string, form url.Values) (status int, result []struct {
		Value  [2]any
		Values [][2]any
	}) {
		t.Helper()
		w := httptest.NewRecorder()
		Metrics{func() time.Time { return now }}.ServeHTTP(w, httptest.NewRequest("GET", path+"?"+form.Encode(), nil))
		var reply struct {
			Data struct{ Result json.RawMessage }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil {
			t.Fatal(err)
		}
		if w.Code == 200 {
			if err := json.Unmarshal(reply.Data.Result, &result); err != nil {
				t.Fatal(err)
			}
		}
		return w.Code, result
	}
	_, ranged := get("/api/v1/query_range", url.Values{"query": {diskQuery}, "start": {"1795255200"}, "end": {"1795258800"}, "step": {"15"}})
	if len(ranged) != 3 || len(ranged[0].Values) != 241 {
		t.Fatalf("%d lines", len(ranged))
	}
	_, one := get("/api/v1/query", url.Values{"query": {diskQuery}, "time": {"1795255800"}})
	if len(one) != 3 || one[0].Value != ranged[0].Values[40] {
		t.Errorf("%v at the moment, %v in the range", one[0].Value, ranged[0].Values[40])
	}
	if status, _ := get("/api/v1/query", url.Values{"query": {"rate(x[5m])"}}); status != 400 {
		t.Errorf("an unknown query has status %d", status)
	}
	now = now.Truncate(30 * time.Minute).Add(20 * time.Minute)
	if status, _ := get("/loki/api/v1/query", url.Values{"query": {cardsQuery}}); status != 503 {
		t.Errorf("the logs that are down have status %d", status)
	}
}
