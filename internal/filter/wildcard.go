package filter

import "unicode/utf8"

// wildcard reports whether pattern stands for all of s: "*" for any
// characters, "?" for one. When the text after a star does not fit, only the
// latest star has to take one more character: whatever an earlier one could
// take as well, the latest can.
func wildcard(pattern, s string) bool {
	p, i := 0, 0
	star, from := -1, 0 // the place after the latest star, and where its text ends
	for i < len(s) {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case p < len(pattern) && pattern[p] == '*':
			p++
			star, from = p, i
		case p < len(pattern) && pattern[p] == '?':
			p++
			i += size
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			_, size = utf8.DecodeRuneInString(s[from:])
			from += size
			p, i = star, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
