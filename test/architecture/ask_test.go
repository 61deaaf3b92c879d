package architecture

import (
	"go/ast"
	"go/constant"
	"go/types"
	"testing"
)

// TestPagesCallWithTypesOfOperations reads each call of an operation within the program and each table of operations: a call
// must name its path, and the types of the operation at the path. At run time it would be an internal error.
func TestPagesCallWithTypesOfOperations(t *testing.T) {
	operations := map[string][2]string{}
	for _, s := range sources(t) {
		for path, of := range operationTypes(s) {
			operations[path] = of
		}
	}
	if len(operations) < 200 {
		t.Errorf("the types of %d operations were found", len(operations))
	}
	calls := 0
	for _, s := range sources(t) {
		for _, f := range s.files {
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				path, in, out, ok := asks(s, call)
				if !ok {
					return true
				}
				calls++
				want, known := operations[path]
				switch {
				case path == "":
					t.Errorf("%s: the path is not written out", s.at(call))
				case !known:
					t.Errorf("%s: there is no operation %s whose types can be read", s.at(call), path)
				case want != [2]string{in, out}:
					t.Errorf("%s: %s takes %s and answers %s, called with %s for %s", s.at(call), path, want[0], want[1], in, out)
				}
				return true
			})
		}
	}
	if calls < 200 {
		t.Errorf("%d calls were found", calls)
	}
}

// asks reports whether a call is one of a generic function with a path and the types In and Out, and with which. Those with type
// parameters of their own caller are left out: the calls of that caller are read. path is empty if it is no constant.
func asks(s *source, call *ast.CallExpr) (path, in, out string, ok bool) {
	instance, found := s.info.Instances[calledName(call.Fun)]
	if !found {
		return "", "", "", false
	}
	signature, isFunc := s.info.Uses[calledName(call.Fun)].Type().(*types.Signature)
	if !isFunc {
		return "", "", "", false
	}
	named := map[string]types.Type{}
	for i := range signature.TypeParams().Len() {
		named[signature.TypeParams().At(i).Obj().Name()] = instance.TypeArgs.At(i)
	}
	at := -1
	for i := range signature.Params().Len() {
		if signature.Params().At(i).Name() == "path" {
			at = i
		}
	}
	if named["In"] == nil || named["Out"] == nil || at < 0 {
		return "", "", "", false
	}
	for _, of := range named {
		if _, open := of.(*types.TypeParam); open {
			return "", "", "", false
		}
	}
	if v := s.info.Types[call.Args[at]].Value; v != nil {
		path = constant.StringVal(v)
	}
	return path, written(named["In"]), written(named["Out"]), true
}

// operationTypes returns the types of the operations in a package's tables, by path: of the request and of the reply.
func operationTypes(s *source) map[string][2]string {
	all := map[string][2]string{}
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			path, of := "", [2]string{}
			for _, e := range literal.Elts {
				member, ok := e.(*ast.KeyValueExpr)
				if !ok {
					continue
				}
				name, _ := member.Key.(*ast.Ident)
				call, isCall := member.Value.(*ast.CallExpr)
				switch {
				case name == nil:
				case name.Name == "Path" && s.info.Types[member.Value].Value != nil && s.info.Types[member.Value].Value.Kind() == constant.String:
					path = constant.StringVal(s.info.Types[member.Value].Value)
				case name.Name == "Do" && isCall:
					if args := s.info.Instances[calledName(call.Fun)].TypeArgs; args != nil && args.Len() >= 2 {
						of = [2]string{written(args.At(0)), written(args.At(args.Len() - 1))}
					}
				}
			}
			if path != "" && of[0] != "" {
				all[path] = of
			}
			return true
		})
	}
	return all
}

// calledName returns the identifier of the function that is called, without its package and its types.
func calledName(fn ast.Expr) *ast.Ident {
	switch fn := fn.(type) {
	case *ast.Ident:
		return fn
	case *ast.SelectorExpr:
		return fn.Sel
	case *ast.IndexExpr:
		return calledName(fn.X)
	case *ast.IndexListExpr:
		return calledName(fn.X)
	}
	return nil
}

// written returns a type with the paths of its packages.
func written(t types.Type) string { return types.TypeString(types.Unalias(t), nil) }
