package lint

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tocsin/internal/core/filter"
)

type host string

func (h host) Field(string) (string, bool) { return "", false }
func (h host) Label(string) (string, bool) { return string(h), true }

// A group gets a warning for a field exactly when no value of the field meets its conditions.
func TestUnmatchableAgainstEveryValue(t *testing.T) {
	warned := 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		var group filter.Group
		for range 1 + rng.IntN(4) {
			c := filter.Condition{Key: "host", Oper: []string{filter.In, filter.NotIn}[rng.IntN(2)]}
			for range 1 + rng.IntN(3) {
				c.Vals = append(c.Vals, fmt.Sprint(rng.IntN(5)))
			}
			group = append(group, c)
		}
		m, _ := filter.Compile(filter.Filter{group})
		never := true
		for v := range 6 { // 5 is in no condition: it represents all other values
			never = never && !m.Match(host(fmt.Sprint(v)), nil)
		}
		warnings := unmatchable(place{member: "filters"}, filter.Filter{group, group}, OfAlert)
		if want := map[bool]int{true: 2}[never]; len(warnings) != want {
			t.Fatalf("seed %d: %v, want %d warnings of %v", seed, warnings, want, group)
		}
		warned += len(warnings)
	}
	if warned < 500 {
		t.Errorf("only %d warnings", warned)
	}
}
