// Package queue decides whose turn it is: which writes share a transaction of a lane, which account rests, and who has the
// next connection that reads. It must not know what a write does, nor use a database.
package queue

import (
	"context"
	"slices"
	"sync"
	"time"

	"tocsin/internal/platform/fair"
)

// maxGroup is how many writes share one commit at most, so that the first does not wait for a long queue behind it. maxAppended
// is how many appended rows do, give or take the last write. maxJoined is how long a transaction accepts more writers while
// several accounts write.
const (
	maxGroup    = 128
	maxAppended = 2000
	maxJoined   = 3 * time.Millisecond
)

// Queue is the queue of writes, each of which has a job J. A write is slow because its commit waits for the disk. Writes
// that arrive while another commits run one after the other in one transaction and share the next wait. Each runs between
// its own savepoints, so that one that fails loses its own change only.
//
// A write that arrives while others of the group run joins it, up to maxGroup. Under load nearly all callers then
// share one wait for the disk. Otherwise half of them would wait for the other half first. Each of them waits for all,
// though: while several accounts write in one lane, one with fifty large writes would make the others wait for these. So a
// transaction then takes one write of each account, and further ones only for maxJoined. An account that writes without a
// pause meanwhile rests between its transactions; see rests.
//
// Accounts take turns: a write waits for no more than one write of each other account, however many wait. Those of one
// account run in the order of their arrival.
//
// One goroutine of each lane runs the writes. If each caller ran the writes behind its own, the next transaction would begin
// only after all callers of the last one had been scheduled. Lanes may share a queue; see turns.
type Queue[J any] struct {
	mu      sync.Mutex
	waiting []*Write[J]
	lanes   []*Lane[J] // that run the writes
	turns   turns[J]   // of several lanes
	ofAll   bool       // its one lane runs transactions of several accounts
	shared  bool       // several accounts write
	rests   rests[J]
}

// NoAccount is the account of the program's own work.
const NoAccount = 0

// Write is the write of one caller.
type Write[J any] struct {
	Job     J
	Account int64         // whose turn it is; NoAccount: the program's own
	Rows    int           // that are appended
	Took    time.Duration // how long its function ran
	Shards  []int64       // of the accounts that it writes; nil: of all
	Claims  bool          // it is for a lane that claims
	Passed  int           // how often others were run before it, because its shard was locked
	Err     error         // its result, which End sets
	done    chan struct{} // closed when Err is final
	left    error         // why its caller stopped waiting
}

// Lane runs the writes of a queue one transaction after the other, on one goroutine.
type Lane[J any] struct {
	Claims bool // it runs the writes that claim, and no others
	queue  *Queue[J]
	idle   bool          // it waits for a value in wake
	wake   chan struct{} // capacity 1
	served chan struct{} // closed when the last write has run
}

// New returns a queue whose lanes take turns.
func New[J any](m *fair.Meter) *Queue[J] {
	return &Queue[J]{
		turns: turns[J]{held: map[int64]*Lane[J]{}, had: map[int64]int64{}, last: map[int64]int64{}}, rests: newRests[J](m),
	}
}

// NewOfOne returns the queue of a lane that runs transactions of several accounts.
func NewOfOne[J any](m *fair.Meter) *Queue[J] {
	g := New[J](m)
	g.ofAll = true
	return g
}

// Open adds a lane. All are added before the first one serves.
func (g *Queue[J]) Open(claims bool) *Lane[J] {
	l := &Lane[J]{queue: g, Claims: claims, wake: make(chan struct{}, 1), served: make(chan struct{})}
	g.lanes = append(g.lanes, l)
	return l
}

// Single reports whether one lane runs the writes of several accounts.
func (g *Queue[J]) Single() bool { return g.ofAll }

// Wait adds a write and waits until it has run, ctx or over ends, or closed is closed. Then the write is not run, unless it
// runs already. busy and gone are the errors of the latter two.
func (g *Queue[J]) Wait(ctx context.Context, w *Write[J], over <-chan time.Time, busy error, closed <-chan struct{}, gone error) error {
	w.done = make(chan struct{})
	g.add(w)
	var err error
	select {
	case <-w.done:
		return w.Err
	case <-over:
		err = busy
	case <-closed:
		err = gone
	case <-ctx.Done():
		err = ctx.Err()
	}
	if g.remove(w, err) {
		return err
	}
	<-w.done
	return w.Err
}

// End sets the result of a write, for which its caller waits.
func (w *Write[J]) End(err error) {
	w.Err = err
	close(w.done)
}

// Waiting returns how many writes wait.
func (g *Queue[J]) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting)
}

// Crowded reports whether writes wait for others. Those of accounts that rest wait for their own.
func (g *Queue[J]) Crowded() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.rests.without(g.waiting)) > 0
}

// Awaited reports whether a write waits for what a transaction keeps from it that has locked some shards; nil: all.
func (g *Queue[J]) Awaited(locked []int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.waiting, func(w *Write[J]) bool {
		return len(g.lanes) == 1 || locked == nil || w.Shards == nil || slices.Contains(locked, w.Shards[0])
	})
}

func (g *Queue[J]) add(w *Write[J]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, w)
	if g.ofAll && w.Account != NoAccount {
		g.shared = !g.rests.meter.Alone(w.Account, time.Now())
	}
	g.wake(w.Claims)
}

