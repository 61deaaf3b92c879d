package db

import (
	"context"
	"slices"
	"sync"
	"time"

	"tocsin/internal/platform/db/driver"
	"tocsin/internal/platform/gate"
)

// maxGroup is how many writes share one commit at most, so that the first does not wait for a long queue behind it. maxAppended
// is how many appended rows do, give or take the last write. maxJoined is how long a transaction accepts more writers while
// several accounts write.
const (
	maxGroup    = 128
	maxAppended = 2000
	maxJoined   = 3 * time.Millisecond
)

// group is the queue of writes. A write is slow because its commit waits for the disk. Writes that arrive while
// another commits run one after the other in one transaction and share the next wait. Each runs between its own
// savepoints, so that one that fails loses its own change only.
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
type group struct {
	sync.Mutex
	waiting []*write
	lanes   []*lane       // that run the writes
	turns   turns         // of several lanes
	company *gate.Company // of the accounts that write, where one lane runs transactions of several; else nil
	shared  bool          // several have written lately
	rests   rests
}

// write is the write of one caller.
type write struct {
	fn      func(*Tx) error
	account int64         // whose turn it is; NoAccount: the program's own
	rows    int           // that are appended
	took    time.Duration // how long its function ran
	shards  []int64       // of the accounts that it writes; nil: of all
	claims  bool          // see ClaimOf
	batches []Rows        // what Append inserts, in place of fn
	passed  int           // how often others were run before it, because its shard was locked
	left    error         // why its caller stopped waiting
	done    chan struct{} // closed when err is final
	err     error
	panic   any
	after   []func() // see Tx.OnCommit
}

// lane is a connection that writes, the queue of its writes, and the goroutine that runs them.
type lane struct {
	db     *DB
	conn   driver.Conn
	queue  *group
	claims bool          // it runs the writes of ClaimOf, and no others
	idle   bool          // it waits for a value in wake
	wake   chan struct{} // capacity 1
	looked time.Time     // when a lane that appends last asked whether the program may write
	served chan struct{} // closed when the last write has run
}

// shardOf returns the part that an account is in.
func shardOf(account int64) int64 { return int64(uint64(account) % driver.Shards) } //nolint:gosec // less than 64

// BatchSize returns how many rows of one account a transaction should write, of many: the usual number in the one lane of all
// accounts, twice as many where no other account waits for it.
func (d *DB) BatchSize(usual int) int {
	if d.writes.company == nil {
		return 2 * usual
	}
	return usual
}

// Write runs fn in a write transaction, while no other runs in any process that has the database open. When Write returns
// nil the change is on disk. When fn or the commit fails, none of it is. Writes that arrive together share a commit: fn
// may see changes that are not on disk yet, and these reach the disk no later than its own. fn runs on another goroutine
// than its caller's.
func (d *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	return d.write(ctx, d.writes, &write{fn: fn, account: account(ctx)})
}

// WriteOf is Write for a function that writes rows of one account, and reads no other rows before it does: transactions
// of other accounts may run beside it. The functions of one account never run at once, in any process.
func (d *DB) WriteOf(ctx context.Context, account int64, fn func(*Tx) error) error {
	return d.write(ctx, d.writes, &write{fn: fn, account: account, shards: []int64{shardOf(account)}})
}

// ClaimOf is WriteOf for a function that calls Tx.TryLock. Those of one process take turns, so that none finds a lock that
// another of them has.
func (d *DB) ClaimOf(ctx context.Context, account int64, fn func(*Tx) error) error {
	return d.write(ctx, d.writes, &write{fn: fn, account: account, shards: []int64{shardOf(account)}, claims: d.traits.Claimers > 0})
}

// NoAccount is for WriteOf of rows that no write of an account touches, such as those about processes: Write would make
// all accounts wait.
const NoAccount = 0

// write adds a write to a queue and waits for its result.
func (d *DB) write(ctx context.Context, g *group, w *write) error {
	return d.reason(ctx, d.wait(ctx, g, w))
}

func (d *DB) wait(ctx context.Context, g *group, w *write) error {
	w.done = make(chan struct{})
	defer func(began time.Time) { gate.Waited(ctx, time.Since(began)) }(time.Now())
	g.add(w)
	over, stop := d.patience()
	defer stop()
	select {
	case <-w.done:
		return w.result()
	case <-over:
		return g.leave(w, errBusy)
	case <-d.closed:
		return g.leave(w, ErrClosed)
	case <-ctx.Done():
		return g.leave(w, ctx.Err())
	}
}

// leave stops waiting, unless the write runs already.
func (g *group) leave(w *write, err error) error {
	if g.remove(w, err) {
		return err
	}
	<-w.done
	return w.result()
}

func (w *write) failed() bool { return w.err != nil || w.panic != nil }

// fail stores an error of a write that has none yet.
func (w *write) fail(err error) {
	if !w.failed() {
		w.err = err
	}
}

