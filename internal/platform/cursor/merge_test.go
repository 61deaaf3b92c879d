package cursor

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// row is an element with the source it came from: equal keys of different sources are different rows.
type row struct{ key, source, index int }

// TestMergeIsHeadOfSortedWhole compares Merge with sorting all elements, and counts the elements read.
func TestMergeIsHeadOfSortedWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for round := range 500 {
		sources := make([][]row, r.IntN(12))
		var whole []row
		for s := range sources {
			key := 0
			for i := range r.IntN(80) * r.IntN(3) {
				key += r.IntN(5)
				sources[s] = append(sources[s], row{key, s, i})
			}
			whole = append(whole, sources[s]...)
		}
		less := func(a, b row) bool { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.source, b.source)) < 0 }
		slices.SortStableFunc(whole, func(a, b row) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.source, b.source)) })
		n, read := 1+r.IntN(101), 0
		got, err := Merge(n, len(sources), less, func(s int, after *row, want int) ([]row, error) {
			from := 0
			if after != nil {
				from = after.index + 1
			}
			rows := sources[s][from:]
			rows = rows[:min(len(rows), want)]
			read += len(rows)
			return slices.Clone(rows), nil
		})
		want := whole[:min(n, len(whole))]
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("round %d: %v, %v\nwant %v", round, got, err, want)
		}
		if most := 2*n + 2*first*len(sources); read > most {
			t.Errorf("round %d: read %d rows of %d sources for %d, want at most %d", round, read, len(sources), n, most)
		}
	}
}

func TestMergeStopsAtError(t *testing.T) {
	broken := errors.New("broken")
	for _, at := range []int{0, 1, 2} {
		calls := 0
		_, err := Merge(100, 2, func(a, b int) bool { return a < b }, func(int, *int, int) ([]int, error) {
			if calls++; calls > at {
				return nil, broken
			}
			return make([]int, 12), nil
		})
		if !errors.Is(err, broken) {
			t.Errorf("after %d calls: %v", at, err)
		}
	}
}
