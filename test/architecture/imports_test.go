// Package architecture holds the tests that keep the project's structure as docs/architecture.md describes it: which
// package may import which, which package may touch which table, that no statement reads all of a table that grows,
// who reads the clock, that comments and documents keep to the glossary. It reads source code and no more: it must
// never be imported.
package architecture

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// layer is a group of packages. A package may import those of lower layers, and those before it in its own layer.
type layer struct {
	name     string
	packages []string
}

// layers lists all packages below internal, lowest first. A package that is not listed fails the test.
var layers = []layer{
	{"ground: errors, the clock, identifiers", []string{"platform/fault", "platform/clock", "platform/id"}},
	{"pure platform", []string{"platform/redact", "platform/ratelimit", "platform/cursor", "platform/fair"}},
	{"core: pure decisions", []string{"core/sentence", "core/event", "core/filter", "core/pipeline", "core/oncall", "core/escalationplan", "core/render", "core/decide", "core/lint", "core/similar", "core/insight", "core/shiftfeed", "core/fairness", "core/stack", "core/symbols", "core/rumerror", "core/distinct", "core/condition", "core/evaluate", "core/rulefile"}},
	{"sources: readers of what others send", []string{
		"source", "source/standard", "source/prometheus", "source/grafana", "source/change", "source/pagerduty", "source/zabbix", "source/sentry", "source/browser",
	}},
	{"platform", []string{"platform/secret", "platform/db/driver", "platform/db/migrations", "platform/db/sqlite", "platform/db/postgres", "platform/db/queue", "platform/db", "platform/egress", "platform/jobs", "platform/certificate", "platform/hold", "platform/moved", "platform/copydb", "platform/node", "platform/delivery"}},
	{"shared by the nouns", []string{"activity", "configstore"}},
	{"senders: one package for each service", []string{
		"sender", "sender/sendertest", "sender/mailtest", "sender/twiliotest", "sender/webpushtest", "sender/slack", "sender/teams", "sender/feishu", "sender/dingtalk", "sender/wecom",
		"sender/telegram", "sender/discord", "sender/ntfy", "sender/zoom", "sender/webhook", "sender/gateway", "sender/email", "sender/twilio", "sender/webpush",
	}},
	{"queriers: one package for each type of datasource", []string{"querier", "querier/prometheus", "querier/loki", "querier/victorialogs", "querier/sqldb", "querier/mysql", "querier/postgres", "querier/clickhouse", "querier/oracle", "querier/elasticsearch", "querier/sls", "querier/queriertest"}},
	{"frame", []string{"auth", "api", "module", "linkpage"}},
	{"nouns", []string{
		"role", "team", "session", "credential", "push", "person", "audit", "signin", "calendar", "absence", "schedule", "schedulefeed", "template", "field", "channel", "integration", "route", "enrichment",
		"alert", "changeevent", "incident", "datasource", "edge", "rulefolder", "alertrule", "rum", "preference", "warroom", "statuspage", "sourcemap", "sealkey",
	}},
	{"engine: everything with a background job", []string{
		"engine/webhook", "engine/notify", "engine/untold", "engine/escalation", "engine/phone", "engine/shiftnotice", "engine/explain", "engine/lint", "engine/triage", "engine/silencewarning", "engine/selfalert", "engine/machine", "engine/ingest", "engine/rumintake", "engine/evaluator", "engine/evaluator/remote", "engine/monitor",
	}},
	{"figures: what reads what the others stored", []string{"insight"}},
	{"tests of databases, sources and operations", []string{"platform/db/dbtest", "source/sourcetest", "api/apitest"}},
	{"program", []string{"accountfile", "demo", "health", "console/locale", "console/asset", "console/live", "console/picture", "console/page", "console/channel", "console/configuration", "console/incident", "console/insight", "console/monitor", "console/people", "console/rum", "console/schedule", "console/status", "console/webhook", "console", "app", "cli"}},
}

// parts lists the parts of the console. None imports another: what two of them show stands in console/page.
var parts = []string{
	"console/channel", "console/configuration", "console/incident", "console/insight", "console/monitor", "console/people", "console/rum",
	"console/schedule", "console/status", "console/webhook",
}

func TestPartsOfConsoleImportNoOther(t *testing.T) {
	found := 0
	for _, p := range packages(t) {
		if !slices.Contains(parts, p.name()) {
			continue
		}
		found++
		for _, i := range p.Imports {
			if name := strings.TrimPrefix(i, "tocsin/internal/"); slices.Contains(parts, name) || name == "console" {
				t.Errorf("%s imports %s", p.name(), i)
			}
		}
	}
	if found != len(parts) {
		t.Errorf("%d parts were found, want %d", found, len(parts))
	}
}