func (w *write) result() error {
	if w.panic != nil {
		panic(w.panic)
	}
	if w.err == nil {
		for _, fn := range w.after {
			fn()
		}
	}
	return w.err
}

func (g *group) add(w *write) {
	g.Lock()
	defer g.Unlock()
	g.waiting = append(g.waiting, w)
	if g.company != nil && w.account != NoAccount {
		g.shared = !g.company.Alone(w.account, time.Now())
	}
	g.wake(w.claims)
}

// wake wakes a lane that is idle.
func (g *group) wake(claims bool) {
	for _, l := range g.lanes {
		if l.idle && l.claims == claims {
			l.idle = false
			l.wake <- struct{}{}
			return
		}
	}
}

// remove removes a write from the queue and reports whether it was there. If not, it runs, or comes back: then it ends
// with an error.
func (g *group) remove(w *write, err error) bool {
	g.Lock()
	defer g.Unlock()
	w.left = err
	for i := range g.waiting {
		if g.waiting[i] == w {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// room is what a transaction can still accept, and until when while several accounts write.
type room struct {
	writes, rows int
	until        time.Time
}

// take removes the next writes from the queue, as many as there is room for, up to the first that needs shards beyond
// those that are locked. In each round every account has one. While several accounts write it takes one round. Those that
// rest have none.
func (g *group) take(left *room, may func(*write) bool) (taken []*write) {
	next := rounds(g.rests.without(g.waiting))
	if g.shared && len(next) > 0 {
		next = next[:1]
	}
	for _, w := range slices.Concat(next...) {
		if !left.has(w) || !may(w) {
			break
		}
		taken = append(taken, w)
	}
	g.drop(taken)
	return taken
}

// has reports whether there is room for a write, and takes it.
func (r *room) has(w *write) bool {
	if r.writes == 0 || r.rows <= 0 {
		return false
	}
	r.writes--
	r.rows -= w.rows
	return true
}

// drop removes writes that were taken from the queue.
func (g *group) drop(taken []*write) {
	switch len(taken) {
	case 0:
		return
	case len(g.waiting):
		g.waiting = g.waiting[:0]
		return
	}
	gone := map[*write]bool{}
	for _, w := range taken {
		gone[w] = true
	}
	g.waiting = slices.DeleteFunc(g.waiting, func(w *write) bool { return gone[w] })
}

// within returns those of some writes that need no shard beside those that a lane has locked; nil: all are. The others go
// back to the front of the queue.
func (g *group) within(l *lane, writes []*write, locked []int64) (mine []*write) {
	g.Lock()
	defer g.Unlock()
	var others []*write
	for _, w := range writes {
		switch {
		case w.within(locked):
			mine = append(mine, w)
		case w.left != nil:
			w.err = w.left
			close(w.done)
		default:
			w.passed++
			others = append(others, w)
		}
	}
	if len(others) > 0 {
		g.waiting = append(others, g.waiting...)
		g.keep(l, locked)
		g.wake(l.claims)
	}
	return mine
}

// inRounds returns writes in the order of their rounds.
func inRounds(writes []*write) []*write { return slices.Concat(rounds(writes)...) }

// rounds divides writes into rounds, in each of which every account has one.
func rounds(writes []*write) (rounds [][]*write) {
	if len(writes) == 1 {
		return [][]*write{{writes[0]}}
	}
	had := map[int64]int{}
	for _, w := range writes {
		n := had[w.account]
		had[w.account]++
		if n == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[n] = append(rounds[n], w)
	}
	return rounds
}

// next removes the next writes for a lane from the queue. Without any the lane is idle.
func (g *group) next(l *lane, left *room) (taken []*write) {
	g.Lock()
	defer g.Unlock()
	if len(g.lanes) == 1 {
		left.until = time.Now().Add(maxJoined)
		taken = g.take(left, anyWrite)
	} else {
		taken = g.turn(l, left)
	}
	l.idle = len(taken) == 0
	if l.idle {
		g.rests.end(g.waiting, func() {
			g.Lock()
			defer g.Unlock()
			g.wake(false)
			g.wake(true)
		})
	}
	return taken
}

// ran notes writes that have run in a transaction.
func (g *group) ran(writes []*write, began time.Time) {
	g.Lock()
	defer g.Unlock()
	g.rests.after(writes, began, time.Now())
}

func anyWrite(*write) bool { return true }

// serve runs the writes of the queue, until the database is closed.
func (l *lane) serve(run func([]*write, *room)) {
	ended := false
	defer func() {
		if ended {
			close(l.served)
		} else {
			go l.serve(run) // a write ended this goroutine with runtime.Goexit, as a failing test does
		}
	}()
	for {
		left := room{writes: maxGroup, rows: maxAppended}
		if writes := l.queue.next(l, &left); len(writes) > 0 {
			run(writes, &left)
			continue
		}
		select {
		case <-l.db.closed:
			ended = true
			return
		case <-l.wake:
		}
	}
}
