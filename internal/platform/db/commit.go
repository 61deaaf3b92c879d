package db

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"tocsin/internal/platform/db/driver"
	"tocsin/internal/platform/db/queue"
	"tocsin/internal/platform/fault"
)

// commit runs writes in one transaction, with others that come meanwhile if there is room left, and sets the result of
// each.
func (l *lane) commit(writes []*write, left *queue.Room) {
	tx := &Tx{conn: l.conn, queue: l.queue, unreadable: l.db.unreadable}
	err, began := errUnfinished, time.Now()
	defer func() {
		defer l.End()
		l.queue.Ran(writes, began)
		if err != nil {
			l.conn.Rollback()
		}
		for _, w := range writes {
			fail(w, err)
			w.End(w.Err)
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
		err = runWrite(writes[i], tx, len(writes) > 1)
		if err != nil {
			return
		}
		if len(writes) == 1 && tx.Awaited() { // an error of what it sent must not become that of one that joins it
			fail(writes[0], tx.Flush())
		}
		// A first write that failed had no savepoint: the transaction is rolled back, so no other write may join it.
		if i == len(writes)-1 && !(i == 0 && failed(writes[0])) {
			writes = append(writes, l.Join(writes, locked, left)...)
		}
	}
	if len(writes) == 1 && failed(writes[0]) {
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
	wanted := queue.ShardsOf(writes)
	if len(wanted) > 1 && writes[0].Passed < maxPassed {
		locked, err = l.lock(tx, wanted, true)
		if err != nil {
			return writes, nil, err
		}
	}
	if len(locked) > 0 {
		return l.Within(writes, locked), locked, nil
	}
	if len(wanted) > 1 {
		wanted = writes[0].Shards
	}
	mine = l.Within(writes, wanted)
	locked, err = l.lock(tx, wanted, false)
	if l.Claims && fault.KindOf(err) == fault.Unavailable {
		mine = l.Within(mine, []int64{})
	}
	return mine, locked, err
}

// lock locks some shards, or those of them that are free, and returns which. It may not wait until it has them.
func (l *lane) lock(tx *Tx, wanted []int64, free bool) (locked []int64, err error) {
	shared := l.db.shared
	if shared == nil {
		return wanted, nil
	}
	if l.Claims && !free {
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

// errUnfinished is the error of writes whose group was abandoned before its commit.
var errUnfinished = errors.New("the transaction was abandoned")

// runWrite runs one write of a group, alone or between savepoints. Its error is about the whole group.
func runWrite(w *write, tx *Tx, shared bool) (err error) {
	if shared {
		if err := tx.Do("SAVEPOINT own"); err != nil {
			return err
		}
	}
	began := time.Now()
	call(w, tx)
	w.Took = time.Since(began)
	if !shared {
		return nil
	}
	fail(w, tx.Flush())
	if !failed(w) {
		return tx.Do("RELEASE own")
	}
	_, err = tx.Exec("ROLLBACK TO own")
	if err != nil { // a full disk causes that, or a lock that was not to be had
		return fmt.Errorf("the whole transaction was rolled back: %w", cmp.Or(w.Err, err))
	}
	tx.broken = nil
	return tx.Do("RELEASE own")
}

// call runs the function. A panic is stored, to be raised again on the goroutine of the caller.
func call(w *write, tx *Tx) {
	finished := false
	defer func() {
		if !finished {
			if p := recover(); p != nil {
				w.Job.panic = fmt.Sprintf("%v\n%s", p, debug.Stack()) // the stack is this goroutine's
			} else {
				w.Err = errUnfinished // the goroutine ends with runtime.Goexit, as in a failing test
			}
		}
	}()
	own := *tx
	own.after = &w.Job.after
	w.Err = w.Job.fn(&own)
	if w.Err == nil {
		w.Err = own.broken
	}
	finished = true
}
