package evaluate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPromtoolAgrees evaluates rules with for and keep_firing_for as anydata with recovery nodata, and has Prometheus' own
// test program confirm each alert at each moment. TOCSIN_PROMTOOL_RULES sets the number of rules.
func TestPromtoolAgrees(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is missing (apt-get install prometheus)")
	}
	rules := setting(t, "TOCSIN_PROMTOOL_RULES", 10)
	seed := setting(t, "TOCSIN_MONITOR_SEED", int(rand.Uint32()))
	t.Logf("seed %d, %d rules", seed, rules)
	dir := t.TempDir()
	for first := 0; first < rules; first += 20 {
		file := promtoolFiles(t, dir, rand.New(rand.NewPCG(uint64(seed), uint64(first))), min(20, rules-first))
		if out, err := exec.Command(promtool, "test", "rules", file).CombinedOutput(); err != nil {
			t.Fatalf("seed %d, from rule %d: %v\n%.4000s", seed, first, err, out)
		}
	}
}

const promtoolSteps = 25

// promtoolFiles writes rules and their test with the alerts of the watch, and returns the name of the test.
func promtoolFiles(t *testing.T, dir string, r *rand.Rand, rules int) string {
	var groups, series, alerts strings.Builder
	for n := range rules {
		hold, keep := pick(r, 0, 30, 60, 90, 150, 300), pick(r, 0, 30, 60, 90, 180)
		fmt.Fprintf(&groups, "  - alert: R%d\n    expr: x%d > 0\n    for: %ds\n    keep_firing_for: %ds\n", n, n, hold, keep)
		rule := anydataRule(promTimes(hold), promTimes(keep), nil)
		b := newBench(t, rule)
		b.at = time.Unix(0, 0)
		values := map[string]string{}
		firing := map[string]bool{}
		for minute := range promtoolSteps {
			var rows []string
			for _, host := range []string{"a", "b"} {
				on := r.IntN(4) > 0
				values[host] += map[bool]string{true: " 1", false: " 0"}[on]
				if on {
					rows = append(rows, host+"=1")
				}
			}
			b.step(strings.Join(rows, " "))
			for _, x := range b.last.Transitions {
				firing[x.Labels["host"]] = x.To == Begin
			}
			fmt.Fprintf(&alerts, "  - eval_time: %dm\n    alertname: R%d\n    exp_alerts:\n", minute, n)
			for _, host := range slices.Sorted(func(yield func(string) bool) {
				for host, on := range firing {
					if on && !yield(host) {
						return
					}
				}
			}) {
				fmt.Fprintf(&alerts, "    - exp_labels: {host: %s}\n", host)
			}
		}
		for host, list := range values {
			fmt.Fprintf(&series, "  - series: 'x%d{host=\"%s\"}'\n    values: '%s'\n", n, host, strings.TrimSpace(list))
		}
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("rules.yml", "groups:\n- name: g\n  interval: 1m\n  rules:\n"+groups.String())
	return write("test.yml", "rule_files: [rules.yml]\nevaluation_interval: 1m\ntests:\n- interval: 1m\n  input_series:\n"+series.String()+
		"  alert_rule_test:\n"+alerts.String())
}

// promTimes returns the evaluations in a row that a duration of Prometheus takes.
func promTimes(seconds int) int64 {
	if seconds == 0 {
		return 1
	}
	return int64(seconds+59)/60 + 1
}
