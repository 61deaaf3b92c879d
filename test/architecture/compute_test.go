package architecture

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"testing"
)

// slow are functions that parse, render or compute for longer than a writer may wait.
var slow = []string{
	"tocsin/internal/core/render.Parse",
	"(*tocsin/internal/core/render.Template).Render",
	"(*tocsin/internal/core/render.Template).RenderWithin",
	"tocsin/internal/core/symbols.Parse",
	"tocsin/internal/core/symbols.Frames",
	"(*tocsin/internal/core/symbols.Map).Find",
	"tocsin/internal/core/stack.Parse",
	"tocsin/internal/core/shiftfeed.Render",
	"(*encoding/csv.Writer).Write",
	"compress/gzip.NewReader",
	"compress/gzip.NewWriter",
	"compress/zlib.NewReader",
	"(github.com/yuin/goldmark.Markdown).Convert",
	"tocsin/internal/engine/webhook.fill",
	"(*tocsin/internal/schedule.stored).shifts",
	"tocsin/internal/schedule.absenceEffects",
	"(*tocsin/internal/schedule.stored).warnings",
	"(*tocsin/internal/schedule.stored).shiftsAt",
}

// assemble names the functions of the program in literals, and calls none of them.
const assemble = "(*tocsin/internal/app.App).assemble"

// caller is a function, or a literal of one, with the functions that it calls by name.
type caller struct {
	at      string
	name    string // of a function; empty: a literal
	calls   []string
	writing bool // it runs in a transaction
}

// Nothing that takes long is called in a transaction, as far as calls by name show: all writers of an account wait for one,
// with the embedded engine those of all accounts.
func TestNothingIsComputedInTransaction(t *testing.T) {
	var all []caller
	for _, s := range sources(t) {
		writes := writeFunctions(s)
		for _, f := range s.files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if n.Body == nil {
						return false
					}
					object, _ := s.info.Defs[n.Name].(*types.Func)
					all = append(all, caller{s.at(n), object.FullName(), called(s, n.Body), writes[object.FullName()] || takesTx(object.Signature())})
				case *ast.FuncLit:
					signature, _ := s.info.TypeOf(n).(*types.Signature)
					all = append(all, caller{at: s.at(n), calls: called(s, n.Body), writing: takesTx(signature)})
				}
				return true
			})
		}
	}
	reach := map[string]string{} // function that takes long, or calls one, and what it calls
	for _, name := range slow {
		reach[name] = name
	}
	for grown := -1; grown != len(reach); {
		grown = len(reach)
		for _, c := range all {
			if c.name == "" || c.name == assemble || reach[c.name] != "" {
				continue
			}
			for _, callee := range c.calls {
				if reach[callee] != "" {
					reach[c.name] = callee
				}
			}
		}
	}
	found := map[string]bool{}
	for _, c := range all {
		for _, callee := range c.calls {
			if c.writing && reach[callee] != "" {
				found[c.at+" is in a transaction and calls "+callee+", which takes long by way of "+reach[callee]] = true
			}
		}
	}
	for _, text := range slices.Sorted(maps.Keys(found)) {
		t.Error(text)
	}
	if len(all) < 5000 || reach["(tocsin/internal/template.Texts).examine"] == "" || reach["tocsin/internal/template.preview"] == "" {
		t.Errorf("%d functions, %d take long: the calls are not read", len(all), len(reach))
	}
}

// called returns the names of the functions that a body calls, also in literals of functions.
func called(s *source, body *ast.BlockStmt) (names []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		var id *ast.Ident
		switch fn := ast.Unparen(call.Fun).(type) {
		case *ast.Ident:
			id = fn
		case *ast.SelectorExpr:
			id = fn.Sel
		case *ast.IndexExpr:
			if sel, ok := fn.X.(*ast.SelectorExpr); ok {
				id = sel.Sel
			}
		}
		if id != nil {
			if f, ok := s.info.Uses[id].(*types.Func); ok {
				names = append(names, f.Origin().FullName())
			}
		}
		return true
	})
	return names
}

// takesTx reports whether a function gets a transaction.
func takesTx(signature *types.Signature) bool {
	for v := range signature.Params().Variables() {
		if v.Type().String() == "*tocsin/internal/platform/db.Tx" {
			return true
		}
	}
	return false
}

// writeFunctions returns the functions that operations run in a write transaction: the argument of Do, the last one of
// DoAfter and DoComputed.
func writeFunctions(s *source) map[string]bool {
	names := map[string]bool{}
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok || s.info.TypeOf(literal) == nil || s.info.TypeOf(literal).String() != "tocsin/internal/api.Op" {
				return true
			}
			write, do := false, ""
			for _, e := range literal.Elts {
				member, ok := e.(*ast.KeyValueExpr)
				if !ok {
					continue
				}
				switch key, _ := member.Key.(*ast.Ident); key.Name {
				case "Effect":
					effect, _ := member.Value.(*ast.SelectorExpr)
					write = effect != nil && effect.Sel.Name == "Write"
				case "Do":
					if call, ok := member.Value.(*ast.CallExpr); ok && len(call.Args) > 0 {
						do = nameOf(s, call.Args[len(call.Args)-1])
					}
				}
			}
			if write && do != "" {
				names[do] = true
			}
			return true
		})
	}
	return names
}

// nameOf returns the full name of a function that is passed by name.
func nameOf(s *source, x ast.Expr) string {
	var id *ast.Ident
	switch x := x.(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	default:
		return ""
	}
	if f, ok := s.info.Uses[id].(*types.Func); ok {
		return f.FullName()
	}
	return ""
}
