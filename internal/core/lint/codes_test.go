package lint

import (
	"os"
	"strings"
	"testing"
)

// The table of docs/lint.md is the one of the code: go test prints what to put there.
func TestCodesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/lint.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\n"+Table()) {
		t.Errorf("docs/lint.md has not this table:\n%s", Table())
	}
	seen, rank := map[Code]bool{}, map[string]int{Error: 0, Warning: 1, Info: 2}
	for i, k := range Kinds {
		if seen[k.Code] || k.Means == "" || k.Fix == "" {
			t.Errorf("%s is listed twice or not described", k.Code)
		}
		seen[k.Code] = true
		if i > 0 && rank[k.Severity] < rank[Kinds[i-1].Severity] {
			t.Errorf("%s comes after less severe codes", k.Code)
		}
	}
}
