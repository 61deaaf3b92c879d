package db

import (
	"cmp"

	"tocsin/internal/platform/db/driver"
	"tocsin/internal/platform/db/queue"
	"tocsin/internal/platform/fault"
)

// Tx is one unit of work on one connection; see DB.Read, DB.Snapshot and DB.Write for what it promises.
// It must not be used by two goroutines at once, nor after the function that received it has returned.
//
// Statements are not bound to the request's context: they are short by design.
type Tx struct {
	conn   driver.Conn
	queue  *queue.Queue[job] // writes that wait; nil in a transaction that only reads
	locked []int64           // see lane.begin
	late   *late             // of a transaction that reads; else nil

	memory     *Cache // nil in a transaction that writes
	unreadable *Unreadable
	steady     bool  // see Steady
	versionOf  int64 // see Version
	version    int64
	versioned  bool
	after      *[]func()   // see OnCommit; nil in a transaction that only reads
	broken     error       // of the first statement that failed outside of a Try: the transaction cannot be committed
	values     map[any]any // see Value
}

// OnCommit runs fn once the change is on disk, on the goroutine that called Write, in the order of the calls. fn is
// dropped when the transaction is rolled back, or the Try that it is called in. Counters and wakes belong here,
// because they cannot be rolled back. Outside of Write fn runs at once.
func (t *Tx) OnCommit(fn func()) {
	if t.after == nil {
		fn()
		return
	}
	*t.after = append(*t.after, fn)
}

// Awaited reports whether other callers wait to write what the transaction keeps from them. Long work that can continue in
// another transaction should then stop.
func (t *Tx) Awaited() bool { return t.queue != nil && t.queue.Awaited(t.locked) }

// run runs a statement and calls row for each row, until there is none or row returns false.
func (t *Tx) run(query string, args []any, row driver.OnRow) (changed int64, err error) {
	if err := t.begin(); err != nil {
		return 0, err
	}
	changed, err = t.conn.Run(query, args, row)
	if err == nil {
		return changed, t.late.confirm()
	}
	return changed, t.failure(query, err)
}

// queries passes a transaction to an engine.
type queries struct{ tx *Tx }

// Run runs a statement of the transaction.
func (q queries) Run(query string, args []any, row driver.OnRow) (changed int64, err error) {
	return q.tx.run(query, args, row)
}

func (t *Tx) queries() driver.Queries { return queries{t} }

// failure returns the error of a statement, and makes it the transaction's.
func (t *Tx) failure(query string, err error) error {
	own := driver.IsOfRow(err) // of the function that reads its rows
	err = driver.Failed(query, err, t.conn.Unavailable(err))
	if !own && t.broken == nil {
		t.broken = err
	}
	return err
}

// Exec runs a statement and returns how many rows it changed.
func (t *Tx) Exec(query string, args ...any) (int64, error) {
	return t.run(query, args, driver.AllRows)
}

// Do runs a statement whose count is not needed. Where each answer is a wait for the network the statement is sent with
// the next one, so its error may come with that: from a later statement, from the end of the Try that it is in, or from
// Write. A caller that handles the error of this statement uses Exec.
func (t *Tx) Do(query string, args ...any) error {
	if err := t.begin(); err != nil {
		return err
	}
	if err := t.conn.Send(query, args, nil); err != nil {
		return t.failure(query, err)
	}
	return nil
}

// Flush waits for the statements that Do and Insert have sent, and returns their error.
func (t *Tx) Flush() error {
	if err := t.conn.Flush(); err != nil {
		return t.failure("earlier statements", err)
	}
	return nil
}

// TryLock locks a name until the end of the transaction. It never waits: false means that another transaction has it, in
// whichever process, or a name that shares its lock. It is for ClaimOf. The embedded engine's one writer has every lock.
func (t *Tx) TryLock(name string) (bool, error) {
	locker, needed := t.conn.(driver.Locker)
	if !needed {
		return true, nil
	}
	ok, err := locker.TryLock(name)
	if err != nil {
		return false, t.failure("lock of "+name, err)
	}
	return ok, nil
}

