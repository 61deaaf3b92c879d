package db

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// maxGroup is how many writes share one commit at most, so that the first does not wait for a long queue behind it.
const maxGroup = 128

// group is the queue of writes. A write is slow because its commit waits for the disk. Writes that arrive while
// another commits run one after the other in one transaction and share the next wait. Each runs between its own
// savepoints, so that one that fails loses its own change only.
//
// A write that arrives while others of the group run joins it, up to maxGroup. Under load nearly all callers then
// share one wait for the disk. Otherwise half of them would wait for the other half first.
//
// One goroutine runs the writes. If each caller ran the writes behind its own, the next transaction would begin
// only after all callers of the last one had been scheduled.
type group struct {
	sync.Mutex
	waiting []*write
	arrived chan struct{} // capacity 1; holds a value when writes may wait
}

// write is the write of one caller.
type write struct {
	fn    func(*Tx) error
	done  chan struct{} // closed when err is final
	err   error
	panic any
	after []func() // see Tx.OnCommit
}

// Write runs fn in a write transaction; there is one at a time. When Write returns nil the change is on disk.
// When fn or the commit fails, none of it is. Writes that arrive together share a commit: fn may see changes that
// are not on disk yet, and these reach the disk no later than its own. fn runs on another goroutine than its
// caller's, and never two of them at once.
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

// leave stops waiting, unless the write runs already.
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
	case g.arrived <- struct{}{}:
	default: // serve is woken already
	}
}

// remove removes a write from the queue and reports whether it was there.
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

// take removes the first writes from the queue, at most limit.
func (g *group) take(limit int) []*write {
	g.Lock()
	defer g.Unlock()
	n := min(len(g.waiting), limit)
	taken := append([]*write(nil), g.waiting[:n]...)
	g.waiting = append(g.waiting[:0], g.waiting[n:]...)
	return taken
}

// serve runs the writes in the order of their arrival, until the database is closed.
func (d *DB) serve() {
	ended := false
	defer func() {
		if ended {
			close(d.served)
		} else {
			go d.serve() // a write ended this goroutine with runtime.Goexit, as a failing test does
		}
	}()
	for {
		select {
		case <-d.closed:
			ended = true
			return
		case <-d.queue.arrived:
		}
		for writes := d.queue.take(maxGroup); len(writes) > 0; writes = d.queue.take(maxGroup) {
			d.commit(writes)
		}
	}
}

// commit runs writes in one transaction and sets the result of each.
func (d *DB) commit(writes []*write) {
	tx := &Tx{conn: d.writer, queue: &d.queue, unreadable: d.unreadable}
	err := errUnfinished
	defer func() {
		if err != nil {
			_, _ = tx.Exec("ROLLBACK") // fails only when the engine has rolled back already
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
		// A first write that failed had no savepoint: the transaction is rolled back, so no other write may join it.
		if i == len(writes)-1 && !(i == 0 && writes[0].failed()) {
			writes = append(writes, d.queue.take(maxGroup-len(writes))...)
		}
	}
	if len(writes) == 1 && writes[0].failed() {
		err = errUnfinished // nothing to commit
		return
	}
	_, err = tx.Exec("COMMIT")
}

// errUnfinished is the error of writes whose group was abandoned before its commit.
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
			return fmt.Errorf("the whole transaction was rolled back: %w", err) // a full disk causes that
		}
	}
	_, err = tx.Exec("RELEASE own")
	return err
}

// call runs the function. A panic is stored, to be raised again on the goroutine of the caller.
func (w *write) call(tx *Tx) {
	finished := false
	defer func() {
		if !finished {
			if p := recover(); p != nil {
				w.panic = fmt.Sprintf("%v\n%s", p, debug.Stack()) // the stack is this goroutine's
			} else {
				w.err = errUnfinished // the goroutine ends with runtime.Goexit, as in a failing test
			}
		}
	}()
	own := *tx
	own.after = &w.after
	w.err = w.fn(&own)
	finished = true
}
