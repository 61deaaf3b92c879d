// Package architecture holds the tests that keep the project's structure as docs/architecture.md says it is:
// which package may know which, who reads the clock, and that every package says what it is for.
package architecture

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// floors lists the packages from the ground up. A package may import those on lower floors; rooms may
// import the rooms before them on their own line. What is not listed may not exist.
var floors = [][]string{
	{"fault", "clock", "id"},
	{"redact", "limit", "filter", "timeline", "escalate", "cursor", "render", "event", "pipeline", "decide"}, // pure
	{"source"}, {"source/sourcetest"}, {"source/standard", "source/prometheus", "source/grafana", "source/pagerduty", "source/zabbix", "source/sentry", "source/change"},
	{"check", "seal", "db"},
	{"reference", "revision", "work", "outbound", "news"},
	{"delivery", "sender"},
	{"sender/sendertest", "sender/mailtest", "sender/slack", "sender/teams", "sender/feishu", "sender/dingtalk", "sender/wecom", "sender/telegram", "sender/discord", "sender/ntfy", "sender/zoom"},
	{"sender/webhook", "sender/gateway", "sender/email"},
	{"object"},
	{"auth"},
	{"api"},
	{"role", "team", "person", "audit", "calendar", "schedule", "template", "field", "channel", "integration", "route", "enrichment", "alert", "incident", "datasource", "rum", "webhook", "preference", "notify", "escalation", "handover", "warroom", "explain", "triage", "silence", "change", "intake"},
	{"api/apitest"},
	{"accountfile"},
	{"demo"},
	{"app"},
	{"cli"},
}

// pure packages may import nothing of ours but the ground, and nothing that reaches the outside.
var pure = []string{"redact", "limit", "filter", "timeline", "escalate", "cursor", "render", "event", "pipeline", "decide", "source", "source/standard", "source/prometheus", "source/grafana", "source/pagerduty", "source/zabbix", "source/sentry", "source/change"}

type listed struct {
	ImportPath, Dir string
	Imports         []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,Imports", "tocsin/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := []listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func TestArrowsPointDown(t *testing.T) {
	place := map[string][2]int{}
	for floor, names := range floors {
		for i, name := range names {
			place["tocsin/internal/"+name] = [2]int{floor, i}
		}
	}
	for _, p := range packages(t) {
		if !strings.HasPrefix(p.ImportPath, "tocsin/internal/") {
			continue
		}
		at, ok := place[p.ImportPath]
		if !ok {
			t.Errorf("%s stands on no floor: give it its place in this table and in docs/architecture.md", p.ImportPath)
			continue
		}
		for _, i := range p.Imports {
			to, ours := place[i]
			if ours && (to[0] > at[0] || to[0] == at[0] && to[1] >= at[1]) {
				t.Errorf("%s imports %s, which stands above or beside it", p.ImportPath, i)
			}
		}
	}
}

func TestPureCoresReachNothing(t *testing.T) {
	outside := []string{"net/http", "net", "os", "database/sql", "log", "log/slog", "tocsin/internal/clock", "tocsin/internal/db"}
	for _, p := range packages(t) {
		if !slices.Contains(pure, strings.TrimPrefix(p.ImportPath, "tocsin/internal/")) {
			continue
		}
		for _, i := range p.Imports {
			if slices.Contains(outside, i) {
				t.Errorf("%s is pure and must not import %s", p.ImportPath, i)
			}
		}
	}
}

// readsClock lists who may call time.Now and time.Since, and why.
var readsClock = map[string]string{
	"clock":             "it is the clock",
	"api":               "measures how long a call took",
	"cli":               "says how long a command took",
	"app":               "keeps house",
	"outbound":          "measures how long an attempt took",
	"sender/sendertest": "is a service for tests",
	"sender/mailtest":   "is another",
}

func TestOnlyTheEdgeReadsTheClock(t *testing.T) {
	for _, p := range packages(t) {
		name, ours := strings.CutPrefix(p.ImportPath, "tocsin/internal/")
		if !ours || readsClock[name] != "" {
			continue
		}
		inspect(t, p.Dir, func(file string, n ast.Node) {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return
			}
			pkg, ok := call.X.(*ast.Ident)
			if ok && pkg.Name == "time" && (call.Sel.Name == "Now" || call.Sel.Name == "Since" || call.Sel.Name == "Until" || call.Sel.Name == "Sleep") {
				t.Errorf("%s uses time.%s: time is an argument", file, call.Sel.Name)
			}
		})
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range packages(t) {
		if !strings.HasPrefix(p.ImportPath, "tocsin/internal/") {
			continue
		}
		doc := ""
		for _, f := range packageSources(t, p.Dir) {
			parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			doc += parsed.Doc.Text()
		}
		if len(doc) < 80 || !strings.Contains(doc, "ust n") && !strings.Contains(doc, "never") && !strings.Contains(doc, " no ") {
			t.Errorf("%s: the package comment must say what it is for and what it must never do", p.ImportPath)
		}
	}
}

func packageSources(t *testing.T, dir string) []string {
	t.Helper()
	files := []string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != dir {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func inspect(t *testing.T, dir string, visit func(file string, n ast.Node)) {
	t.Helper()
	for _, f := range packageSources(t, dir) {
		parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			visit(f, n)
			return true
		})
	}
}
