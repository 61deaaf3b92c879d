package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An assignment has at most two values, an if declares what it tests rather than assigning a variable of outside, and an error
// ends a loop in its body, not in its condition. Such lines hide what changes. Tests and tools keep these rules, too. Names of
// tests have no articles.
func TestSourceKeepsIdiom(t *testing.T) {
	fset := token.NewFileSet()
	for _, folder := range []string{"cmd", "docs", "examples", "internal", "test", "tools"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil || ast.IsGenerated(file) {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if rule := broken(n); rule != "" {
					t.Errorf("%s: %s", fset.Position(n.Pos()), rule)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// article finds an article in the name of a test: a word of one capital letter, or a whole word.
var article = regexp.MustCompile(`^(?:Test|Benchmark|Fuzz)(?:[A-Z]\w*?)??(?:A[A-Z][a-z]|An[A-Z]|The[A-Z])`)

// broken returns the rule that a statement breaks; empty: none.
func broken(n ast.Node) string {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if len(n.Rhs) > 2 {
			return "assign at most two values in a statement"
		}
	case *ast.IfStmt:
		if init, ok := n.Init.(*ast.AssignStmt); ok && init.Tok == token.ASSIGN {
			return "assign before the if: its variable is of outside"
		}
	case *ast.FuncDecl:
		if article.MatchString(n.Name.Name) {
			return "name a test by subject and behaviour, without articles"
		}
	case *ast.ForStmt:
		if testsError(n.Cond) {
			return "end the loop in its body when there is an error"
		}
	}
	return ""
}

// testsError reports whether a condition compares err with nil.
func testsError(condition ast.Expr) bool {
	switch c := condition.(type) {
	case *ast.ParenExpr:
		return testsError(c.X)
	case *ast.BinaryExpr:
		name, ok := c.X.(*ast.Ident)
		return ok && name.Name == "err" && c.Op == token.EQL || testsError(c.X) || testsError(c.Y)
	}
	return false
}

// A test that a script names by another name would be neither run nor left out.
func TestScriptsNameTests(t *testing.T) {
	var names []string
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w+)`)
	root := filepath.Join("..", "..")
	for _, folder := range []string{"internal", "test"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			for _, found := range declared.FindAllSubmatch(source, -1) {
				names = append(names, string(found[1]))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	named := regexp.MustCompile(`\b(?:Test|Benchmark|Fuzz)[A-Z]\w*`)
	for _, script := range []string{"test.sh", "Makefile"} {
		text, err := os.ReadFile(filepath.Join(root, script))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range named.FindAllString(string(text), -1) {
			if !slices.ContainsFunc(names, func(test string) bool { return strings.HasPrefix(test, name) }) {
				t.Errorf("%s: no test begins with %s", script, name)
			}
		}
	}
}
