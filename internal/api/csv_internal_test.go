package api

import (
	"encoding/csv"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzCell: whatever a text holds, it is one cell, as it was but for the apostrophe, and no spreadsheet computes it.
func FuzzCell(f *testing.F) {
	for _, text := range []string{"", "=1+1", "  =1", "\t=1", "@x", "-1", "+1", "a,b\"c\nd", "\xff", "＝1", "'=1", "\r\n=1", "plain"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := harmless(text)
		if !utf8.ValidString(got) {
			t.Errorf("%q is not valid", got)
		}
		if trimmed := strings.TrimLeft(got, " "); trimmed != "" && strings.ContainsAny(string([]rune(trimmed)[:1]), "=+-@\t\r\n＝＋－＠") {
			t.Errorf("%q is computed", got)
		}
		var b strings.Builder
		w := csv.NewWriter(&b)
		w.Write([]string{got, "end"})
		w.Flush()
		rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
		if err != nil || len(rows) != 1 || len(rows[0]) != 2 || rows[0][0] != strings.ReplaceAll(got, "\r\n", "\n") {
			t.Errorf("%q is read as %q, %v", got, rows, err)
		}
	})
}
