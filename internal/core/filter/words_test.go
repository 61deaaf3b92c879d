package filter

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func conditions(f Filter, r record) string {
	m, _ := Compile(f)
	var trace Trace
	m.Match(r, &trace)
	return trace.Conditions().English()
}

func TestConditions(t *testing.T) {
	rec := record{"severity": "Critical", "labels.service": "cart"}
	pay := Condition{"labels.service", In, []string{"pay"}}
	cart := Condition{"labels.service", In, []string{"cart"}}
	info := Condition{"severity", In, []string{"Info"}}
	absent := Condition{"labels.env", NotIn, []string{"prod"}}
	twelve := many(12, "x")
	for want, f := range map[string]Filter{
		"it has no conditions":                                                        {},
		`labels.service is "cart", not IN pay`:                                        {{pay}},
		`labels.service is "cart", IN cart`:                                           {{cart}},
		`severity is "Critical", not IN Info; met: labels.service is "cart", IN cart`: {{cart, info}},
		`labels.service is "cart", not IN pay and severity is "Critical", not IN Info; met: labels.env is not there, NOTIN prod`: {{pay, absent, info}},
		`labels.service is "cart", IN cart and labels.env is not there, NOTIN prod`:                                              {{cart, absent}},
		`labels.service is "cart", not IN pay; met: labels.env is not there, NOTIN prod and labels.env is not there, NOTIN prod` +
			` and labels.env is not there, NOTIN prod and labels.env is not there, NOTIN prod and 2 more conditions`: {{absent, absent, absent, absent, absent, absent, pay}},
	} {
		if got := conditions(f, rec); got != want {
			t.Errorf("%v:\n got  %s\n want %s", f, got, want)
		}
	}
	got := conditions(Filter{append(twelve, cart)}, rec)
	if !strings.HasSuffix(got, `labels.k4 is not there, not IN x and 7 more conditions; met: 1 more condition`) {
		t.Error(got)
	}
}

// Every condition is shown or counted, on the side where it belongs, for any group.
func TestConditionsNameOrCountEach(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		rec, group := record{}, Group{}
		var unmet, met int
		for i := range 1 + r.IntN(12) {
			name := fmt.Sprint("k", i)
			if hit := r.IntN(3) > 0; hit {
				rec["labels."+name] = "v"
				met++
			} else {
				unmet++
			}
			group = append(group, Condition{"labels." + name, In, []string{"v"}})
		}
		got := conditions(Filter{group}, rec)
		bad, good, both := strings.Cut(got, "; met: ")
		if unmet == 0 {
			bad, good = "", got
		}
		if both != (unmet > 0 && met > 0) || count(bad) != unmet || count(good) != met {
			t.Fatalf("seed %d: %d unmet, %d met, but %s", seed, unmet, met, got)
		}
		if n := strings.Count(got, "labels."); n != min(shownGroups, len(group)) {
			t.Fatalf("seed %d: %d conditions are named: %s", seed, n, got)
		}
	}
}

// count returns how many conditions a list names and counts.
func count(list string) int {
	n := 0
	for _, part := range strings.Split(list, " and ") {
		more := 0
		if _, err := fmt.Sscanf(part, "%d more condition", &more); err == nil {
			n += more
		} else if part != "" {
			n++
		}
	}
	return n
}

// A route with a hundred cases asks a hundred filters of every event.
func BenchmarkWords(b *testing.B) {
	m, _ := Compile(Filter{{{"severity", In, []string{"Info", "Warning"}}, {"host", In, []string{"db-*", "web-1?"}}, {"ip", In, []string{"cidr:10.0.0.0/24"}}}})
	meter := NewMeter(1<<40, 1<<60)
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			meter.Ask(m, alert)
		}
	})
	b.Run("each", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			meter.AskEach(m, alert)
		}
	})
}
