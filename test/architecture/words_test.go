package architecture

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rejected returns a pattern of the words that docs/glossary.md rejects: the first column of its last table.
func rejected(t *testing.T) *regexp.Regexp {
	t.Helper()
	text, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "<!-- rejected words")
	if !found {
		t.Fatal("docs/glossary.md has no table of rejected words")
	}
	var words []string
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || strings.Contains(line, "---") || strings.Contains(line, "instead of") {
			continue
		}
		for word := range strings.SplitSeq(cells[1], ",") {
			words = append(words, strings.TrimSpace(word))
		}
	}
	if len(words) < 10 {
		t.Fatalf("the table has %d words", len(words))
	}
	return regexp.MustCompile(`(?i)\b(` + strings.Join(words, "|") + `)\b`)
}

// quoted matches text that is not prose: code, quotations and links.
var quoted = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|https?://\\S+")

// unclean lists the directories of Go files, and the documents, that still have rejected words, and in how many lines
// at most. The table only shrinks: the test fails for a place with more lines, and for a listed place with none.
var unclean = map[string]int{
	"docs/architecture.md":           20,
	"internal/activity":              7,
	"internal/changeevent":           4,
	"internal/configstore":           10,
	"internal/core/decide":           35,
	"internal/core/filter":           6,
	"internal/engine/escalation":     46,
	"internal/engine/explain":        7,
	"internal/engine/ingest":         11,
	"internal/engine/notify":         53,
	"internal/engine/shiftnotice":    25,
	"internal/engine/silencewarning": 14,
	"internal/engine/triage":         31,
	"internal/engine/webhook":        36,
	"internal/incident":              17,
	"internal/integration":           14,
	"internal/person":                13,
	"internal/platform/db":           17,
	"internal/platform/delivery":     2,
	"internal/platform/egress":       12,
	"internal/platform/fault":        6,
	"internal/platform/jobs":         8,
	"internal/platform/secret":       14,
	"internal/preference":            6,
	"internal/role":                  8,
	"internal/schedule":              38,
	"internal/team":                  7,
	"internal/warroom":               12,
	"test/architecture":              4,
	"test/bench":                     11,
	"test/blackbox":                  8,
	"test/peer":                      2,
	"test/story":                     52,
}

// TestCommentsAndDocumentsUsePlainWords checks comments and documents for the words that the glossary rejects.
func TestCommentsAndDocumentsUsePlainWords(t *testing.T) {
	words := rejected(t)
	found := map[string][]string{} // by directory, or by document
	report := func(file string, line int, text string) {
		if w := words.FindString(quoted.ReplaceAllString(text, "")); w != "" {
			name := strings.TrimPrefix(file, "../../")
			where := name
			if strings.HasSuffix(name, ".go") {
				where = filepath.ToSlash(filepath.Dir(name))
			}
			found[where] = append(found[where], fmt.Sprintf("%s:%d: %q is not a word of docs/glossary.md: %s", name, line, w, strings.TrimSpace(text)))
		}
	}
	defer func() {
		for where, lines := range found {
			if len(lines) > unclean[where] {
				t.Errorf("%s has %d lines with rejected words, %d are listed:\n%s", where, len(lines), unclean[where], strings.Join(lines, "\n"))
			}
		}
		for where := range unclean {
			if len(found[where]) == 0 {
				t.Errorf("%s has no rejected words any more: remove it from unclean", where)
			}
		}
	}()
	for _, file := range goFiles(t) {
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range parsed.Comments {
			for _, c := range group.List {
				for i, text := range strings.Split(c.Text, "\n") {
					report(file, set.Position(c.Pos()).Line+i, text)
				}
			}
		}
	}
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code := false
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				code = !code
			}
			if !code {
				report(file, i+1, line)
			}
		}
	}
}

// goFiles returns all Go files of the repository.
func goFiles(t *testing.T) (files []string) {
	t.Helper()
	for _, dir := range []string{"cmd", "internal", "test", "docs", "tools"} {
		err := filepath.WalkDir("../../"+dir, func(path string, _ os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// documents returns the Markdown files without the glossary, whose table has the words themselves.
func documents(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"../../*.md", "../../docs/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "docs/glossary.md") })
}
