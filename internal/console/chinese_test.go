package console

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tocsin/internal/auth"
	"tocsin/internal/console/locale"
	"tocsin/internal/role"
)

// chinese returns the Chinese of a text; empty: it has none.
func chinese(text string) string {
	found, _ := locale.Lookup("zh", text)
	return found
}

var (
	drawnText = regexp.MustCompile(`[{( ]t ("(?:[^"\\]|\\.)*")`)
	drawnMany = regexp.MustCompile(`[{( ]tn (?:\([^()]*\)|[^ "]+) "(?:[^"\\]|\\.)*" ("(?:[^"\\]|\\.)*")`)
	codeText  = regexp.MustCompile(`\bT\(("(?:[^"\\]|\\.)*")`)
	formText  = regexp.MustCompile(`\b(?:Label|Hint|Text): *("(?:[^"\\]|\\.)*")`) // of a member of a form
)

// TestEveryTextIsTranslated finds the texts of templates and code that have no translation.
func TestEveryTextIsTranslated(t *testing.T) {
	t.Parallel()
	found := 0
	for pattern, texts := range map[string][]*regexp.Regexp{"template/*.html": {drawnText, drawnMany}, "*.go": {codeText}, "*/*.go": {codeText, formText}} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, expression := range texts {
				for _, m := range expression.FindAllSubmatch(content, -1) {
					text, err := strconv.Unquote(string(m[1]))
					if found++; err != nil || chinese(text) == "" {
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

// TestEveryPermissionIsTranslated finds the permissions and roles of a new account that have no translation.
func TestEveryPermissionIsTranslated(t *testing.T) {
	t.Parallel()
	for _, name := range auth.Names(auth.All) {
		if chinese(name) == "" {
			t.Errorf("%s has no translation", name)
		}
	}
	for _, r := range role.Presets() {
		if chinese(r.RoleName) == "" || chinese(r.Description) == "" {
			t.Errorf("%s (%s) has no translation", r.RoleName, r.Description)
		}
	}
}
