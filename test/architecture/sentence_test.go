package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tocsin/internal/core/sentence"
)

// TestSentences checks that each sentence that is written by its code is of the table, with as many arguments as it has
// holes: at run time it would panic.
func TestSentences(t *testing.T) {
	holes := map[string]int{}
	for _, p := range sentence.Patterns() {
		holes[p.Code] = len(regexp.MustCompile(`%[a-z]`).FindAllString(p.English, -1))
	}
	calls := 0
	err := filepath.WalkDir("../../internal", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if fn, ok := call.Fun.(*ast.SelectorExpr); !ok || fn.Sel.Name != "Of" && fn.Sel.Name != "New" || !isPackage(fn.X, "sentence") {
				return true
			}
			calls++
			at := files.Position(call.Pos())
			code, ok := call.Args[0].(*ast.BasicLit)
			if !ok {
				t.Errorf("%s: the code is not written out", at)
				return true
			}
			name, _ := strconv.Unquote(code.Value)
			want, known := holes[name]
			if got := len(call.Args) - 1; !known || got != want {
				t.Errorf("%s: sentence %q has %d arguments here, and %d in the table (known: %t)", at, name, got, want, known)
			}
			return true
		})
		return nil
	})
	if err != nil || calls < 100 {
		t.Fatal(calls, err)
	}
}

// isPackage reports whether an expression is the name of a package.
func isPackage(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}

// A text that is written where a sentence belongs would be shown in English on every page: it is the same as a stored text of
// before.
func TestSentencesAreNotWrittenAsTexts(t *testing.T) {
	for _, s := range sources(t) {
		if s.name == "core/sentence" {
			continue
		}
		for _, f := range s.files {
			ast.Inspect(f, func(n ast.Node) bool {
				text, ok := n.(*ast.BasicLit)
				if !ok || text.Value == `""` {
					return true
				}
				if name := s.info.Types[text].Type; name != nil && strings.HasPrefix(name.String(), "tocsin/internal/core/sentence.") {
					t.Errorf("%s: %s is a sentence: make it by its code", s.at(text), text.Value)
				}
				return true
			})
		}
	}
}
