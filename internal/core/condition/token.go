package condition

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// next reads the next token.
func (p *parser) next() {
	p.end = p.start + len(p.token)
	if p.err != nil {
		return
	}
	rest := strings.TrimLeft(p.text[p.at:], " \t\r\n")
	p.start = len(p.text) - len(rest)
	size := tokenSize(rest)
	p.token = rest[:size]
	p.at = p.start + size
}

// tokenSize returns the length of the token that a text begins with.
func tokenSize(text string) int {
	if text == "" {
		return 0
	}
	switch c := text[0]; {
	case c == '$':
		return 1 + prefix(text[1:], func(r rune) bool { return word(r) || r == '.' })
	case digit(c) || c == '.':
		return numberSize(text)
	case strings.IndexByte("><=!&|", c) >= 0:
		if len(text) > 1 && (text[1] == '=' && c != '&' && c != '|' || text[1] == c && (c == '&' || c == '|')) {
			return 2
		}
		return 1
	}
	if n := prefix(text, word); n > 0 {
		return n
	}
	_, size := utf8.DecodeRuneInString(text)
	return size
}

// numberSize returns the length of the number that a text begins with. Letters behind it belong to it, so that 90m and 1x
// are mistakes rather than two tokens.
func numberSize(text string) int {
	n := prefix(text, func(r rune) bool { return word(r) || r == '.' })
	if n < len(text) && (text[n] == '-' || text[n] == '+') && (text[n-1] == 'e' || text[n-1] == 'E') {
		n += 1 + prefix(text[n+1:], word)
	}
	return n
}

// prefix returns the length of the part of a text before the first rune that does not belong.
func prefix(text string, belongs func(rune) bool) int {
	if n := strings.IndexFunc(text, func(r rune) bool { return !belongs(r) }); n >= 0 {
		return n
	}
	return len(text)
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// word reports whether a rune may be in the name of a field: names of columns are in any language.
func word(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// quote returns a text of the expression in quotes for an error.
func quote(text string) string { return strconv.Quote(cut(text)) }

// cut returns at most 40 bytes of a text.
func cut(text string) string {
	if len(text) <= 40 {
		return text
	}
	return strings.ToValidUTF8(text[:40], "") + "..."
}