// Try runs fn between savepoints: when fn fails or panics, its changes are rolled back and those of the rest of the
// transaction stay, so that one bad row cannot fail the others. failed is the error of fn. err is an error of the
// whole transaction, which cannot continue: the storage fails.
//
// A statement that fails outside of a Try makes the whole transaction fail, whatever fn returns: PostgreSQL takes no
// other statement after it, and the embedded engine would store half of what was meant.
func (t *Tx) Try(fn func() error) (failed, err error) {
	if err := t.Flush(); err != nil {
		return nil, err
	}
	if t.broken != nil {
		return nil, t.broken
	}
	if err := t.Do("SAVEPOINT try"); err != nil {
		return nil, err
	}
	kept := 0
	if t.after != nil {
		kept = len(*t.after)
	}
	failed = fault.Guard(fn)
	if unsent := t.Flush(); failed == nil {
		failed = cmp.Or(unsent, t.broken)
	}
	if failed != nil && t.after != nil {
		*t.after = (*t.after)[:kept]
	}
	switch {
	case fault.KindOf(failed) == fault.Unavailable:
		return nil, failed
	case failed != nil:
		if _, err := t.Exec("ROLLBACK TO try"); err != nil {
			return failed, err
		}
		t.broken = nil
	}
	return failed, t.Do("RELEASE try")
}

// All reads every row of a query. Without rows the slice is empty, not nil.
func All[T any](t *Tx, row func(Scan) (T, error), query string, args ...any) ([]T, error) {
	return driver.All(t.queries(), row, query, args...)
}

// Page is All for a page of a list, of limit rows and one more: that there is one more means that there is a next page. It ends
// the page before the rows have more than most bytes, as they are stored, but not before its first row; the row that would be
// too much is the one more. It returns the rows of the page and that one, and the number of rows on the page.
func Page[T any](t *Tx, limit, most int64, row func(Scan) (T, error), query string, args ...any) ([]T, int64, error) {
	all, bytes := []T{}, int64(0)
	_, err := t.run(query, args, func(scan Scan) (bool, error) {
		v, err := row(func(dest ...any) error {
			err := scan(dest...)
			bytes += size(dest)
			return err
		})
		all = append(all, v)
		return bytes <= most || len(all) < 2, driver.OfRow(err)
	})
	if err != nil {
		return nil, 0, err
	}
	if bytes > most && len(all) > 1 {
		limit = min(limit, int64(len(all))-1)
	}
	return all, limit, nil
}

// size returns the bytes of the texts that a row was scanned into, which are nearly all of it.
func size(dest []any) (bytes int64) {
	for _, d := range dest {
		switch v := d.(type) {
		case *string:
			bytes += int64(len(*v))
		case *[]byte:
			bytes += int64(len(*v))
		}
	}
	return bytes
}

// One reads the first row of a query; found is false when there is none.
func One[T any](t *Tx, row func(Scan) (T, error), query string, args ...any) (v T, found bool, err error) {
	return driver.One(t.queries(), row, query, args...)
}

// Column reads a row of one column, for queries such as SELECT count(*).
func Column[T any](scan Scan) (T, error) { return driver.Column[T](scan) }

// Value returns what SetValue has stored under a key in this transaction; nil: nothing. Each package has key types of its
// own, so keys cannot collide.
func (t *Tx) Value(key any) any { return t.values[key] }

// SetValue keeps a value until the function of the transaction returns; nil removes it. It is for what one operation reads
// once for many rows. A Try that fails keeps it too.
func (t *Tx) SetValue(key, value any) {
	if value == nil {
		delete(t.values, key)
		return
	}
	if t.values == nil {
		t.values = map[any]any{}
	}
	t.values[key] = value
}
