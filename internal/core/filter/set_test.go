package filter

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tocsin/internal/core/sentence"
)

// Asked together, filters match as they do one by one: none that matches is passed over, and the words for
// those that were count all of them.
func TestSetAgainstEach(t *testing.T) {
	keys := []string{"severity", "event_severity", "title", "a", "labels.a", "b", "labels.severity"}
	vals := []string{"x", "y", "z", "", "x*", "/x/", "num:gt:5", "/", "*"}
	passed := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 7))
		rec := record{}
		for _, key := range []string{"severity", "title", "labels.a", "labels.b", "labels.severity"} {
			if r.IntN(4) > 0 {
				rec[key] = vals[r.IntN(4)]
			}
		}
		var filters []Filter
		for range r.IntN(12) {
			f := make(Filter, r.IntN(3))
			for g := range f {
				for range r.IntN(3) {
					c := Condition{Key: keys[r.IntN(len(keys))], Oper: []string{In, In, In, NotIn}[r.IntN(4)]}
					for range 1 + r.IntN(3) {
						c.Vals = append(c.Vals, vals[r.IntN(min(len(vals), 3+r.IntN(7)))])
					}
					f[g] = append(f[g], c)
				}
			}
			filters = append(filters, f)
		}
		set := NewSet(filters)
		candidates := set.Candidates(rec)
		for i, f := range filters {
			m, _ := Compile(f)
			want := m.Match(rec, nil)
			if got := slices.Contains(candidates, i) && set.Match(i, rec, nil); got != want {
				t.Fatalf("seed %d: filter %d of %v on %v: %v, want %v", seed, i, filters, rec, got, want)
			}
		}
		passed += len(filters) - len(candidates)
		if why := set.Passed(rec, candidates); (len(why) == 0) != (len(candidates) == len(filters)) {
			t.Fatalf("seed %d: %d of %d are candidates, but: %v", seed, len(candidates), len(filters), why)
		}
	}
	if passed < 1000 {
		t.Errorf("only %d filters were passed over", passed)
	}
}

func TestPassed(t *testing.T) {
	set := NewSet([]Filter{
		{{{"severity", In, []string{"Info"}}, {"service", In, []string{"a", "b"}}}},
		{{{"service", In, []string{"c"}}}},
		{{{"severity", In, []string{"Critical"}}}},
		{{{"title", In, []string{"/out/"}}}},
	})
	candidates := set.Candidates(record{"labels.service": "c"})
	got := fmt.Sprint(candidates, sentence.Join(set.Passed(record{"labels.service": "c"}, candidates)...).English())
	if want := `[1 3]labels.service is "c", 1 rules want another value; severity is not there, 1 rules want another value`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What is asked is what may match: five hundred rules for other services cost as much as twenty.
func BenchmarkSet(b *testing.B) {
	for _, n := range []int{20, 500} {
		var filters []Filter
		for i := range n {
			filters = append(filters, Filter{{{"labels.service", In, []string{fmt.Sprint("service-", i)}}, {"severity", In, []string{"Critical", "Warning"}}}})
		}
		set, rec := NewSet(filters), record{"labels.service": "service-7", "severity": "Critical"}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, i := range set.Candidates(rec) {
					set.Match(i, rec, nil)
				}
			}
		})
	}
}
