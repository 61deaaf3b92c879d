package architecture

import (
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

// TestCommentsAndDocumentsUsePlainWords checks comments and documents for the words that the glossary rejects.
func TestCommentsAndDocumentsUsePlainWords(t *testing.T) {
	words := rejected(t)
	report := func(file string, line int, text string) {
		if w := words.FindString(quoted.ReplaceAllString(text, "")); w != "" {
			t.Errorf("%s:%d: %q is not a word of docs/glossary.md: %s", strings.TrimPrefix(file, "../../"), line, w, strings.TrimSpace(text))
		}
	}
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
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../docs/lab/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "docs/glossary.md") })
}
