package rulefile

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/core/evaluate"
)

var renew = flag.Bool("update", false, "write the golden files")

func words(word string) (string, bool) {
	s, ok := map[string]string{"critical": "Critical", "page": "Critical", "warning": "Warning", "info": "Info", "ok": "Ok"}[strings.ToLower(word)]
	return s, ok
}

// What becomes of each rule of a file is in the golden file beside it.
func TestGoldenImports(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("testdata/*.yml")
	if len(files) < 2 {
		t.Fatal("no files")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		items, err := Parse(string(text), words)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(items, json.Deterministic(true), jsontext.WithIndent("  "), json.WithMarshalers(json.MarshalFunc(func(d time.Duration) ([]byte, error) { return fmt.Appendf(nil, "%q", d), nil })))
		if err != nil {
			t.Fatal(err)
		}
		golden := file + ".golden.json"
		if *renew {
			os.WriteFile(golden, got, 0o600)
		}
		if want, _ := os.ReadFile(golden); string(want) != string(got) {
			t.Errorf("%s: got %s", file, got)
		}
		for _, i := range items {
			if i.Rule != nil {
				if err := evaluate.Check(i.Rule.Config); err != nil {
					t.Errorf("%s: %v", i.Name, err)
				}
			}
		}
	}
}

func TestNoRuleFiles(t *testing.T) {
	t.Parallel()
	rules := "groups: [{name: g, rules: [" + strings.Repeat("{record: a, expr: b},", MaxRules+1) + "]}]"
	for text, want := range map[string]string{
		"": "no groups", "{": "no rule file", "a: 1": "no groups", "groups: x": "no rule file", strings.Repeat("#", MaxBytes+1): "524288", rules: "1000",
		"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d]\ngroups: [*e,*e,*e,*e]": "no rule file",
	} {
		if _, err := Parse(text, words); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

func TestDurations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0": 0, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute, "1d": 24 * time.Hour, "2w": 14 * 24 * time.Hour, "1y": 365 * 24 * time.Hour, "100ms": 100 * time.Millisecond,
		"": -1, "5": -1, "m": -1, "1.5h": -1, "1m1h": -1, "99999999999999999999y": -1, "101y": -1,
	} {
		if got, err := duration(text); err != nil && want != -1 || err == nil && got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// Rules with for and keep_firing_for alert as in Prometheus' own test program, and the proof finds no difference.
func TestImportedRulesEqualPromtool(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is missing (apt-get install prometheus)")
	}
	const rules, steps = 20, 25
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	var groups, series, alerts strings.Builder
	for n := range rules {
		hold := []string{"0s", "30s", "1m", "90s", "2m30s", "5m"}[r.IntN(6)]
		keep := []string{"0s", "30s", "1m", "90s", "3m"}[r.IntN(5)]
		fmt.Fprintf(&groups, "  - alert: R%d\n    expr: x%d > 0\n    for: %s\n    keep_firing_for: %s\n    labels: {severity: page}\n", n, n, hold, keep)
	}
	text := "groups:\n- name: g\n  interval: 1m\n  rules:\n" + groups.String()
	items, err := Parse(text, words)
	if err != nil || len(items) != rules {
		t.Fatalf("%d rules, %v", len(items), err)
	}
	for n, item := range items {
		on := map[string][]bool{}
		for _, host := range []string{"a", "b"} {
			values := ""
			for range steps {
				on[host] = append(on[host], r.IntN(4) > 0)
				values += map[bool]string{true: " 1", false: " 0"}[on[host][len(on[host])-1]]
			}
			fmt.Fprintf(&series, "  - series: 'x%d{host=\"%s\"}'\n    values: '%s'\n", n, host, strings.TrimSpace(values))
		}
		rows := func(at time.Time) []evaluate.Answer {
			a := evaluate.Answer{Query: "A"}
			for _, host := range []string{"a", "b"} {
				if on[host][at.Unix()/60] {
					a.Rows = append(a.Rows, evaluate.Row{Labels: map[string]string{"host": host}, Values: evaluate.Values{{Number: 1}}})
				}
			}
			return []evaluate.Answer{a}
		}
		var moments []time.Time
		for minute := range steps {
			moments = append(moments, time.Unix(int64(minute)*60, 0))
		}
		if proof, err := Prove(item.Rule, moments, rows); err != nil || proof.Total != 0 {
			t.Errorf("%s: %+v, %v", item.Name, proof, err)
		}
		episodes, _, err := evaluate.Replay(evaluate.Rule{Config: item.Rule.Config, Interval: item.Rule.Interval}, moments, rows)
		if err != nil {
			t.Fatal(err)
		}
		for minute, at := range moments {
			fmt.Fprintf(&alerts, "  - eval_time: %dm\n    alertname: R%d\n    exp_alerts:\n", minute, n)
			for _, e := range episodes {
				if !e.Begin.At.After(at) && (e.To == "" || e.End.After(at)) {
					fmt.Fprintf(&alerts, "    - exp_labels: {host: %s, severity: page}\n", e.Begin.Labels["host"])
				}
			}
		}
	}
	dir := t.TempDir()
	test := "rule_files: [rules.yml]\nevaluation_interval: 1m\ntests:\n- interval: 1m\n  input_series:\n" + series.String() + "  alert_rule_test:\n" + alerts.String()
	for name, text := range map[string]string{"rules.yml": text, "test.yml": test} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(promtool, "test", "rules", filepath.Join(dir, "test.yml")).CombinedOutput(); err != nil {
		t.Fatalf("seed %d: %v\n%.4000s", seed, err, out)
	}
}

// A rule that was changed behind its import differs, and the proof shows where.
func TestProveShowsDifferences(t *testing.T) {
	t.Parallel()
	items, err := Parse("groups: [{name: g, interval: 1m, rules: [{alert: A, expr: up, for: 2m}]}]", words)
	if err != nil {
		t.Fatal(err)
	}
	items[0].Rule.Config.CheckAnydata.AlertingCheckTimes = 2
	var moments []time.Time
	for minute := range 5 {
		moments = append(moments, time.Unix(int64(minute)*60, 0))
	}
	proof, err := Prove(items[0].Rule, moments, func(time.Time) []evaluate.Answer {
		return []evaluate.Answer{{Query: "A", Rows: []evaluate.Row{{Labels: map[string]string{"host": "a"}}}}}
	})
	if err != nil || proof.Total != 1 || proof.Alerts != 1 || !strings.Contains(proof.Differences[0], "1970-01-01T00:01:00Z") {
		t.Errorf("%+v, %v", proof, err)
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.yml")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		items, err := Parse(text, words)
		if err != nil {
			return
		}
		names := map[string]bool{}
		for _, i := range items {
			if (i.Rule == nil) != (i.Why != "") {
				t.Errorf("%+v", i)
			}
			if i.Rule == nil {
				continue
			}
			if names[i.Rule.Name] && !strings.HasSuffix(i.Name, ")") {
				t.Errorf("%q twice: %v", i.Rule.Name, slices.Sorted(maps.Keys(names)))
			}
			names[i.Rule.Name] = true
			if _, err := evaluate.ParseSchedule(i.Rule.CronPattern); err != nil {
				t.Error(err)
			}
		}
	})
}
