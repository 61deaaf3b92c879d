package architecture

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"tocsin/internal/platform/db"
)

func itoa(n int) string { return strconv.Itoa(n) }

// statement is one SQL text that a package may run.
type statement struct {
	pkg, at, text string
}

// unreadable lists the texts that functions build in ways that this evaluator cannot follow, with the test that checks
// their plans instead.
var unreadable = map[string]string{
	"engine/webhook/counters.go":             "the columns of the counts are written by a loop; TestPlans of webhook holds them",
	"engine/webhook/total.go":                "likewise",
	"person/person.go":                       "a list of placeholders; the rows are found by the primary key of person, which does not grow",
	"platform/db/driver/query.go":            "hands on what it is given",
	"platform/db/sqlite/engine.go":           "pragmas",
	"platform/db/sqlite/backup.go":           "likewise",
	"platform/db/sqlite/catalogue.go":        "likewise",
	"platform/db/sqlite/conn.go":             "hands on what it is given",
	"platform/db/postgres/catalogue.go":      "names tables and columns as the catalogue does",
	"platform/db/postgres/partition.go":      "names parts of tables; its tests run every statement",
	"platform/db/postgres/partition_drop.go": "likewise",
	"platform/db/postgres/conn.go":           "hands on what it is given",
	"platform/db/postgres/rows.go":           "likewise, and what Rows makes of tables and columns",
	"platform/db/postgres/statistics.go":     "names tables as the catalogue does",
	"platform/db/catalogue.go":               "names tables and columns as the catalogue does, for copies of whole tables",
	"platform/db/fill.go":                    "names tables as the catalogue does, for copies of whole tables",
	"platform/db/rows.go":                    "inserts into and updates a table and columns that the call names; the tests of Insert, Update and Append run them",
	"platform/db/tx.go":                      "hands on what it is given",
	"platform/db/text.go":                    "hands on what it is given, which is read at the calls",
	"platform/jobs/roundrobin.go":            "hands on what it is given, which is read at the calls",
	"platform/jobs/overdue.go":               "hands on what it is given, which is read at the calls",
	"platform/db/read.go":                    "begins transactions, and hands on what it is given",
	"platform/db/versions.go":                "hands on what it is given, which is a constant there",
	"platform/db/commit.go":                  "begins transactions as the engine does",
	"configstore/known.go":                   "hands on what packages register, which are constants there",
}

// only returns the engine that a statement is for: it is in its package. Empty: it is for both.
func (s statement) only() string {
	for _, engine := range []string{"sqlite", "postgres"} {
		if strings.HasPrefix(s.at, "platform/db/"+engine+"/") {
			return engine
		}
	}
	return ""
}

// statements returns every SQL text of the program: constants that begin as a statement does, and for every call that
// takes a query the values that its argument may have.
func statements(t *testing.T) []statement {
	t.Helper()
	texts.Do(func() {
		for _, s := range sources(t) {
			if !strings.HasPrefix(s.name, "querier/") { // these ask the databases of others
				addTexts(s)
			}
		}
	})
	for _, at := range texts.unread {
		t.Errorf("%s: the SQL text cannot be read from the source: make it of constants, or list it with the test that holds its plan", at)
	}
	return texts.all
}

// texts holds what statements returns, which takes long to find, and where texts are that cannot be read.
var texts struct {
	sync.Once
	all    []statement
	unread []string
}

// addTexts adds the SQL texts of a package.
func addTexts(s *source) {
	seen := map[string]bool{}
	add := func(n ast.Node, text string) {
		text = strings.TrimSpace(text)
		if begins.MatchString(text) && !seen[text] && !copying.MatchString(text) {
			seen[text] = true
			texts.all = append(texts.all, statement{s.name, s.at(n), text})
		}
	}
	e := evaluator{source: s}
	for _, f := range s.files {
		inside := map[ast.Expr]bool{} // parts of a larger constant or text
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if formats(s, call) {
					inside[call.Args[0]] = true
				}
				for _, arg := range queries(s, call) {
					all, ok := e.texts(arg)
					if !ok && unreadable[strings.Split(s.at(arg), ":")[0]] == "" {
						texts.unread = append(texts.unread, s.at(arg))
					}
					for _, text := range all {
						add(arg, text)
					}
				}
			}
			if b, ok := n.(*ast.BinaryExpr); ok && b.Op == token.ADD {
				inside[b.X], inside[b.Y] = true, true
			}
			if x, ok := n.(ast.Expr); ok && !inside[x] {
				if v := s.info.Types[x].Value; v != nil && v.Kind() == constant.String && !part(s, f, x) {
					add(x, constant.StringVal(v))
				}
			}
			return true
		})
	}
}

