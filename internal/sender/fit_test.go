package sender_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"tocsin/internal/sender"
)

func FuzzFit(f *testing.F) {
	f.Add("🔥 \"all\"\n is \xff burning", 12)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = 3 + abs(n)%100
		for name, size := range map[string]func(rune) int{"bytes": sender.Bytes, "UTF-16": sender.UTF16, "JSON": sender.JSON} {
			got := sender.Fit(s, n, size)
			total, kept := 0, strings.TrimSuffix(got, "…")
			for _, r := range got {
				total += size(r)
			}
			whole := strings.ToValidUTF8(s, "\uFFFD")
			if total > n || !utf8.ValidString(got) || got != whole && !strings.HasPrefix(whole, kept) {
				t.Errorf("%s: %q to %d is %q of %d", name, s, n, got, total)
			}
			if b, err := json.Marshal(got); name == "JSON" && (err != nil || !strings.ContainsAny(got, "<>&\b\f") && len(b)-2 > total) {
				t.Errorf("%q takes %d bytes, not %d, %v", got, len(b)-2, total, err)
			}
		}
	})
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}

func TestFitKeepsAsMuchAsPossible(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		size func(rune) int
		want string
	}{
		{"abcdef", 6, sender.Bytes, "abcdef"}, {"abcdef", 5, sender.Bytes, "ab…"}, {"火火火", 9, sender.Bytes, "火火火"}, {"火火火", 8, sender.Bytes, "火…"},
		{"🔥🔥", 4, sender.UTF16, "🔥🔥"}, {"🔥🔥", 3, sender.UTF16, "🔥…"}, {"a\nb\nc", 6, sender.JSON, "a\n…"}, {"", 3, sender.JSON, ""}, {"abcd", 3, sender.Bytes, "…"},
	} {
		if got := sender.Fit(c.text, c.n, c.size); got != c.want {
			t.Errorf("%q to %d is %q, want %q", c.text, c.n, got, c.want)
		}
	}
}
