package db

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
type turns struct {
	held map[int64]*lane // by shard
	all  *lane           // that writes all accounts
	had  map[int64]int64 // by account: the number of its last turn
	last map[int64]int64 // by shard: the account that had it last
	n    int64
}

// turn removes the next writes for a lane from the queue, with their shards.
func (g *group) turn(l *lane, left *room) (taken []*write) {
	t, first := &g.turns, g.first(l)
	switch {
	case len(first) == 0:
		g.rest()
		return nil
	case first[0].shards == nil:
		taken, t.all = g.ofKind(left, func(w *write) bool { return w.shards == nil }), l
	default:
		first = slices.DeleteFunc(first, func(w *write) bool { return w.shards == nil })
		for _, w := range g.part(l, first) {
			if left.has(w) {
				taken = append(taken, w)
			}
		}
		g.drop(taken)
		if len(taken) == 1 {
			taken = append(taken, g.ofAccount(taken[0], left)...)
		}
	}
	for _, w := range taken {
		if t.n++; w.shards != nil {
			t.held[w.shards[0]], t.last[w.shards[0]] = l, w.account
		}
		t.had[w.account] = t.n
	}
	if len(g.waiting) > 0 {
		g.wake(l.claims)
	}
	return taken
}

// first returns the first write of each account that a lane can run, in the order of their turns.
func (g *group) first(l *lane) (first []*write) {
	known := map[int64]bool{}
	for _, w := range g.rests.without(g.waiting) {
		if w.claims != l.claims || known[w.account] {
			continue
		}
		known[w.account] = true
		if w.shards == nil && g.turns.all == nil || w.shards != nil && g.turns.held[w.shards[0]] == nil {
			first = append(first, w)
		}
	}
	slices.SortStableFunc(first, func(a, b *write) int { return cmp.Compare(g.turns.had[a.account], g.turns.had[b.account]) })
	return first
}

// part returns a lane's part of writes of accounts that are in turn.
func (g *group) part(l *lane, first []*write) (part []*write) {
	var wanted []int64
	for _, w := range first {
		if !slices.Contains(wanted, w.shards[0]) {
			wanted = append(wanted, w.shards[0])
		}
	}
	lanes := 0
	for _, other := range g.lanes {
		if other.claims == l.claims {
			lanes++
		}
	}
	wanted = wanted[:(len(wanted)+lanes-1)/lanes]
	had := map[int64]bool{} // shards that are in the part
	for _, w := range first {
		shard := w.shards[0]
		if last, known := g.turns.last[shard]; !slices.Contains(wanted, shard) || had[shard] && known && last == w.account {
			continue
		}
		had[shard] = true
		part = append(part, w)
	}
	return part
}

// ofKind removes the writes that a function chooses from the queue.
func (g *group) ofKind(left *room, chosen func(*write) bool) (taken []*write) {
	for _, w := range inRounds(g.waiting) {
		if chosen(w) && left.has(w) {
			taken = append(taken, w)
		}
	}
	g.drop(taken)
	return taken
}

// ofAccount removes the further writes of an account from the queue that can run with one of it, if no other account waits
// for their shard.
func (g *group) ofAccount(with *write, left *room) (taken []*write) {
	alike := func(w *write) bool {
		return w.claims == with.claims && w.shards != nil && w.shards[0] == with.shards[0]
	}
	if slices.ContainsFunc(g.waiting, func(w *write) bool { return alike(w) && w.account != with.account }) {
		return nil
	}
	return g.ofKind(left, alike)
}

// join removes writes from the queue that share the transaction of others that run already.
func (g *group) join(writes []*write, locked []int64, left *room) []*write {
	g.Lock()
	defer g.Unlock()
	switch {
	case g.shared && time.Now().After(left.until):
		return nil
	case len(g.lanes) == 1:
		return g.take(left, func(w *write) bool { return w.within(locked) })
	case locked == nil:
		return g.ofKind(left, func(w *write) bool { return w.shards == nil })
	case slices.ContainsFunc(writes, func(w *write) bool { return w.account != writes[0].account }):
		return nil
	}
	return g.ofAccount(writes[0], left)
}

// keep releases a lane's shards that are not in locked; nil keeps all.
func (g *group) keep(l *lane, locked []int64) {
	for shard, of := range g.turns.held {
		if of == l && locked != nil && !slices.Contains(locked, shard) {
			delete(g.turns.held, shard)
		}
	}
}

// end ends the turn of a lane. Others may wait for its shards.
func (g *group) end(l *lane) {
	if len(g.lanes) == 1 {
		return
	}
	g.Lock()
	defer g.Unlock()
	g.keep(l, []int64{})
	if g.turns.all == l {
		g.turns.all = nil
	}
	if len(g.waiting) > 0 {
		g.wake(!l.claims)
	}
}

// rest forgets the turns when no write waits or runs: the maps must not grow.
func (g *group) rest() {
	if len(g.waiting) == 0 && len(g.turns.held) == 0 && g.turns.all == nil {
		clear(g.turns.had)
		clear(g.turns.last)
	}
}
