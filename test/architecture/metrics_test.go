package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMetricsAreDocumented compares the metrics that the code registers with the table in docs/operating.md.
func TestMetricsAreDocumented(t *testing.T) {
	registered := regexp.MustCompile(`(?:Name: |NewDesc\()"(tocsin_[a-z_]+)"`)
	inCode := map[string]bool{}
	err := filepath.WalkDir("../../internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range registered.FindAllStringSubmatch(string(source), -1) {
			inCode[m[1]] = true
		}
		return err
	})
	if err != nil || len(inCode) < 10 {
		t.Fatal(len(inCode), err)
	}
	text, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(tocsin_[a-z_]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		if !inCode[m[1]] {
			t.Errorf("docs/operating.md describes %s, which no code registers", m[1])
		}
		delete(inCode, m[1])
	}
	for name := range inCode {
		t.Errorf("docs/operating.md does not describe %s", name)
	}
}
