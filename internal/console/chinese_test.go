package console

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tocsin/internal/auth"
)

// TestATextHasOneTranslation finds texts that two of the lists translate: the one that is merged last would win unseen.
func TestATextHasOneTranslation(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("chinese*.go")
	if err != nil {
		t.Fatal(err)
	}
	owner := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			pair, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			text, err := strconv.Unquote(pair.Key.(*ast.BasicLit).Value)
			if err != nil {
				t.Errorf("%s: %v", file, err)
			}
			if other := owner[text]; other != "" {
				t.Errorf("%s and %s translate %q; words that several parts use belong into chineseFrame", other, file, text)
			}
			owner[text] = file
			if chinese()[text] == "" {
				t.Errorf("%s translates %q, and is not merged", file, text)
			}
			return true
		})
	}
	if len(owner) != len(chinese()) {
		t.Errorf("the files hold %d texts, the catalog %d", len(owner), len(chinese()))
	}
}

var (
	drawnText = regexp.MustCompile(`[{( ]t ("(?:[^"\\]|\\.)*")`)
	drawnMany = regexp.MustCompile(`[{( ]tn (?:\([^()]*\)|[^ "]+) "(?:[^"\\]|\\.)*" ("(?:[^"\\]|\\.)*")`)
	codeText  = regexp.MustCompile(`\bv\.T\(("(?:[^"\\]|\\.)*")`)
)

// TestEveryTextIsTranslated finds the texts of templates and code that have no translation.
func TestEveryTextIsTranslated(t *testing.T) {
	t.Parallel()
	found := 0
	for pattern, texts := range map[string][]*regexp.Regexp{"template/*.html": {drawnText, drawnMany}, "*.go": {codeText}} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, expression := range texts {
				for _, m := range expression.FindAllSubmatch(content, -1) {
					text, err := strconv.Unquote(string(m[1]))
					if found++; err != nil || chinese()[text] == "" {
						t.Errorf("%s: %s has no translation (%v)", file, m[1], err)
					}
				}
			}
		}
	}
	if found < 500 {
		t.Errorf("%d texts were found", found)
	}
}

// TestEveryPermissionIsTranslated finds the permissions whose name has no translation.
func TestEveryPermissionIsTranslated(t *testing.T) {
	t.Parallel()
	for _, name := range auth.Names(auth.All) {
		if chinese()[name] == "" {
			t.Errorf("%s has no translation", name)
		}
	}
}
