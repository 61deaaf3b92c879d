package filter

import (
	"math/big"
	"math/rand/v2"
	"net"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// model evaluates a filter by the definition, from the wire form, one
// condition after the other.
func model(f Filter, r record) bool {
	if len(f) == 0 {
		return true
	}
	for _, group := range f {
		all := true
		for _, c := range group {
			all = all && modelCondition(c, r)
		}
		if all {
			return true
		}
	}
	return false
}

func modelCondition(c Condition, r record) bool {
	key := c.Key
	switch key {
	case "alert_severity", "event_severity", "incident_severity":
		key = "severity"
	case "alert_status", "event_status", "incident_status":
		key = "status"
	case "data_source_id":
		key = "integration_id"
	case "severity", "status", "title", "description", "integration_id", "alert_key", "title_rule", "dedup_key":
	default:
		if !strings.HasPrefix(key, "labels.") {
			key = "labels." + key
		}
	}
	value, present := r[key]
	hit := false
	for _, val := range c.Vals {
		hit = hit || present && modelValue(val, value)
	}
	return c.Oper == "IN" && hit || c.Oper == "NOTIN" && !hit
}

func modelValue(val, value string) bool {
	switch {
	case len(val) > 1 && strings.HasPrefix(val, "/") && strings.HasSuffix(val, "/"):
		ok, err := regexp.MatchString(val[1:len(val)-1], value)
		return ok && err == nil
	case strings.HasPrefix(val, "cidr:"):
		_, network, err := net.ParseCIDR(val[5:])
		return err == nil && network.Contains(net.ParseIP(value))
	case strings.HasPrefix(val, "num:"):
		number := regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,2})?$`)
		oper, digits, _ := strings.Cut(val[4:], ":")
		if !number.MatchString(digits) || !number.MatchString(value) {
			return false
		}
		a, _ := new(big.Rat).SetString(value)
		b, _ := new(big.Rat).SetString(digits)
		order := a.Cmp(b)
		return oper == "gt" && order > 0 || oper == "ge" && order >= 0 || oper == "lt" && order < 0 || oper == "le" && order <= 0
	case strings.ContainsAny(val, "*?"):
		re := regexp.QuoteMeta(val)
		re = strings.ReplaceAll(strings.ReplaceAll(re, `\*`, `.*`), `\?`, `.`)
		return regexp.MustCompile(`(?s)\A` + re + `\z`).MatchString(value)
	}
	return val == value
}

// TestAgainstModel also checks every trace against the result that it explains.
func TestAgainstModel(t *testing.T) {
	keys := []string{
		"severity", "alert_severity", "event_severity", "incident_severity", "status", "alert_status", "incident_status", "title",
		"integration_id", "data_source_id", "dedup_key", "labels.a", "a", "labels.severity", "b", "labels.b",
	}
	values := []string{"", "a", "ab", "aab", "ba", "é", "aé", "10.0.0.1", "10.1.0.1", "::1", "5", "-5.5", "5e1", "x", "a/b"}
	vals := append([]string{
		"*", "?", "a*", "*b", "a?", "*a*b", "a*a*b", "??", "/a/", "/^a+b?$/", "/é/", "/(/", "//", "/", "/a*", "a/",
		"cidr:10.0.0.0/16", "cidr:::/0", "cidr:x", "num:gt:5", "num:ge:5", "num:lt:5", "num:le:-5.5", "num:x:1", "num:",
	}, values...)
	hits := 0
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 0))
		rec := record{}
		for _, key := range []string{"severity", "status", "title", "integration_id", "labels.a", "labels.b", "labels.severity"} {
			if r.IntN(4) > 0 {
				rec[key] = values[r.IntN(len(values))]
			}
		}
		f := make(Filter, r.IntN(4))
		for g := range f {
			f[g] = make([]Condition, 1+r.IntN(3))
			for i := range f[g] {
				c := Condition{Key: keys[r.IntN(len(keys))], Oper: []string{In, In, NotIn}[r.IntN(3)]}
				for range 1 + r.IntN(4) {
					c.Vals = append(c.Vals, vals[r.IntN(len(vals))])
				}
				f[g][i] = c
			}
		}
		m, _ := Compile(f)
		got, want := m.Match(rec, nil), model(f, rec)
		if got != want {
			t.Fatalf("seed %d: %v on %v: %v, want %v", seed, f, rec, got, want)
		}
		if got {
			hits++
		}
		var trace Trace
		if m.Match(rec, &trace) != want || !explains(trace, want) {
			t.Fatalf("seed %d: %v on %v: %+v does not explain %v", seed, f, rec, trace, want)
		}
	}
	if hits < 1000 || hits > 4000 {
		t.Errorf("%d of 5000 match: the cases are lopsided", hits)
	}
}

// explains reports whether the trace is correct in every comparison and leads
// to the result.
func explains(trace Trace, result bool) bool {
	matched := len(trace) == 0
	for _, g := range trace {
		all := true
		for _, c := range g.Clauses {
			if c.Matched != ((c.Hit >= 0) == (c.Oper == In)) || c.Hit >= 0 && !modelValue(c.Vals[c.Hit], c.Value) {
				return false
			}
			all = all && c.Matched
		}
		if g.Matched != all {
			return false
		}
		matched = matched || all
	}
	return matched == result
}

// FuzzMatch searches for a value for which the matcher and the model differ.
func FuzzMatch(f *testing.F) {
	for _, seed := range [][2]string{
		{"a*b?c", "axbyc"}, {"/a|b/", "b"}, {"cidr:10.0.0.0/8", "10.1.1.1"}, {"num:ge:1e2", "100.0"}, {"", ""}, {"?", "é"}, {"*?*?", "\xff"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, val, value string) {
		m, err := Compile(Filter{{{"a", In, []string{val}}}})
		got := m.Match(record{"labels.a": value}, nil)
		if err != nil && got {
			t.Fatalf("%q matches %q, but: %v", val, value, err)
		}
		// The model goes by regular expressions, which know no broken text, and
		// by exact numbers, where the filter rounds.
		if err != nil || !utf8.ValidString(val) || strings.HasPrefix(val, "num:") {
			return
		}
		if want := modelValue(val, value); got != want {
			t.Fatalf("%q on %q: %v, want %v", val, value, got, want)
		}
	})
}
