package filter

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// test reports whether a field's value matches one value of a condition.
type test func(value string) bool

func never(string) bool { return false }

// parse returns the test for one value of a condition and its cost in
// instructions, as count counts them. For a malformed value, want is the form
// that is allowed and the test matches nothing. A value of more than most
// instructions matches nothing either.
func parse(val string, most int, count func(string, int) (int, error)) (t test, cost int, want string) {
	if isExpression(val) {
		return parseRegexp(val[1:len(val)-1], most, count)
	}
	if network, ok := strings.CutPrefix(val, "cidr:"); ok {
		t, want = parseNetwork(network)
		return t, 0, want
	}
	if bound, ok := strings.CutPrefix(val, "num:"); ok {
		t, want = parseBound(bound)
		return t, 0, want
	}
	if strings.ContainsAny(val, "*?") {
		g := newGlob(val)
		cost = g.instructions()
		if cost > most {
			return never, cost, ""
		}
		return g.match, cost, ""
	}
	return func(value string) bool { return value == val }, 0, ""
}

// Exact returns the value of a condition that matches this text alone. Otherwise a path such as /data/ would be an
// expression, and a key with "*" a wildcard.
func Exact(text string) string {
	if isExpression(text) || strings.HasPrefix(text, "cidr:") || strings.HasPrefix(text, "num:") || strings.ContainsAny(text, "*?") {
		return "/^" + regexp.QuoteMeta(text) + "$/"
	}
	return text
}

func parseRegexp(expr string, most int, count func(string, int) (int, error)) (t test, cost int, want string) {
	cost, err := count(expr, most)
	if err == nil && cost > most {
		return never, cost, ""
	}
	var re *regexp.Regexp
	if err == nil {
		re, err = regexp.Compile(expr)
	}
	if err != nil {
		return never, 0, "must be a regular expression that RE2 understands (" + syntaxReason(err) + ")"
	}
	return re.MatchString, cost, ""
}

func parseNetwork(s string) (test, string) {
	network, err := netip.ParsePrefix(s)
	if err != nil || network.Addr().Is4In6() {
		return never, "must be cidr: and a network with its length, as in cidr:10.0.0.0/24"
	}
	return func(value string) bool {
		addr, err := netip.ParseAddr(value)
		return err == nil && network.Contains(addr.Unmap())
	}, ""
}

func parseBound(s string) (test, string) {
	const want = "must be num:gt:, num:ge:, num:lt: or num:le: and a decimal number, as in num:gt:5"
	oper, digits, _ := strings.Cut(s, ":")
	bound, ok := number(digits)
	if !ok {
		return never, want
	}
	compare := map[string]func(a, b float64) bool{
		"gt": func(a, b float64) bool { return a > b },
		"ge": func(a, b float64) bool { return a >= b },
		"lt": func(a, b float64) bool { return a < b },
		"le": func(a, b float64) bool { return a <= b },
	}[oper]
	if compare == nil {
		return never, want
	}
	return func(value string) bool {
		n, ok := number(value)
		return ok && compare(n, bound)
	}, ""
}

// maxNumber is the number of characters that a number may have. A longer one takes much more time to parse and adds
// no precision.
const maxNumber = 64

// number parses a finite decimal number, as in "-1.5e3".
func number(s string) (float64, bool) {
	if len(s) > maxNumber {
		return 0, false
	}
	if strings.Trim(s, "+-.0123456789eE") != "" {
		return 0, false // what else ParseFloat accepts: hexadecimal, NaN, Inf
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}