// pure lists the layers whose packages import nothing of the project but each other and the lowest layer, and nothing
// that does I/O.
var pure = []string{"pure platform", "core: pure decisions", "sources: readers of what others send"}

// outside lists the packages of the standard library that a pure package must not import.
var outside = []string{"net/http", "net", "os", "os/exec", "database/sql", "log", "log/slog", "syscall"}

type listed struct {
	ImportPath, Dir string
	Imports         []string
}

func (p listed) name() string { return strings.TrimPrefix(p.ImportPath, "tocsin/internal/") }

// packages returns the packages below internal.
func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,Imports", "tocsin/internal/...").Output()
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

// standing returns the index of a package's layer, and the package's index in it.
func standing(name string) (at [2]int, found bool) {
	for i, l := range layers {
		if n := slices.Index(l.packages, name); n >= 0 {
			return [2]int{i, n}, true
		}
	}
	return at, false
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range packages(t) {
		at, ok := standing(p.name())
		if !ok {
			t.Errorf("%s is in no layer: add it to this table and to docs/architecture.md", p.name())
			continue
		}
		for _, i := range p.Imports {
			to, ours := standing(strings.TrimPrefix(i, "tocsin/internal/"))
			if ours && slices.Compare(to[:], at[:]) >= 0 {
				t.Errorf("%s (%s) imports %s (%s), which does not stand below it", p.name(), layers[at[0]].name, i, layers[to[0]].name)
			}
		}
	}
}

func TestPureLayersReachNothing(t *testing.T) {
	for _, p := range packages(t) {
		at, ok := standing(p.name())
		if !ok || !slices.Contains(pure, layers[at[0]].name) {
			continue
		}
		for _, i := range p.Imports {
			to, ours := standing(strings.TrimPrefix(i, "tocsin/internal/"))
			clock := i == "tocsin/internal/platform/clock"
			if slices.Contains(outside, i) || clock || ours && to[0] != 0 && !slices.Contains(pure, layers[to[0]].name) {
				t.Errorf("%s is pure and must not import %s", p.name(), i)
			}
		}
	}
}

// readsClock lists the packages that may call time.Now, time.Since, time.Until and time.Sleep, with the reason.
var readsClock = map[string]string{
	"platform/clock":       "it is the clock",
	"api":                  "measures how long a call took",
	"cli":                  "prints how long a command took",
	"console":              "limits how long a write to a stream may take",
	"platform/fair":        "measures how long calls take, and lets flows pause",
	"platform/egress":      "measures how long an attempt took",
	"querier/sqldb":        "measures how long the phases of a test took",
	"querier/sls":          "signs requests with their moment",
	"platform/db":          "measures commits, bounds how long callers wait, and pauses between attempts to migrate",
	"platform/db/queue":    "measures how long accounts write, and lets them rest",
	"platform/db/sqlite":   "waits for the lock of another process",
	"platform/db/postgres": "sets deadlines of connections to a database server, and waits before it connects again",
	"platform/jobs":        "measures how long rounds take, and sleeps between runs",
	"querier/queriertest":  "waits for real servers",
	"sender/sendertest":    "is a service for tests",
	"sender/mailtest":      "is a mail server for tests",
}

func TestOnlyEdgeReadsClock(t *testing.T) {
	reads := []string{"Now", "Since", "Until", "Sleep"}
	for _, p := range packages(t) {
		if readsClock[p.name()] != "" {
			continue
		}
		inspect(t, p.Dir, func(file string, n ast.Node) {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return
			}
			if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "time" && slices.Contains(reads, s.Sel.Name) {
				t.Errorf("%s uses time.%s: time is an argument", file, s.Sel.Name)
			}
		})
	}
}

// never matches the part of a package comment that names what the package must not do.
var never = regexp.MustCompile(`\b(must (never|not|no|hold no)|never|may not|does not|do not)\b`)

func TestEveryPackageHasItsComment(t *testing.T) {
	for _, p := range packages(t) {
		var comments []string
		for _, f := range goSources(t, p.Dir) {
			parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			if text := parsed.Doc.Text(); text != "" {
				comments = append(comments, text)
			}
		}
		if len(comments) != 1 || len(comments[0]) < 80 || !never.MatchString(comments[0]) {
			t.Errorf("%s has %d package comments: want one, with what the package is for and what it must never do", p.name(), len(comments))
		}
	}
}

// goSources returns the files of a package's folder, without its tests.
func goSources(t *testing.T, dir string) []string {
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
	for _, f := range goSources(t, dir) {
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
