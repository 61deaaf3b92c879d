package incident

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// A row without a search text would be read at each start, for ever.
func TestSearchTextIsBoundedAndNeverEmpty(t *testing.T) {
	t.Parallel()
	if (&Incident{}).searchText() == "" {
		t.Error("an incident without any text")
	}
	long := Incident{Title: "Ab", Detail: Detail{Labels: map[string]string{}, Description: "The End"}}
	for i := range 50 {
		long.Labels[fmt.Sprint("label ", i)] = strings.Repeat("é", 2048)
	}
	if text := long.searchText(); len(text) > maxSearchText || !utf8.ValidString(text) {
		t.Errorf("%d bytes", len(text))
	}
	long.Labels = map[string]string{"one": strings.Repeat("x", 1<<20) + "tail"}
	if text := long.searchText(); !strings.HasSuffix(text, "THE END") || strings.Contains(text, "TAIL") || !strings.HasPrefix(text, "AB\nX") {
		t.Errorf("a long label: %.20s ... %s", text, text[len(text)-7:])
	}
}
