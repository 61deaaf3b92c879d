package ratelimit

import "testing"

// TestSharesAddUp: whatever the number of processes, together they accept the rate, or one each.
func TestSharesAddUp(t *testing.T) {
	for of := 1; of <= 12; of++ {
		for limit := range 200 {
			sum := 0
			for rank := range of {
				s := &Share{}
				s.Set(rank, of)
				r := s.Of(Rate{PerSecond: limit, PerMinute: 1000})
				if r.PerMinute < 1000/of || limit > 0 && r.PerSecond < 1 {
					t.Fatalf("%d of %d: %+v", rank, of, r)
				}
				sum += r.PerSecond
			}
			if want := max(limit, of); limit == 0 && sum != 0 || limit > 0 && sum != want {
				t.Fatalf("%d nodes accept %d of %d", of, sum, limit)
			}
		}
	}
	var none *Share
	if whole := (Rate{7, 9}); none.Of(whole) != whole || (&Share{}).Of(whole) != whole {
		t.Error("a share that was not set is not the whole")
	}
}

// TestTableAcceptsItsShare: also when the share shrinks and grows while requests come.
func TestTableAcceptsItsShare(t *testing.T) {
	share := &Share{}
	table := New[string](0).Divided(share)
	accepted := func() (n int) {
		for range 100 {
			if table.Allow("k", Rate{PerSecond: 10}, start).OK {
				n++
			}
		}
		return n
	}
	share.Set(1, 3)
	if n := accepted(); n != 3 {
		t.Errorf("the second of three accepts %d of 10, want 3", n)
	}
	share.Set(0, 1) // the others are gone
	if n := accepted(); n != 7 {
		t.Errorf("alone it accepts %d more in this second, want 7", n)
	}
}
