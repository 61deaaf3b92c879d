package architecture

import (
	"go/ast"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestOperationsAreFoundByTheirPath holds the two rules that make an operation easy to find. Its path is one string
// literal, so that a search for /channel/silence/rule/create finds it. And its function is in a file that the path
// names, see filesOf.
func TestOperationsAreFoundByTheirPath(t *testing.T) {
	found := 0
	for _, s := range sources(t) {
		if s.name == "api" {
			continue // it copies operations and declares none
		}
		for _, o := range operations(s) {
			found++
			if problem := o.problem(s); problem != "" {
				t.Errorf("%s: %s", s.at(o.literal), problem)
			}
		}
	}
	if found < 150 {
		t.Errorf("%d operations were found, want all of them", found)
	}
}

// operation is a composite literal of api.Op with the expressions of two of its fields; nil when absent.
type operation struct {
	literal  *ast.CompositeLit
	path, do ast.Expr
}

func operations(s *source) (all []operation) {
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok || s.info.Types[literal].Type == nil || s.info.Types[literal].Type.String() != "tocsin/internal/api.Op" || len(literal.Elts) == 0 {
				return true
			}
			o := operation{literal: literal}
			for _, e := range literal.Elts {
				switch field, ok := e.(*ast.KeyValueExpr); {
				case !ok:
				case field.Key.(*ast.Ident).Name == "Path":
					o.path = field.Value
				case field.Key.(*ast.Ident).Name == "Do":
					o.do = field.Value
				}
			}
			all = append(all, o)
			return true
		})
	}
	return all
}

// problem describes how the operation breaks the rules; empty: it does not.
func (o operation) problem(s *source) string {
	literal, ok := o.path.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "the path is not one string literal"
	}
	route, err := strconv.Unquote(literal.Value)
	if err != nil {
		return err.Error()
	}
	at := function(s, o.do)
	if !at.IsValid() {
		return route + ": its function cannot be found: write api.Do(f), api.DoAfter(f, g) or api.DoComputed(f, g) with the name of a function"
	}
	file := strings.TrimSuffix(filepath.Base(s.fset.Position(at).Filename), ".go")
	if files := filesOf(path.Base(s.name), route); !slices.Contains(files, file) {
		return route + ": its function is in " + file + ".go, want one of " + strings.Join(files, ".go, ") + ".go"
	}
	return ""
}

// function returns the position of an operation's function: the last argument of api.Do, api.DoAfter or
// api.DoComputed. An argument that is itself a call, such as setStatus("enabled"), stands for the function that is called.
func function(s *source, do ast.Expr) token.Pos {
	call, ok := do.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return token.NoPos
	}
	fn := call.Args[len(call.Args)-1]
	if made, ok := fn.(*ast.CallExpr); ok {
		fn = made.Fun
	}
	if generic, ok := fn.(*ast.IndexExpr); ok {
		fn = generic.X
	}
	switch fn := fn.(type) {
	case *ast.Ident:
		if object := s.info.Uses[fn]; object != nil {
			return object.Pos()
		}
	case *ast.SelectorExpr:
		if object := s.info.Uses[fn.Sel]; object != nil {
			return object.Pos()
		}
	case *ast.FuncLit:
		return fn.Pos()
	}
	return token.NoPos
}

// filesOf returns the names, without ".go", that a file with the function of an operation may have. The words of the
// path up to those that spell the package, or the end of its name, are left out; the first one may also spell the beginning of its name. The file
// has the name of the other words, or of the first ones; or of the package, if only a verb is left.
func filesOf(pkg, route string) (files []string) {
	var words []string
	var segment []int // of each word
	for i, s := range strings.Split(strings.Trim(route, "/"), "/") {
		for w := range strings.SplitSeq(s, "-") {
			words, segment = append(words, w), append(segment, i)
		}
	}
	begin := 0
	if strings.HasPrefix(pkg, words[0]) {
		begin = 1
	}
	for i := range words {
		for j := i + 1; j <= len(words); j++ {
			if strings.HasSuffix(pkg, strings.Join(words[i:j], "")) {
				begin = j
			}
		}
	}
	for n := len(words); n > begin; n-- {
		files = append(files, strings.Join(words[begin:n], "_"))
	}
	if begin == len(words) || segment[begin] == segment[len(words)-1] {
		files = append(files, pkg)
	}
	return files
}

func TestFilesOf(t *testing.T) {
	for _, c := range []struct{ pkg, route, want string }{
		{"channel", "/channel/silence/rule/create", "silence_rule_create silence_rule silence"},
		{"team", "/team/info", "info team"},
		{"warroom", "/incident/war-room/detail", "detail warroom"},
		{"warroom", "/incident/war-room/add-member", "add_member add warroom"},
		{"changeevent", "/change/list", "list changeevent"},
		{"alertrule", "/monit/rule/list/basic", "list_basic list"},
		{"alert", "/alert-event/list", "event_list event"},
		{"person", "/person/app-key/create", "app_key_create app_key app"},
		{"person", "/member/list", "member_list member"},
	} {
		if got := strings.Join(filesOf(c.pkg, c.route), " "); got != c.want {
			t.Errorf("%s in package %s: %s, want %s", c.route, c.pkg, got, c.want)
		}
	}
}
