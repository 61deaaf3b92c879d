package lint

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tocsin/internal/core/filter"
)

// randomFilter returns a filter of exact values over two labels and the severity; patterns: of patterns too.
func randomFilter(r *rand.Rand, patterns bool) (f filter.Filter) {
	for range 1 + r.IntN(3) {
		var group filter.Group
		for range 1 + r.IntN(2) {
			c := filter.Condition{Key: []string{"a", "labels.b", "severity"}[r.IntN(3)], Oper: []string{filter.In, filter.NotIn}[r.IntN(2)]}
			for range 1 + r.IntN(2) {
				vals := []string{"1", "2", "*", "Critical", "critical", "Warning"}
				if patterns {
					vals = append(vals, "/^[12]$/", "1*", "num:gt:1", "cidr:10.0.0.0/8", "//", "/(x|2)+/")
				}
				c.Vals = append(c.Vals, vals[r.IntN(len(vals))])
			}
			group = append(group, c)
		}
		f = append(f, group)
	}
	return f
}

// everySubject returns one subject of a severity for each set of values that the filters of randomFilter treat alike.
func everySubject(severity string) (all []subject) {
	values := []string{"", "1", "2", "Critical", "critical", "Warning", "10.1.1.1", "7", "other"} // the first stands for absence
	for _, a := range values {
		for _, b := range values {
			s := subject{fieldKey(false, "severity"): severity}
			if a != "" {
				s[fieldKey(true, "a")] = a
			}
			if b != "" {
				s[fieldKey(true, "b")] = b
			}
			all = append(all, s)
		}
	}
	return all
}

// A search agrees with trying every subject: exactly for filters of exact values, and with patterns it never claims what
// is not so.
func TestSearchAgreesWithEverySubject(t *testing.T) {
	covered := 0
	open := 0
	unproven := 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 5))
		patterns := seed%2 == 1
		var filters []filter.Filter
		for range 1 + r.IntN(4) {
			filters = append(filters, randomFilter(r, patterns))
		}
		var matchers []*filter.Matcher
		for _, f := range filters {
			m, _ := filter.Compile(f)
			matchers = append(matchers, m)
		}
		severity := Severities[r.IntN(3)]
		never := ""
		for _, s := range everySubject(severity) {
			hit := false
			for _, m := range matchers {
				hit = hit || m.Match(s, nil)
			}
			if !hit {
				never = fmt.Sprint(s)
			}
		}
		q := newSearch(filters, OfIncident, severity, nil)
		s, found := q.unmatched()
		switch {
		case found:
			open++
			for i, m := range matchers {
				if m.Match(s, nil) {
					t.Fatalf("seed %d: %v is matched by %v", seed, s, filters[i])
				}
			}
		case never != "" && q.complete:
			t.Fatalf("seed %d: no subject is found, but %s is not matched by %v", seed, never, filters)
		case !q.complete:
			unproven++
		default:
			covered++
		}
		if !patterns && !q.complete {
			t.Fatalf("seed %d: not complete for exact values: %v", seed, filters)
		}
	}
	if covered < 40 || open < 400 || unproven < 4 {
		t.Errorf("%d covered, %d open, %d unproven: too much alike", covered, open, unproven)
	}
}

// A pattern's witness is matched by the pattern, where it can be read.
func TestWitness(t *testing.T) {
	for _, v := range []string{"web-*", "a?c", "/^web-[0-9]+$/", "/(x|y){2}z?/", "/^(prod|test)\\.eu/", "num:gt:5", "num:le:-1.5", "num:lt:0", "cidr:10.0.0.0/24", "cidr:2001:db8::/32"} {
		if !Everything(filter.Filter{{{Key: "a", Oper: filter.In, Vals: []string{v}}}}, OfAlert) {
			m, _ := filter.Compile(filter.Filter{{{Key: "a", Oper: filter.In, Vals: []string{v}}}})
			if s := (subject{fieldKey(true, "a"): witness(v)}); !m.Match(s, nil) {
				t.Errorf("%s does not match its witness %q", v, witness(v))
			}
		}
	}
}

// FuzzWitness searches for a pattern that a search cannot take.
func FuzzWitness(f *testing.F) {
	for _, seed := range []string{"/a{1000}/", "/(a{30}){30}/", "num:gt:1e308", "cidr:x", "/[^\\x00-\\x{10FFFF}]/", "*?*", "/(/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, v string) {
		if got := witness(v); len(got) > len(v)+2*maxWitness+400 {
			t.Errorf("%d bytes for %q", len(got), v)
		}
		Everything(filter.Filter{{{Key: "a", Oper: filter.In, Vals: []string{v}}, {Key: "title", Oper: filter.NotIn, Vals: []string{v}}}}, OfAlert)
	})
}

// Everything is exact for the usual ways to write a rule that matches all alerts.
func TestEverything(t *testing.T) {
	in := func(key string, vals ...string) filter.Condition {
		return filter.Condition{Key: key, Oper: filter.In, Vals: vals}
	}
	not := func(key string, vals ...string) filter.Condition {
		return filter.Condition{Key: key, Oper: filter.NotIn, Vals: vals}
	}
	for _, c := range []struct {
		f    filter.Filter
		want bool
	}{
		{nil, true},
		{filter.Filter{{in("title", "*")}}, true},
		{filter.Filter{{in("title", "/.*/")}}, true},
		{filter.Filter{{in("severity", "Critical", "Warning", "Info", "Ok")}}, true},
		{filter.Filter{{in("severity", "Critical", "Warning", "Info")}}, false},
		{filter.Filter{{not("severity", "critical")}}, true},
		{filter.Filter{{in("host", "*")}}, false},
		{filter.Filter{{in("host", "a")}, {not("labels.host", "a")}}, true},
		{filter.Filter{{not("labels.title", "x")}, {in("labels.title", "*")}}, true},
		{filter.Filter{{in("alert_severity", "Critical")}, {not("event_severity", "Critical")}}, true},
	} {
		if got := Everything(c.f, OfAlert); got != c.want {
			t.Errorf("%v: %t, want %t", c.f, got, c.want)
		}
	}
}
