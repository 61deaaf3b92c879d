package filter

import (
	"strings"
	"unicode/utf8"
)

// glob is a value with wildcards made ready: "*" stands for any characters, "?" for one. It matches the whole of a
// text.
type glob struct {
	star   bool     // there is a star; otherwise first is all
	first  string   // what stands before the first star
	middle []string // what stands between two stars, without what is empty
	last   string   // what stands behind the last star
}

func newGlob(pattern string) glob {
	parts := strings.Split(pattern, "*")
	g := glob{star: len(parts) > 1, first: parts[0]}
	if !g.star {
		return g
	}
	g.last = parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		if part != "" {
			g.middle = append(g.middle, part)
		}
	}
	return g
}

// match reports whether the glob stands for all of s. Each part between stars is taken where it fits first: what
// fits behind a later place fits behind the first as well.
func (g glob) match(s string) bool {
	n := begins(s, g.first)
	if n < 0 {
		return false
	}
	if s = s[n:]; !g.star {
		return s == ""
	}
	rest := ends(s, g.last)
	if rest < 0 {
		return false
	}
	s = s[:rest]
	for _, part := range g.middle {
		end := find(s, part)
		if end < 0 {
			return false
		}
		s = s[end:]
	}
	return true
}

// instructions is what matching costs for each character of the text, as for a regular expression: a part with "?"
// between stars is tried at every place, other parts are found at once.
func (g glob) instructions() (n int) {
	for _, part := range g.middle {
		n++
		if strings.Contains(part, "?") {
			n += len(part)
		}
	}
	return n
}

// begins returns the length of the part that stands at the beginning of s, or -1.
func begins(s, part string) int {
	if !strings.Contains(part, "?") {
		if strings.HasPrefix(s, part) {
			return len(part)
		}
		return -1
	}
	i := 0
	for p := range len(part) {
		switch {
		case i == len(s):
			return -1
		case part[p] == '?':
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
		case part[p] == s[i]:
			i++
		default:
			return -1
		}
	}
	return i
}

// ends returns where the part that stands at the end of s begins, or -1.
func ends(s, part string) int {
	i := len(s)
	for p := len(part) - 1; p >= 0; p-- {
		switch {
		case i == 0:
			return -1
		case part[p] == '?':
			_, size := utf8.DecodeLastRuneInString(s[:i])
			i -= size
		case part[p] == s[i-1]:
			i--
		default:
			return -1
		}
	}
	return i
}

// find returns the end of the first place in s where part fits, or -1.
func find(s, part string) int {
	if !strings.Contains(part, "?") {
		i := strings.Index(s, part)
		if i < 0 {
			return -1
		}
		return i + len(part)
	}
	for i := 0; i < len(s); {
		if n := begins(s[i:], part); n >= 0 {
			return i + n
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return -1
}
