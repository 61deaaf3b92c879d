package lint

import (
	"net/netip"
	"regexp/syntax"
	"strconv"
	"strings"
)

// universal reports whether a pattern matches every value that is present.
func universal(v string) bool { return v == "*" || v == "//" || v == "/.*/" }

// witness returns a value that a pattern probably matches, so that a search tries one; empty for a pattern that it cannot
// read. A wrong value does no harm: every made-up subject is matched by the filters themselves.
func witness(v string) string {
	if network, ok := strings.CutPrefix(v, "cidr:"); ok {
		prefix, err := netip.ParsePrefix(network)
		if err != nil {
			return ""
		}
		return prefix.Addr().String()
	}
	if bound, ok := strings.CutPrefix(v, "num:"); ok {
		oper, digits, _ := strings.Cut(bound, ":")
		n, err := strconv.ParseFloat(digits, 64)
		switch {
		case err != nil:
			return ""
		case oper == "gt":
			n++
		case oper == "lt":
			n--
		}
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	if len(v) >= 2 && v[0] == '/' && v[len(v)-1] == '/' {
		re, err := syntax.Parse(v[1:len(v)-1], syntax.Perl)
		if err != nil {
			return ""
		}
		var b strings.Builder
		write(&b, re)
		return b.String()
	}
	return strings.NewReplacer("*", "", "?", "x").Replace(v)
}

// maxWitness bounds the length of a made-up value.
const maxWitness = 256

// write writes a text that a regular expression matches: of each choice the first, of each repetition as few as possible.
func write(b *strings.Builder, re *syntax.Regexp) {
	if b.Len() > maxWitness {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			b.WriteRune(re.Rune[0])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpCapture, syntax.OpPlus:
		write(b, re.Sub[0])
	case syntax.OpRepeat:
		for range min(re.Min, maxWitness) {
			write(b, re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			write(b, sub)
		}
	case syntax.OpAlternate:
		write(b, re.Sub[0])
	}
}
