package deploy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// foreign are the metrics that Prometheus itself or its client library makes.
var foreign = map[string]bool{"up": true, "ALERTS": true, "go_goroutines": true, "process_resident_memory_bytes": true, "process_cpu_seconds_total": true}

// registered returns the names of the metrics that the program registers.
func registered(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, path := range files(t, "internal") {
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			for _, m := range regexp.MustCompile(`(?:Name: |NewDesc\()"(tocsin_[a-z_]+)"`).FindAllStringSubmatch(read(t, path), -1) {
				names[m[1]] = true
			}
		}
	}
	if len(names) < 20 {
		t.Fatal(names)
	}
	return names
}

// checkMetrics fails for each metric of an expression that does not exist.
func checkMetrics(t *testing.T, where, expr string, known map[string]bool) {
	t.Helper()
	metric := regexp.MustCompile(`\b(?:tocsin|process|go)_[a-z_]+|\bup\b`)
	found := metric.FindAllString(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(expr, ""), -1)
	if len(found) == 0 && expr != "vector(1)" {
		t.Errorf("%s: no metric in %s", where, expr)
	}
	for _, name := range found {
		base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		if !foreign[name] && !known[name] && !known[base] {
			t.Errorf("%s: there is no metric %s", where, name)
		}
	}
}

// alert is a rule of deploy/prometheus/tocsin.rules.yml.
type alert struct {
	Name        string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func alerts(t *testing.T) (list []alert) {
	t.Helper()
	var rules struct {
		Groups []struct {
			Rules []alert `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "deploy/prometheus/tocsin.rules.yml")), &rules); err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		list = append(list, g.Rules...)
	}
	if len(list) < 20 {
		t.Fatal(list)
	}
	return list
}

// Each alert asks for metrics that exist, names its section of the runbook, and has a test in which it fires and one in
// which it does not.
func TestAlertRules(t *testing.T) {
	known := registered(t)
	runbook := read(t, "docs/runbook.md")
	tests := read(t, "deploy/prometheus/tocsin.rules.test.yml")
	for _, a := range alerts(t) {
		checkMetrics(t, a.Name, a.Expr, known)
		if a.Labels["severity"] == "" || a.Annotations["summary"] == "" || a.Annotations["runbook"] != "docs/runbook.md#"+strings.ToLower(a.Name) {
			t.Errorf("%s has no severity, summary or section of the runbook: %v %v", a.Name, a.Labels, a.Annotations)
		}
		if !strings.Contains(runbook, "\n### "+a.Name+"\n") {
			t.Errorf("docs/runbook.md has no section %s", a.Name)
		}
		if !strings.Contains(tests, "- name: "+a.Name+" fires") || (!strings.Contains(tests, "- name: "+a.Name+" is quiet") && a.Name != "Watchdog") {
			t.Errorf("%s is not tested in tocsin.rules.test.yml", a.Name)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^### (\S+)$`).FindAllStringSubmatch(runbook, -1) {
		if !strings.Contains(read(t, "deploy/prometheus/tocsin.rules.yml"), "alert: "+m[1]+"\n") {
			t.Errorf("docs/runbook.md has a section %s, which is no alert", m[1])
		}
	}
}

func TestAlertRulesInPrometheus(t *testing.T) {
	promtool := needs(t, "promtool", "apt-get install prometheus")
	run(t, promtool, "check", "rules", "deploy/prometheus/tocsin.rules.yml")
	run(t, promtool, "test", "rules", "deploy/prometheus/tocsin.rules.test.yml")
	run(t, promtool, "check", "config", "deploy/prometheus/scrape.yml")
}

// dashboard returns the expressions of the dashboard by their panels.
func dashboard(t *testing.T) map[string][]string {
	t.Helper()
	var d struct {
		Panels []struct {
			Title   string                   `json:"title"`
			GridPos struct{ X, Y, W, H int } `json:"gridPos"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal([]byte(read(t, "deploy/grafana/tocsin.json")), &d); err != nil {
		t.Fatal(err)
	}
	list := map[string][]string{}
	taken := map[[2]int]string{} // the squares of the grid, and whose they are
	for _, p := range d.Panels {
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Errorf("%q overlaps %q at %d, %d", p.Title, other, x, y)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		for _, target := range p.Targets {
			list[p.Title] = append(list[p.Title], target.Expr)
		}
	}
	if len(list) < 20 {
		t.Fatal(list)
	}
	return list
}

func TestDashboardsMetricsExist(t *testing.T) {
	known := registered(t)
	for title, exprs := range dashboard(t) {
		for _, e := range exprs {
			checkMetrics(t, title, e, known)
		}
	}
}

// Prometheus can parse what the dashboard asks: as rules, with the variables that Grafana replaces.
func TestDashboardsExpressionsInPrometheus(t *testing.T) {
	promtool := needs(t, "promtool", "apt-get install prometheus")
	type rule struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	var rules []rule
	for _, exprs := range dashboard(t) {
		for _, e := range exprs {
			rules = append(rules, rule{"a:b", strings.NewReplacer("$__rate_interval", "1m", "$instance", ".*").Replace(e)})
		}
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, promtool, "check", "rules", "--lint=none", path)
}
