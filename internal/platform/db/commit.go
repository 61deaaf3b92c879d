package db

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"tocsin/internal/platform/db/driver"
	"tocsin/internal/platform/fault"
)

// commit runs writes in one transaction, with others that come meanwhile if there is room left, and sets the result of
// each.
func (l *lane) commit(writes []*write, left *room) {
	tx := &Tx{conn: l.conn, queue: l.queue, unreadable: l.db.unreadable}
	err, began := errUnfinished, time.Now()
	defer func() {
		defer l.queue.end(l)
		l.queue.ran(writes, began)
		if err != nil {
			l.conn.Rollback()
		}
		for _, w := range writes {
			if w.err == nil && w.panic == nil {
				w.err = err
			}
			close(w.done)
		}
	}()
	err = l.conn.Revive()
	if err != nil {
		return
	}
	var locked []int64
	writes, locked, err = l.begin(tx, writes)
	if err != nil {
		return
	}
	tx.locked = locked
	err = l.db.permitted(tx)
	if err != nil { // waits for the lock, on which the functions rely from their first line on
		return
	}
	begun := time.Now()
	for i := 0; i < len(writes); i++ {
		err = writes[i].run(tx, len(writes) > 1)
		if err != nil {
			return
		}
		if len(writes) == 1 && tx.Awaited() { // an error of what it sent must not become that of one that joins it
			writes[0].fail(tx.Flush())
		}
		// A first write that failed had no savepoint: the transaction is rolled back, so no other write may join it.
		if i == len(writes)-1 && !(i == 0 && writes[0].failed()) {
			writes = append(writes, l.queue.join(writes, locked, left)...)
		}
	}
	if len(writes) == 1 && writes[0].failed() {
		err = errUnfinished // nothing to commit
		return
	}
	ran := time.Now()
	_, err = tx.Exec("COMMIT")
	if err == nil {
		l.committed(&Commit{Began: began, Begun: begun, Ran: ran, Ended: time.Now(), writes: writes})
	}
}

// maxPassed is how often others may be run before a write whose shard is locked.
const maxPassed = 8

// begin begins a transaction and locks shards of writes. It returns the writes that run in it, and the shards; nil: all. A
// transaction that waits for a shard must have no other: accounts would wait for each other's. So of several shards those
// are locked that are free, and the writes of the others go back to the queue; if none is, it waits for the first. A claim
// goes back when that takes long: another process has the shard, and other claims wait for the lane.
func (l *lane) begin(tx *Tx, writes []*write) (mine []*write, locked []int64, err error) {
	if err := tx.Do(l.db.traits.Begin); err != nil {
		return writes, nil, err
	}
	wanted := shardsOf(writes)
	if len(wanted) > 1 && writes[0].passed < maxPassed {
		locked, err = l.lock(tx, wanted, true)
		if err != nil {
			return writes, nil, err
		}
	}
	if len(locked) > 0 {
		return l.queue.within(l, writes, locked), locked, nil
	}
	if len(wanted) > 1 {
		wanted = writes[0].shards
	}
	mine = l.queue.within(l, writes, wanted)
	locked, err = l.lock(tx, wanted, false)
	if l.claims && fault.KindOf(err) == fault.Unavailable {
		mine = l.queue.within(l, mine, []int64{})
	}
	return mine, locked, err
}

// lock locks some shards, or those of them that are free, and returns which. It may not wait until it has them.
func (l *lane) lock(tx *Tx, wanted []int64, free bool) (locked []int64, err error) {
	shared := l.db.shared
	if shared == nil {
		return wanted, nil
	}
	if l.claims && !free {
		return wanted, lockSoon(tx, shared.LockSoon(wanted[0]))
	}
	s := shared.Lock(wanted, free)
	if free {
		return All(tx, Column[int64], s.Query, s.Args...)
	}
	return wanted, tx.Do(s.Query, s.Args...)
}

// lockSoon fails when a shard cannot be locked soon.
func lockSoon(tx *Tx, s driver.Statement) error {
	locked, _, err := One(tx, Column[bool], s.Query, s.Args...)
	if err == nil && !locked {
		return errHeld
	}
	return err
}

// errHeld is the error of a claim whose account another process writes.
var errHeld = fault.New(fault.Unavailable, "another process has the lock of the account")

// shardsOf returns the shards that writes need, in order; nil: all.
func shardsOf(writes []*write) (all []int64) {
	for _, w := range writes {
		if w.shards == nil {
			return nil
		}
		all = append(all, w.shards...)
	}
	slices.Sort(all) // every transaction locks in this order, so that no two wait for each other
	return slices.Compact(all)
}

// within reports whether a write needs no shard beside those that are locked; nil: all are.
func (w *write) within(locked []int64) bool {
	if locked == nil || w.shards == nil {
		return locked == nil
	}
	return !slices.ContainsFunc(w.shards, func(s int64) bool { return !slices.Contains(locked, s) })
}

// errUnfinished is the error of writes whose group was abandoned before its commit.
var errUnfinished = errors.New("the transaction was abandoned")

// run runs one write of a group, alone or between savepoints. Its error is about the whole group.
func (w *write) run(tx *Tx, shared bool) (err error) {
	if shared {
		if err := tx.Do("SAVEPOINT own"); err != nil {
			return err
		}
	}
	began := time.Now()
	w.call(tx)
	w.took = time.Since(began)
	if !shared {
		return nil
	}
	w.fail(tx.Flush())
	if !w.failed() {
		return tx.Do("RELEASE own")
	}
	_, err = tx.Exec("ROLLBACK TO own")
	if err != nil { // a full disk causes that, or a lock that was not to be had
		return fmt.Errorf("the whole transaction was rolled back: %w", cmp.Or(w.err, err))
	}
	tx.broken = nil
	return tx.Do("RELEASE own")
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
	if w.err == nil {
		w.err = own.broken
	}
	finished = true
}
