package render

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A Comparison finds what a naive comparison of all values finds.
func TestComparisonAgreesWithNaiveModel(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 3000 {
		alerts := make([]map[string]string, 1+random.IntN(40))
		values := 1 + random.IntN(30)
		for i := range alerts {
			alerts[i] = map[string]string{}
			for l := range random.IntN(7) {
				if random.IntN(8) > 0 {
					alerts[i][fmt.Sprint("l", l)] = fmt.Sprint("v", random.IntN(values))
				}
			}
		}
		var c Comparison
		for _, labels := range alerts {
			c.Add(labels)
		}
		shared, differ := naive(alerts)
		if got := c.Shared(); !maps.Equal(got, shared) {
			t.Fatalf("%d: %v share %v, want %v", n, alerts, got, shared)
		}
		if got := fmt.Sprint(c.Differ()); got != fmt.Sprint(differ) {
			t.Fatalf("%d: %v differ in %s, want %v", n, alerts, got, differ)
		}
	}
}

func naive(alerts []map[string]string) (shared map[string]string, differ []Difference) {
	all := map[string][]string{}
	for _, labels := range alerts {
		for name, value := range labels {
			all[name] = append(all[name], value)
		}
	}
	shared = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		values := slices.Compact(slices.Sorted(slices.Values(all[name])))
		if len(values) == 1 && len(all[name]) == len(alerts) {
			shared[name] = values[0]
			continue
		}
		differ = append(differ, Difference{name, len(values), values[:min(5, len(values))], len(alerts) - len(all[name])})
	}
	return shared, differ
}

// Alerts with ever new and long labels take no more memory than others.
func TestComparisonIsBounded(t *testing.T) {
	t.Parallel()
	var c Comparison
	long := strings.Repeat("é", 2048)
	for i := range 5000 {
		labels := map[string]string{"host": fmt.Sprintf("host%04d", i), "same": "x"}
		for l := range 48 {
			labels[fmt.Sprintf("l%d-%d", l, i%100)] = fmt.Sprint(i, long)
		}
		c.Add(labels)
	}
	if len(c.labels) != maxCompared {
		t.Errorf("%d labels are compared", len(c.labels))
	}
	for _, d := range c.Differ() {
		if d.Name == "host" && d.Text() != "5000 values: host0000, host0001, host0002, host0003, host0004, ..." {
			t.Error(d.Text())
		}
		if len([]rune(d.Text())) > 700 {
			t.Errorf("%s takes %d characters", d.Name, len([]rune(d.Text())))
		}
	}
	if got := c.Shared(); len(got) != 1 || got["same"] != "x" {
		t.Error(got)
	}
}

func BenchmarkComparison(b *testing.B) {
	for _, alerts := range []int{50, 500, 5000} {
		all := make([]map[string]string, alerts)
		for i := range all {
			all[i] = map[string]string{}
			for l := range 50 {
				all[i][fmt.Sprint("label", l)] = fmt.Sprint("value", i*l)
			}
		}
		b.Run(fmt.Sprint(alerts), func(b *testing.B) {
			for range b.N {
				var c Comparison
				for _, labels := range all {
					c.Add(labels)
				}
			}
		})
	}
}

// Values keeps the first values of each label, and the least and the greatest number of all of them.
func TestValuesOfLabels(t *testing.T) {
	t.Parallel()
	var c Comparison
	for n := range 200 {
		c.Add(map[string]string{"n": fmt.Sprint(n - 100), "text": "x", "odd": []string{"NaN", "Inf", " 7 ", "", "1e400"}[n%5]})
	}
	got := c.Values()
	if n := got["n"]; len(n.All) != maxValues || n.All[0] != "-100" || n.Min != "-100" || n.Max != "99" {
		t.Errorf("%+v", n)
	}
	if x := got["text"]; len(x.All) != 1 || x.Min != "" || x.Max != "" {
		t.Errorf("%+v", x)
	}
	if x := got["odd"]; len(x.All) != 5 || x.Min != " 7 " || x.Max != " 7 " {
		t.Errorf("%+v", x)
	}
}
