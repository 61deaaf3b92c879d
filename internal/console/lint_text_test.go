package console

import (
	"testing"

	"tocsin/internal/core/lint"
)

// TestFindingsAreTranslated reads the texts of every code of findings.
func TestFindingsAreTranslated(t *testing.T) {
	t.Parallel()
	for _, k := range lint.Kinds {
		title := findingTitles[string(k.Code)]
		if title == "" || chinese(title) == "" || chinese(k.Fix) == "" {
			t.Errorf("%s: title %q, %q; fix %q", k.Code, title, chinese(title), chinese(k.Fix))
		}
	}
}
