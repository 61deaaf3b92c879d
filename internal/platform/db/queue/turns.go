package queue

import (
	"cmp"
	"slices"
	"time"
)

// turns chooses the account that is written next where several lanes share a queue. A lane never takes a write of a shard that
// another lane of this process has: it would wait for its lock while it could run others. So an account with much to write
// keeps one lane busy, and one that claims, and no more.
//
// A lane takes a part of the accounts that wait, those first whose last turn is the longest ago, and one write of each: what
// shares a transaction waits for all of it. Several writes of one account share a transaction only if no other account is in
// it. The account that had a shard last does not share the next transaction of others in that shard.
type turns[J any] struct {
	held map[int64]*Lane[J] // by shard
	all  *Lane[J]           // that writes all accounts
	had  map[int64]int64    // by account: the number of its last turn
	last map[int64]int64    // by shard: the account that had it last
	n    int64
}

// turn removes the next writes for a lane from the queue, with their shards.
func (g *Queue[J]) turn(l *Lane[J], left *Room) (taken []*Write[J]) {
	t, first := &g.turns, g.first(l)
	switch {
	case len(first) == 0:
		g.rest()
		return nil
	case first[0].Shards == nil:
		taken, t.all = g.ofKind(left, func(w *Write[J]) bool { return w.Shards == nil }), l
	default:
		first = slices.DeleteFunc(first, func(w *Write[J]) bool { return w.Shards == nil })
		for _, w := range g.part(l, first) {
			if left.has(w.Rows) {
				taken = append(taken, w)
			}
		}
		g.drop(taken)
		if len(taken) == 1 {
			taken = append(taken, g.ofAccount(taken[0], left)...)
		}
	}
	for _, w := range taken {
		if t.n++; w.Shards != nil {
			t.held[w.Shards[0]], t.last[w.Shards[0]] = l, w.Account
		}
		t.had[w.Account] = t.n
	}
	if len(g.waiting) > 0 {
		g.wake(l.Claims)
	}
	return taken
}

// first returns the first write of each account that a lane can run, in the order of their turns.
func (g *Queue[J]) first(l *Lane[J]) (first []*Write[J]) {
	known := map[int64]bool{}
	for _, w := range g.rests.without(g.waiting) {
		if w.Claims != l.Claims || known[w.Account] {
			continue
		}
		known[w.Account] = true
		if w.Shards == nil && g.turns.all == nil || w.Shards != nil && g.turns.held[w.Shards[0]] == nil {
			first = append(first, w)
		}
	}
	slices.SortStableFunc(first, func(a, b *Write[J]) int { return cmp.Compare(g.turns.had[a.Account], g.turns.had[b.Account]) })
	return first
}

// part returns a lane's part of writes of accounts that are in turn.
func (g *Queue[J]) part(l *Lane[J], first []*Write[J]) (part []*Write[J]) {
	var wanted []int64
	for _, w := range first {
		if !slices.Contains(wanted, w.Shards[0]) {
			wanted = append(wanted, w.Shards[0])
		}
	}
	lanes := 0
	for _, other := range g.lanes {
		if other.Claims == l.Claims {
			lanes++
		}
	}
	wanted = wanted[:(len(wanted)+lanes-1)/lanes]
	had := map[int64]bool{} // shards that are in the part
	for _, w := range first {
		shard := w.Shards[0]
		if last, known := g.turns.last[shard]; !slices.Contains(wanted, shard) || had[shard] && known && last == w.Account {
			continue
		}
		had[shard] = true
		part = append(part, w)
	}
	return part
}

// ofKind removes the writes that a function chooses from the queue.
func (g *Queue[J]) ofKind(left *Room, chosen func(*Write[J]) bool) (taken []*Write[J]) {
	for _, w := range inRounds(g.waiting) {
		if chosen(w) && left.has(w.Rows) {
			taken = append(taken, w)
		}
	}
	g.drop(taken)
	return taken
}

// ofAccount removes the further writes of an account from the queue that can run with one of it, if no other account waits
// for their shard.
func (g *Queue[J]) ofAccount(with *Write[J], left *Room) (taken []*Write[J]) {
	alike := func(w *Write[J]) bool {
		return w.Claims == with.Claims && w.Shards != nil && w.Shards[0] == with.Shards[0]
	}
	if slices.ContainsFunc(g.waiting, func(w *Write[J]) bool { return alike(w) && w.Account != with.Account }) {
		return nil
	}
	return g.ofKind(left, alike)
}

// Join removes writes from the queue that share the transaction of others that run already.
func (l *Lane[J]) Join(writes []*Write[J], locked []int64, left *Room) []*Write[J] {
	g := l.queue
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.shared && time.Now().After(left.until):
		return nil
	case len(g.lanes) == 1:
		return g.take(left, func(w *Write[J]) bool { return w.Within(locked) })
	case locked == nil:
		return g.ofKind(left, func(w *Write[J]) bool { return w.Shards == nil })
	case slices.ContainsFunc(writes, func(w *Write[J]) bool { return w.Account != writes[0].Account }):
		return nil
	}
	return g.ofAccount(writes[0], left)
}

// keep releases a lane's shards that are not in locked; nil keeps all.
func (g *Queue[J]) keep(l *Lane[J], locked []int64) {
	for shard, of := range g.turns.held {
		if of == l && locked != nil && !slices.Contains(locked, shard) {
			delete(g.turns.held, shard)
		}
	}
}

// End ends the turn of a lane. Others may wait for its shards.
func (l *Lane[J]) End() {
	g := l.queue
	if len(g.lanes) == 1 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keep(l, []int64{})
	if g.turns.all == l {
		g.turns.all = nil
	}
	if len(g.waiting) > 0 {
		g.wake(!l.Claims)
	}
}

// rest forgets the turns when no write waits or runs: the maps must not grow.
func (g *Queue[J]) rest() {
	if len(g.waiting) == 0 && len(g.turns.held) == 0 && g.turns.all == nil {
		clear(g.turns.had)
		clear(g.turns.last)
	}
}
