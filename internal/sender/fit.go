package sender

import (
	"strings"
	"unicode/utf8"
)

// Fit shortens a text to at most n as size measures its characters, the last of them an ellipsis, and takes
// out of it what is not UTF-8. It never cuts a character.
func Fit[T ~string](text T, n int, size func(rune) int) string {
	s := strings.ToValidUTF8(string(text), "\uFFFD")
	total, end := 0, 0 // end: how much is kept if the whole is too long
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

// UTF16 measures a character as services do that count in UTF-16.
func UTF16(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// JSON measures a character in bytes within a JSON string, at most: escaped where it may be.
func JSON(r rune) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t':
		return 2
	case r < 0x20 || r == 0x7F || r == '\u2028' || r == '\u2029':
		return 6
	}
	return utf8.RuneLen(r)
}
