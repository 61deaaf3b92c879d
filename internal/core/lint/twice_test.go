package lint

import (
	"math/rand"
	"reflect"
	"slices"
	"testing"
)

// When a person's shifts in several schedules overlap is what comparing each second with each shift finds.
func TestAtOnceAgreesWithEverySecond(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 2000 {
		var list []shift
		for range r.Intn(8) {
			from := r.Int63n(40)
			list = append(list, shift{Span: Span{from, from + 1 + r.Int63n(12)}, schedule: r.Intn(4)})
		}
		var want []Span
		var wantIn []int
		for second := range int64(60) {
			var in []int
			for _, s := range list {
				if s.From <= second && second < s.Until && !slices.Contains(in, s.schedule) {
					in = append(in, s.schedule)
				}
			}
			if len(in) > 1 {
				want, wantIn = extend(want, Span{second, second + 1}), append(wantIn, in...)
			}
		}
		slices.Sort(wantIn)
		steps := maxNamed
		both, in := atOnce(slices.Clone(list), &steps)
		if got := united(both); !reflect.DeepEqual(got, want) || !slices.Equal(in, slices.Compact(wantIn)) {
			t.Fatalf("%v: got %v in %v, want %v in %v", list, got, in, want, wantIn)
		}
	}
}
