package insight

import (
	"encoding/csv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPlainText(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "5 < 6 > 4": "5 < 6 > 4", "<p>a</p><p>b &amp; c</p>": "a\nb & c", "a<br/>b<BR>c": "a\nb\nc", "<a href=\"x\">link</a>": "link",
		"a < b": "a < b", "<": "<", "a<": "a<", "<!-- x -->y": "y", "<b": "<b", "&lt;b&gt;": "<b>",
	} {
		if got := PlainText(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// FuzzCell: whatever a text holds, it is one cell, as it was but for the apostrophe, and no spreadsheet computes it.
func FuzzCell(f *testing.F) {
	for _, text := range []string{"", "=1+1", "  =1", "\t=1", "@x", "-1", "+1", "a,b\"c\nd", "\xff", "＝1", "'=1", "\r\n=1", "plain"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		PlainText(text) // never fails
		got := Harmless(text)
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
