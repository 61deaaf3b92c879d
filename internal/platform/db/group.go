package db

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// maxGroup is how many writes share one commit at most, so that the first of them does not wait for a long
// queue behind it.
const maxGroup = 128

// group is the queue of writes. What makes a write slow is the wait for the disk at its commit; writes that
// come while one commits are run one after the other in one transaction and share the next wait. Each stands
// between savepoints of its own, so that one that fails takes nothing with it but its own change.
//
// Writes that come while others of the group run still join it, up to maxGroup. Under load nearly all callers then
// share one wait for the disk, where otherwise half of them would wait for the other half's first.
//
// They are run by a goroutine of its own: were each caller to run what waits behind it, the next transaction
// would begin only when all callers of the last have had their turn.
type group struct {
	sync.Mutex
	waiting []*write
	came    chan struct{} // of room for one: there may be some in waiting
}

// write is one caller's turn.
type write struct {
	fn    func(*Tx) error
	done  chan struct{} // closed when err is final
	err   error
	panic any
	after []func() // see Tx.OnCommit
}

// Write runs fn in the one write transaction there is at a time. When Write returns nil the change is
// on disk; when fn or the commit fails nothing of it is. Writes that arrive together share a commit: fn may
// see changes that are not on disk yet, and they will be before its own are. fn runs on another goroutine
// than its caller's, but never two of them at once.
func (d *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	w := &write{fn: fn, done: make(chan struct{})}
	d.queue.add(w)
	select {
	case <-w.done:
		return w.result()
	case <-d.closed:
		return d.leave(w, ErrClosed)
	case <-ctx.Done():
		return d.leave(w, ctx.Err())
	}
}

// leave gives up waiting, unless the write is being run already.
func (d *DB) leave(w *write, err error) error {
	if d.queue.remove(w) {
		return err
	}
	<-w.done
	return w.result()
}

func (w *write) failed() bool { return w.err != nil || w.panic != nil }

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
	g.waiting = append(g.waiting, w)
	g.Unlock()
	select {
	case g.came <- struct{}{}:
	default: // it is known that some wait
	}
}

func (g *group) remove(w *write) bool {
	g.Lock()
	defer g.Unlock()
	for i := range g.waiting {
		if g.waiting[i] == w {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// take removes the first writes of the queue, at most so many.
func (g *group) take(most int) []*write {
	g.Lock()
	defer g.Unlock()
	n := min(len(g.waiting), most)
	taken := append([]*write(nil), g.waiting[:n]...)
	g.waiting = append(g.waiting[:0], g.waiting[n:]...)
	return taken
}

// serve runs the writes as they come, until the database is closed.
func (d *DB) serve() {
	ended := false
	defer func() {
		if ended {
			close(d.served)
		} else {
			go d.serve() // a write has ended its goroutine, as a test does that fails
		}
	}()
	for {
		select {
		case <-d.closed:
			ended = true
			return
		case <-d.queue.came:
		}
		for writes := d.queue.take(maxGroup); len(writes) > 0; writes = d.queue.take(maxGroup) {
			d.commit(writes)
		}
	}
}

// commit runs writes in one transaction and tells each of them what came of it.
func (d *DB) commit(writes []*write) {
	tx := &Tx{conn: d.writer, queue: &d.queue}
	err := errUnfinished
	defer func() {
		if err != nil {
			tx.Exec("ROLLBACK") // an error means that the engine has done so already
		}
		for _, w := range writes {
			if w.err == nil && w.panic == nil {
				w.err = err
			}
			close(w.done)
		}
	}()
	if _, err = tx.Exec("BEGIN IMMEDIATE"); err != nil {
		return
	}
	for i := 0; i < len(writes); i++ {
		if err = writes[i].run(tx, len(writes) > 1); err != nil {
			return
		}
		if i == len(writes)-1 && !(i == 0 && writes[0].failed()) { // the first had no savepoint: alone it can fail, but nobody can join it then
			writes = append(writes, d.queue.take(maxGroup-len(writes))...)
		}
	}
	if len(writes) == 1 && writes[0].failed() {
		err = errUnfinished // nothing to commit
		return
	}
	_, err = tx.Exec("COMMIT")
}

// errUnfinished is what the writes of a group get that was abandoned before its commit.
var errUnfinished = errors.New("the transaction was abandoned")

// run runs one write of a group, alone or between savepoints. Its error is about the whole group.
func (w *write) run(tx *Tx, shared bool) (err error) {
	if shared {
		if _, err := tx.Exec("SAVEPOINT own"); err != nil {
			return err
		}
	}
	w.call(tx)
	switch {
	case !shared:
		return nil
	case w.failed():
		if _, err = tx.Exec("ROLLBACK TO own"); err != nil {
			return fmt.Errorf("the whole transaction was rolled back: %w", err) // a full disk does that
		}
	}
	_, err = tx.Exec("RELEASE own")
	return err
}

// call runs the function; what it panics with is for its own caller.
func (w *write) call(tx *Tx) {
	finished := false
	defer func() {
		if !finished {
			if p := recover(); p != nil {
				w.panic = fmt.Sprintf("%v\n%s", p, debug.Stack()) // the stack is this goroutine's
			} else {
				w.err = errUnfinished // the goroutine is being ended, by a test that failed
			}
		}
	}()
	own := *tx
	own.after = &w.after
	w.err = w.fn(&own)
	finished = true
}
