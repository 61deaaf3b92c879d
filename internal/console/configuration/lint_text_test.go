package configuration

import (
	"testing"

	"tocsin/internal/console/locale"
	"tocsin/internal/core/lint"
)

// TestFindingsAreTranslated reads the texts of every code of findings.
func TestFindingsAreTranslated(t *testing.T) {
	t.Parallel()
	for _, k := range lint.Kinds {
		title := findingTitles[string(k.Code)]
		name, named := locale.Lookup("zh", title)
		fix, mends := locale.Lookup("zh", k.Fix)
		if title == "" || !named || !mends {
			t.Errorf("%s: title %q, %q; fix %q", k.Code, title, name, fix)
		}
	}
}
