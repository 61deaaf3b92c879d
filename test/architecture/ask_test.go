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
	typesOf := map[string][2]string{}
	for _, s := range sources(t) {
		for _, o := range typedOperations(s) {
			typesOf[o.path] = [2]string{written(o.in), written(o.out)}
		}
	}
	if len(typesOf) < 200 {
		t.Errorf("the types of %d operations were found", len(typesOf))
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
				want, known := typesOf[path]
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

// typedOperation is an operation in the table of a package.
type typedOperation struct {
	path    string
	in, out types.Type
	writes  bool
}

// typedOperations returns the operations in a package's tables whose types can be read.
func typedOperations(s *source) (all []typedOperation) {
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			var o typedOperation
			if path := element(literal, "Path"); path != nil && s.info.Types[path].Value != nil && s.info.Types[path].Value.Kind() == constant.String {
				o.path = constant.StringVal(s.info.Types[path].Value)
			}
			if effect := element(literal, "Effect"); effect != nil {
				name := calledName(effect)
				o.writes = name != nil && name.Name == "Write"
			}
			if call, ok := element(literal, "Do").(*ast.CallExpr); ok {
				if args := s.info.Instances[calledName(call.Fun)].TypeArgs; args != nil && args.Len() >= 2 {
					o.in, o.out = args.At(0), args.At(args.Len()-1)
				}
			}
			if o.path != "" && o.in != nil {
				all = append(all, o)
			}
			return true
		})
	}
	return all
}

// element returns the value of a literal's field; nil: it is not there.
func element(literal *ast.CompositeLit, name string) ast.Expr {
	for _, e := range literal.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok && key.Name == name {
				return kv.Value
			}
		}
	}
	return nil
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
