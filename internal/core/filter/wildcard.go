package filter

import (
	"strings"
	"unicode/utf8"
)

// glob is a compiled value with wildcards: "*" stands for any characters, "?" for one. It matches a whole text.
type glob struct {
	star   bool     // there is a star; otherwise first is the whole pattern
	first  string   // the part before the first star
	middle []string // the parts between stars that are not empty
	last   string   // the part after the last star
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

// match reports whether the glob matches all of s. It takes the first match of each part between stars: whatever
// matches after a later one matches after the first as well. So there is no backtracking.
func (g glob) match(s string) bool {
	n := begins(s, g.first)
	if n < 0 {
		return false
	}
	s = s[n:]
	if !g.star {
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

// instructions returns the cost of matching for each character of the text, as for a regular expression. A part with
// "?" between stars is tried at every index; strings.Index finds other parts.
func (g glob) instructions() (n int) {
	for _, part := range g.middle {
		n++
		if strings.Contains(part, "?") {
			n += len(part)
		}
	}
	return n
}

// begins returns the number of bytes of s that part matches at its beginning, or -1.
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

// ends returns the index in s at which the match of part at its end begins, or -1.
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

// find returns the index after the first match of part in s, or -1.
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