// wake wakes a lane that is idle.
func (g *Queue[J]) wake(claims bool) {
	for _, l := range g.lanes {
		if l.idle && l.Claims == claims {
			l.idle = false
			l.wake <- struct{}{}
			return
		}
	}
}

// remove removes a write from the queue and reports whether it was there. If not, it runs, or comes back: then it ends
// with an error.
func (g *Queue[J]) remove(w *Write[J], err error) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	w.left = err
	for i := range g.waiting {
		if g.waiting[i] == w {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// Room is what a transaction can still accept, and until when while several accounts write.
type Room struct {
	writes, rows int
	until        time.Time
}

// take removes the next writes from the queue, as many as there is room for, up to the first that needs shards beyond
// those that are locked. In each round every account has one. While several accounts write it takes one round. Those that
// rest have none.
func (g *Queue[J]) take(left *Room, may func(*Write[J]) bool) (taken []*Write[J]) {
	next := rounds(g.rests.without(g.waiting))
	if g.shared && len(next) > 0 {
		next = next[:1]
	}
	for _, w := range slices.Concat(next...) {
		if !left.has(w.Rows) || !may(w) {
			break
		}
		taken = append(taken, w)
	}
	g.drop(taken)
	return taken
}

// has reports whether there is room for a write of so many rows, and takes it.
func (r *Room) has(rows int) bool {
	if r.writes == 0 || r.rows <= 0 {
		return false
	}
	r.writes--
	r.rows -= rows
	return true
}

// drop removes writes that were taken from the queue.
func (g *Queue[J]) drop(taken []*Write[J]) {
	switch len(taken) {
	case 0:
		return
	case len(g.waiting):
		g.waiting = g.waiting[:0]
		return
	}
	gone := map[*Write[J]]bool{}
	for _, w := range taken {
		gone[w] = true
	}
	g.waiting = slices.DeleteFunc(g.waiting, func(w *Write[J]) bool { return gone[w] })
}

// Within returns those of some writes that need no shard beside those that the lane has locked; nil: all are. The others go
// back to the front of the queue.
func (l *Lane[J]) Within(writes []*Write[J], locked []int64) (mine []*Write[J]) {
	g := l.queue
	g.mu.Lock()
	defer g.mu.Unlock()
	var others []*Write[J]
	for _, w := range writes {
		switch {
		case w.Within(locked):
			mine = append(mine, w)
		case w.left != nil:
			w.End(w.left)
		default:
			w.Passed++
			others = append(others, w)
		}
	}
	if len(others) > 0 {
		g.waiting = append(others, g.waiting...)
		g.keep(l, locked)
		g.wake(l.Claims)
	}
	return mine
}

// inRounds returns writes in the order of their rounds.
func inRounds[J any](writes []*Write[J]) []*Write[J] { return slices.Concat(rounds(writes)...) }

// rounds divides writes into rounds, in each of which every account has one.
func rounds[J any](writes []*Write[J]) (rounds [][]*Write[J]) {
	if len(writes) == 1 {
		return [][]*Write[J]{{writes[0]}}
	}
	had := map[int64]int{}
	for _, w := range writes {
		n := had[w.Account]
		had[w.Account]++
		if n == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[n] = append(rounds[n], w)
	}
	return rounds
}

// next removes the next writes for a lane from the queue. Without any the lane is idle.
func (g *Queue[J]) next(l *Lane[J], left *Room) (taken []*Write[J]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.lanes) == 1 {
		left.until = time.Now().Add(maxJoined)
		taken = g.take(left, anyWrite[J])
	} else {
		taken = g.turn(l, left)
	}
	l.idle = len(taken) == 0
	if l.idle {
		g.rests.end(g.waiting, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.wake(false)
			g.wake(true)
		})
	}
	return taken
}

// Ran notes writes that have run in a transaction.
func (g *Queue[J]) Ran(writes []*Write[J], began time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rests.after(writes, began, time.Now())
}

func anyWrite[J any](*Write[J]) bool { return true }

// Serve runs writes with a function, until closed is closed.
func (l *Lane[J]) Serve(run func([]*Write[J], *Room), closed <-chan struct{}) {
	ended := false
	defer func() {
		if ended {
			close(l.served)
		} else {
			go l.Serve(run, closed) // a write ended this goroutine with runtime.Goexit, as a failing test does
		}
	}()
	for {
		left := Room{writes: maxGroup, rows: maxAppended}
		if writes := l.queue.next(l, &left); len(writes) > 0 {
			run(writes, &left)
			continue
		}
		select {
		case <-closed:
			ended = true
			return
		case <-l.wake:
		}
	}
}

// Served returns when the last write has run, after Serve has ended.
func (l *Lane[J]) Served() { <-l.served }

// ShardsOf returns the shards that writes need, in order; nil: all.
func ShardsOf[J any](writes []*Write[J]) (all []int64) {
	for _, w := range writes {
		if w.Shards == nil {
			return nil
		}
		all = append(all, w.Shards...)
	}
	slices.Sort(all) // every transaction locks in this order, so that no two wait for each other
	return slices.Compact(all)
}

// Within reports whether a write needs no shard beside those that are locked; nil: all are.
func (w *Write[J]) Within(locked []int64) bool {
	if locked == nil || w.Shards == nil {
		return locked == nil
	}
	return !slices.ContainsFunc(w.Shards, func(s int64) bool { return !slices.Contains(locked, s) })
}