// formats reports whether a call is one of fmt.Sprintf, whose first argument is not yet a statement.
func formats(s *source, call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	fn := ok && s.info.Uses[f.Sel] != nil && s.info.Uses[f.Sel].Pkg() != nil
	return fn && s.info.Uses[f.Sel].Pkg().Path() == "fmt" && f.Sel.Name == "Sprintf"
}

var begins = regexp.MustCompile(`^(SELECT|INSERT|UPDATE|DELETE|WITH|REPLACE)\s`)

// copying finds the statements about the tables that a database has only while a copy fills it: a few rows, which the tests of
// package copydb write and read on both engines. A table "rowid" there is none: it is a column whose name this evaluator takes
// for that of any table.
var copying = regexp.MustCompile(`\b(copy_origin|copy_progress)\b|(FROM|UPDATE|INTO) "rowid"`)

// part reports whether a constant is declared to be concatenated with others: then only the result runs.
func part(s *source, f *ast.File, x ast.Expr) bool {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			for i, value := range v.Values {
				if value == x {
					return joined(s)[s.info.Defs[v.Names[i]]]
				}
			}
		}
	}
	return false
}

// joined returns the constants that stand in a concatenation somewhere in their package.
func joined(s *source) map[types.Object]bool {
	all := map[types.Object]bool{}
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if b, ok := n.(*ast.BinaryExpr); ok && b.Op == token.ADD {
				for _, side := range []ast.Expr{b.X, b.Y} {
					if id, ok := side.(*ast.Ident); ok {
						all[s.info.Uses[id]] = true
					}
				}
			}
			return true
		})
	}
	return all
}

// queries returns the arguments of a call that are SQL texts: those of parameters named query or update.
func queries(s *source, call *ast.CallExpr) (args []ast.Expr) {
	sig, ok := s.info.Types[call.Fun].Type.(*types.Signature)
	for i := 0; ok && i < min(sig.Params().Len(), len(call.Args)); i++ {
		p := sig.Params().At(i)
		if p.Type() == types.Typ[types.String] && (p.Name() == "query" || p.Name() == "update") {
			args = append(args, call.Args[i])
		}
	}
	return args
}

// evaluator finds the texts that an expression may have: constants, and texts that one package builds from them through
// variables, fields, parameters and functions. It assumes that every assignment happens. So it may return texts that
// never run, but it misses none that does.
type evaluator struct {
	source *source
	active []types.Object // being evaluated, so that loops end
}

func (e *evaluator) texts(x ast.Expr) ([]string, bool) {
	if v := e.source.info.Types[x].Value; v != nil {
		if v.Kind() == constant.String {
			return []string{constant.StringVal(v)}, true
		}
		return []string{v.String()}, true
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return e.texts(x.X)
	case *ast.BinaryExpr:
		left, ok := e.texts(x.X)
		right, both := e.texts(x.Y)
		return product(left, right), ok && both
	case *ast.Ident:
		return e.object(e.source.info.Uses[x])
	case *ast.SelectorExpr:
		return e.object(e.source.info.Uses[x.Sel])
	case *ast.IndexExpr:
		return e.texts(x.X)
	case *ast.CompositeLit:
		return e.elements(x)
	case *ast.CallExpr:
		return e.call(x)
	}
	return nil, false
}

func product(left, right []string) (all []string) {
	for _, l := range left {
		for _, r := range right {
			all = append(all, l+r)
		}
	}
	return all
}

func (e *evaluator) elements(x *ast.CompositeLit) (all []string, ok bool) {
	ok = true
	for _, element := range x.Elts {
		if kv, keyed := element.(*ast.KeyValueExpr); keyed {
			element = kv.Value
		}
		if texts, good := e.texts(element); good {
			all = append(all, texts...)
		} else {
			ok = false
		}
	}
	return all, ok
}

