package filter

import (
	"errors"
	"net/netip"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

// test reports whether a field's value matches one of a condition's.
type test func(value string) bool

func never(string) bool { return false }

// parse makes a test of one of a condition's values. If that is not well
// formed, want says what would be, and the test matches nothing.
func parse(val string) (t test, want string) {
	if len(val) >= 2 && val[0] == '/' && val[len(val)-1] == '/' {
		return parseRegexp(val[1 : len(val)-1])
	}
	if network, ok := strings.CutPrefix(val, "cidr:"); ok {
		return parseNetwork(network)
	}
	if bound, ok := strings.CutPrefix(val, "num:"); ok {
		return parseBound(bound)
	}
	if strings.ContainsAny(val, "*?") {
		return func(value string) bool { return wildcard(val, value) }, ""
	}
	return func(value string) bool { return value == val }, ""
}

func parseRegexp(expr string) (test, string) {
	re, err := regexp.Compile(expr)
	if err != nil {
		reason := err.Error()
		if detail := (*syntax.Error)(nil); errors.As(err, &detail) {
			reason = detail.Code.String()
		}
		return never, "must be a regular expression that RE2 understands (" + reason + ")"
	}
	return re.MatchString, ""
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

// number reads a finite decimal number, as in "-1.5e3".
func number(s string) (float64, bool) {
	if strings.Trim(s, "+-.0123456789eE") != "" {
		return 0, false // what else ParseFloat accepts: hexadecimal, NaN, Inf
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}
