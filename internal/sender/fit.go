package sender

import (
	"strings"
	"unicode/utf8"
)

// Fit returns a text of at most n, as size measures its characters, the last of them an ellipsis if it was longer.
// Bytes that are not UTF-8 become U+FFFD. It never cuts within a character.
func Fit[T ~string](text T, n int, size func(rune) int) string {
	s := strings.ToValidUTF8(string(text), "\uFFFD")
	total, end := 0, 0 // end: the bytes that are kept if the whole is too long
	for i, r := range s {
		if total+size('…') <= n {
			end = i
		}
		if total += size(r); total > n {
			return s[:end] + "…"
		}
	}
	return s
}

// Bytes measures a character in bytes of UTF-8.
func Bytes(r rune) int { return utf8.RuneLen(r) }

// UTF16 measures a character in code units of UTF-16, as several services count.
func UTF16(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// JSON measures a character in bytes within a JSON string, as if it were escaped wherever an encoder may escape it.
func JSON(r rune) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t':
		return 2
	case r < 0x20 || r == 0x7F || r == '\u2028' || r == '\u2029':
		return 6
	}
	return utf8.RuneLen(r)
}
