package queue

import (
	"fmt"
	"testing"
	"time"

	"tocsin/internal/platform/fair"
)

// TestTake: accounts take turns, and a transaction takes what there is room for.
func TestTake(t *testing.T) {
	t.Parallel()
	queue := func(of ...int64) *Queue[int] {
		g := New[int](fair.NewMeter())
		for n, account := range of {
			g.add(&Write[int]{Account: account, Rows: 100 * n})
		}
		return g
	}
	for _, c := range []struct {
		name string
		of   []int64
		room Room
		may  func(*Write[int]) bool
		want string // account and rows of each
		left int
	}{
		{"one account", []int64{1, 1, 1}, Room{writes: 9, rows: 9999}, anyWrite[int], "[1:0 1:100 1:200]", 0},
		{"rounds", []int64{1, 1, 1, 2, 1, 3, 2}, Room{writes: 9, rows: 9999}, anyWrite[int], "[1:0 2:300 3:500 1:100 2:600 1:200 1:400]", 0},
		{"few writes", []int64{1, 1, 1, 2, 1, 3, 2}, Room{writes: 4, rows: 9999}, anyWrite[int], "[1:0 2:300 3:500 1:100]", 3},
		{"few rows", []int64{1, 1, 1, 2, 1, 3, 2}, Room{writes: 9, rows: 301}, anyWrite[int], "[1:0 2:300 3:500]", 4},
		{"locked", []int64{1, 1, 2, 3}, Room{writes: 9, rows: 9999}, func(w *Write[int]) bool { return w.Account != 2 }, "[1:0]", 3},
		{"none", nil, Room{writes: 9, rows: 9999}, anyWrite[int], "[]", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, got := queue(c.of...), []string{}
			for _, w := range g.take(&c.room, c.may) {
				got = append(got, fmt.Sprintf("%d:%d", w.Account, w.Rows))
			}
			if fmt.Sprint(got) != c.want || len(g.waiting) != c.left {
				t.Errorf("got %v and %d wait, want %s and %d", got, len(g.waiting), c.want, c.left)
			}
		})
	}
}

// TestLaneOfAll: alone, an account has all its writes in a transaction of the lane that all accounts share. Beside others it
// has one, and then one in each round for which there is time.
func TestLaneOfAll(t *testing.T) {
	t.Parallel()
	g := NewOfOne[int](fair.NewMeter())
	g.lanes = []*Lane[int]{{queue: g, wake: make(chan struct{}, 99)}}
	var running []*Write[int]
	add := func(of ...int64) {
		for _, account := range of {
			g.add(&Write[int]{Account: account})
		}
	}
	var left Room
	begin := func() []*Write[int] {
		left = Room{writes: 99, rows: 99}
		running = g.next(g.lanes[0], &left)
		return running
	}
	beside := func() []*Write[int] {
		keepCompany(g.rests.meter, time.Now())
		add(4) // the first write since
		g.remove(g.waiting[len(g.waiting)-1], nil)
		return begin()
	}
	join := func() []*Write[int] {
		left.until = time.Now().Add(time.Minute)
		return g.lanes[0].Join(running, nil, &left)
	}
	late := func() []*Write[int] {
		left.until = time.Now().Add(-time.Second)
		return g.lanes[0].Join(running, nil, &left)
	}
	for _, step := range []struct {
		name string
		add  []int64
		take func() []*Write[int]
		want string
	}{
		{"alone", []int64{1, 1, 1}, begin, "[1 1 1]"},
		{"alone, those that come meanwhile", []int64{1, 1}, late, "[1 1]"},
		{"the program's own writes are no company", []int64{NoAccount, 1, 1}, begin, "[0 1 1]"},
		{"one of each account", []int64{1, 1, 1, 2}, beside, "[1 2]"},
		{"then one more of each", []int64{3, 2}, join, "[1 3 2]"},
		{"and the next", nil, join, "[1]"},
		{"none when the time is over", []int64{1, 1, 3}, late, "[]"},
		{"who waits longest has the next turn", nil, begin, "[1 3]"},
		{"and one more", nil, begin, "[1]"},
		{"nobody waits", nil, begin, "[]"},
	} {
		add(step.add...)
		accounts := []int64{}
		for _, w := range step.take() {
			accounts = append(accounts, w.Account)
		}
		if got := fmt.Sprint(accounts); got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
	}
}

// TestTurn: lanes that share a queue take what no other lane has, the account that waits for its turn the longest first.
func TestTurn(t *testing.T) {
	t.Parallel()
	g := New[int](fair.NewMeter())
	for n := range 4 {
		g.lanes = append(g.lanes, &Lane[int]{queue: g, Claims: n == 3, wake: make(chan struct{}, 99)})
	}
	a := g.lanes[0]
	b := g.lanes[1]
	claimer := g.lanes[3]
	const shards = 64
	add := func(claims bool, of ...int64) {
		for _, account := range of {
			w := &Write[int]{Account: account, Claims: claims}
			if account != NoAccount {
				w.Shards = []int64{account % shards}
			}
			g.add(w)
		}
	}
	const hog, neighbour = 1, 1 + shards // in one shard
	for _, step := range []struct {
		name string
		do   func()
		of   *Lane[int]
		want string // the accounts whose writes the lane takes
	}{
		{"an account that is alone has all its turns at once", func() { add(false, hog, hog, hog) }, a, "[1 1 1]"},
		{"no other lane takes it meanwhile", func() { add(false, hog, hog); add(true, hog) }, b, "[]"},
		{"nor does the one that claims", nil, claimer, "[]"},
		{"it claims for others", func() { add(true, 2, hog) }, claimer, "[2]"},
		{"other accounts are divided between the lanes", func() { add(false, 3, 4, 5, 6) }, b, "[3 4]"},
		{"one after the other", func() { add(false, neighbour); a.End() }, a, "[5]"},
		{"those who had no turn first", func() { a.End() }, a, "[6]"},
		{"one of the same shard by itself", func() { a.End() }, a, "[65]"},
		{"then comes the account again, and has one turn", func() { add(false, neighbour); a.End() }, a, "[1]"},
		{"what it claims waits for it", func() { claimer.End() }, claimer, "[]"},
		{"and has its turn", func() { a.End() }, claimer, "[1 1]"},
		{"it takes no turn of the others", func() { b.End() }, b, "[]"},
		{"who wait for one turn", func() { claimer.End() }, b, "[65]"},
		{"a write of all accounts has a turn too", func() { add(false, NoAccount, 7) }, a, "[0]"},
		{"beside one account", nil, a, "[7]"},
	} {
		if step.do != nil {
			step.do()
		}
		got := []int64{}
		for _, w := range g.next(step.of, &Room{writes: 9, rows: 9999}) {
			got = append(got, w.Account)
		}
		if fmt.Sprint(got) != step.want {
			t.Errorf("%s: %v, want %s", step.name, got, step.want)
		}
	}
}