func (e *evaluator) call(x *ast.CallExpr) ([]string, bool) {
	var fn types.Object
	switch f := x.Fun.(type) {
	case *ast.Ident:
		fn = e.source.info.Uses[f]
	case *ast.SelectorExpr:
		fn = e.source.info.Uses[f.Sel]
	}
	if fn == nil || fn.Pkg() == nil {
		return nil, false
	}
	switch fn.Pkg().Path() + "." + fn.Name() {
	case "strings.Replace", "strings.ReplaceAll":
		texts, ok := e.texts(x.Args[0])
		from, _ := e.texts(x.Args[1])
		to, _ := e.texts(x.Args[2])
		for i := range texts {
			texts[i] = strings.ReplaceAll(texts[i], from[0], to[0])
		}
		return texts, ok
	case "fmt.Sprintf":
		texts, ok := e.texts(x.Args[0])
		for i := range texts {
			texts[i] = strings.ReplaceAll(texts[i], "%d", "1")
			ok = ok && !strings.Contains(texts[i], "%") // other verbs name tables and columns
		}
		if !ok {
			return nil, false
		}
		return texts, true
	case "tocsin/internal/platform/db.Ahead":
		texts, ok := e.texts(x.Args[0])
		for i := range texts {
			texts[i] = db.Ahead(texts[i])
		}
		return texts, ok
	case "tocsin/internal/engine/webhook.numbered":
		return e.texts(x.Args[0])
	}
	all, ok := []string{}, false
	e.each(func(n ast.Node) {
		if d, is := n.(*ast.FuncDecl); is && e.source.info.Defs[d.Name] == fn {
			ast.Inspect(d.Body, func(n ast.Node) bool {
				if r, is := n.(*ast.ReturnStmt); is && len(r.Results) > 0 {
					var texts []string
					texts, ok = e.texts(r.Results[0])
					all = append(all, texts...)
				}
				return true
			})
		}
	})
	return all, ok
}

// each visits every node of the package.
func (e *evaluator) each(visit func(ast.Node)) {
	for _, f := range e.source.files {
		ast.Inspect(f, func(n ast.Node) bool { visit(n); return true })
	}
}

// object returns the texts that a variable, a field or a parameter may hold.
func (e *evaluator) object(o types.Object) (all []string, ok bool) {
	if o == nil || slices.Contains(e.active, o) {
		return nil, o != nil
	}
	e.active = append(e.active, o)
	defer func() { e.active = e.active[:len(e.active)-1] }()
	ok = true
	take := func(x ast.Expr) {
		texts, good := e.texts(x)
		all, ok = append(all, texts...), ok && good
	}
	e.each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if !e.is(left, o) {
					continue
				}
				switch {
				case n.Tok != token.ASSIGN && n.Tok != token.DEFINE:
					ok = false // which parts are joined depends on the path through the function
				case len(n.Rhs) == len(n.Lhs):
					take(n.Rhs[i])
				default:
					take(n.Rhs[0])
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if e.source.info.Defs[name] == o && i < len(n.Values) {
					take(n.Values[i])
				}
			}
		case *ast.RangeStmt:
			if n.Value != nil && e.is(n.Value, o) {
				take(n.X)
			}
		case *ast.CompositeLit:
			e.field(n, o, take)
		case *ast.CallExpr:
			e.argument(n, o, take)
		}
	})
	return all, ok && len(all) > 0
}

func (e *evaluator) is(x ast.Expr, o types.Object) bool {
	id, ok := x.(*ast.Ident)
	return ok && (e.source.info.Defs[id] == o || e.source.info.Uses[id] == o)
}

// field adds the value that a composite literal sets for the field o.
func (e *evaluator) field(x *ast.CompositeLit, o types.Object, take func(ast.Expr)) {
	t := e.source.info.Types[x].Type
	if t == nil {
		return
	}
	st, ok := t.Underlying().(*types.Struct)
	for i := 0; ok && i < len(x.Elts); i++ {
		if kv, keyed := x.Elts[i].(*ast.KeyValueExpr); keyed {
			if e.is(kv.Key, o) {
				take(kv.Value)
			}
		} else if st.Field(i) == o {
			take(x.Elts[i])
		}
	}
}

// argument adds the value that a call passes for the parameter o.
func (e *evaluator) argument(x *ast.CallExpr, o types.Object, take func(ast.Expr)) {
	sig, ok := e.source.info.Types[x.Fun].Type.(*types.Signature)
	for i := 0; ok && i < min(sig.Params().Len(), len(x.Args)); i++ {
		// A closure's parameter is an object of its own type expression, found by its position in the source.
		if p := sig.Params().At(i); p == o || p.Pos() == o.Pos() && p.Name() == o.Name() {
			take(x.Args[i])
		}
	}
}

func TestStatementsAreRead(t *testing.T) {
	all := statements(t)
	for _, want := range []string{
		`SELECT count(*) FROM feed WHERE account_id = $1 AND ref_id = $2 AND ($3 = '' OR $3 LIKE '%,' || type || ',%')`,                                                                                                              // of constants
		`SELECT feed_id, created_at, type, person_id, detail FROM feed WHERE account_id = $1 AND ref_id = $2 AND ($3 = '' OR $3 LIKE '%,' || type || ',%') AND ($4 = 0 OR feed_id > $4) ORDER BY feed_id LIMIT $5 + 0 OFFSET $6 + 0`, // by a variable
	} {
		if !slices.ContainsFunc(all, func(s statement) bool { return s.text == want }) {
			t.Errorf("not among the statements: %s", want)
		}
	}
	if len(all) < 300 {
		t.Errorf("%d statements, want all of them", len(all))
	}
}
