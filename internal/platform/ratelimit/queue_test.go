package ratelimit

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// first returns whether a place has its turn.
func first(p *Place) bool {
	select {
	case <-p.Turn():
		return true
	default:
		return false
	}
}

// TestQueueAgainstLists compares the queue with one plain list of who waits.
func TestQueueAgainstLists(t *testing.T) {
	type request struct {
		key   string
		owner int64
		place *Place
	}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		bounds := Bounds{PerKey: 1 + r.IntN(4), PerOwner: 1 + r.IntN(6), InAll: 1 + r.IntN(12)}
		q := NewQueue[string](bounds)
		var waiting []request
		for range 300 {
			if r.IntN(3) > 0 {
				x := request{key: string(rune('a' + r.IntN(4))), owner: r.Int64N(3)}
				var mine, before int
				for _, w := range waiting {
					if w.owner == x.owner {
						mine++
					}
					if w.key == x.key {
						before++
					}
				}
				var ahead int
				x.place, ahead = q.Join(x.key, x.owner)
				room := before < bounds.PerKey && mine < bounds.PerOwner && len(waiting) < bounds.InAll
				if room != (x.place != nil) || ahead != before {
					t.Fatalf("seed %d: room %v, place %v, %d ahead, want %d", seed, room, x.place != nil, ahead, before)
				}
				if x.place != nil {
					waiting = append(waiting, x)
				}
			} else if len(waiting) > 0 { // the first one, or another that waits no more
				i := r.IntN(len(waiting))
				q.Leave(waiting[i].key, waiting[i].place)
				q.Leave(waiting[i].key, waiting[i].place) // again is no harm
				waiting = slices.Delete(waiting, i, i+1)
			}
			seen := map[string]int{}
			for _, w := range waiting {
				if first(w.place) != (seen[w.key] == 0) {
					t.Fatalf("seed %d: a turn of %s is %v behind %d others", seed, w.key, first(w.place), seen[w.key])
				}
				seen[w.key]++
			}
			for _, key := range []string{"a", "b", "c", "d"} {
				if q.Waiting(key) != seen[key] {
					t.Fatalf("seed %d: waiting of %s", seed, key)
				}
			}
		}
		for _, w := range waiting {
			q.Leave(w.key, w.place)
		}
		if len(q.keys)+len(q.owners)+q.places != 0 {
			t.Fatalf("seed %d: %d keys, %d owners and %d places stay", seed, len(q.keys), len(q.owners), q.places)
		}
	}
}
