package distinct_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tocsin/internal/core/distinct"
)

// TestCount compares the count with that of a set, for texts in any order, repeated, in one sketch and in several that are
// merged, stored and read again.
func TestCount(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 50, distinct.Kept - 1, distinct.Kept, distinct.Kept + 1, 1000, 20_000} {
		var whole distinct.Sketch
		parts := make([]distinct.Sketch, 3)
		for range 2 {
			for _, i := range r.Perm(n) {
				text := fmt.Sprintf("user %d of %d", i, n)
				whole.Add(text)
				parts[r.IntN(3)].Add(text)
			}
		}
		var merged distinct.Sketch
		for _, p := range parts {
			stored, err := distinct.Parse(p.String())
			if err != nil {
				t.Fatal(err)
			}
			merged.Merge(stored)
		}
		if merged.String() != whole.String() {
			t.Errorf("%d texts: parts that are merged differ from the whole", n)
		}
		got, off := whole.Count(), int64(0)
		if n > distinct.Kept {
			off = int64(n) / 4
		}
		if got < int64(n)-off || got > int64(n)+off {
			t.Errorf("%d texts are counted as %d", n, got)
		}
		if len(whole.String()) > 2731 {
			t.Errorf("%d texts take %d bytes", n, len(whole.String()))
		}
	}
}

// FuzzParse reads any text: it is refused, or is a sketch that is written as one that reads the same.
func FuzzParse(f *testing.F) {
	var s distinct.Sketch
	for i := range 300 {
		s.Add(fmt.Sprint(i))
	}
	for _, seed := range []string{"", "AAAA", "//////////8", "AAAAAAAAAAA", s.String(), s.String() + s.String()} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := distinct.Parse(text)
		if err != nil {
			return
		}
		b, err := distinct.Parse(a.String())
		if err != nil || b.String() != a.String() || a.Count() != b.Count() || a.Count() < 0 {
			t.Errorf("%q reads as %q, %v", text, b, err)
		}
	})
}
