package db

import (
	"fmt"
	"runtime/debug"
	"strconv"

	"zombiezen.com/go/sqlite"

	"tocsin/internal/platform/fault"
)

// conn is one connection with its prepared statements. Preparing costs more than most queries, so a statement
// is prepared once per connection and kept. The number of distinct SQL texts in the program bounds the map:
// no package may build SQL out of values.
type conn struct {
	raw   *sqlite.Conn
	stmts map[string]*stmt
}

// stmt is a prepared statement.
type stmt struct {
	*sqlite.Stmt
	args []int // the index of the argument of each parameter, in the engine's order
}

func (c *conn) close() error { return c.raw.Close() } // its statements too

// Tx is one unit of work on one connection; see DB.Read, DB.Snapshot and DB.Write for what it promises.
// It must not be used by two goroutines at once, nor after the function that received it has returned.
//
// Statements are not bound to the request's context: they are short by design.
type Tx struct {
	conn  *conn
	queue *group // writes that wait; nil in a transaction that only reads

	memory     *Cache // nil in a transaction that writes
	unreadable *Unreadable
	steady     bool  // see Steady
	versionOf  int64 // see Version
	version    int64
	versioned  bool
	after      *[]func() // see OnCommit; nil in a transaction that only reads
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

// Awaited reports whether other callers wait to write. Long work that can continue in another transaction
// should then stop.
func (t *Tx) Awaited() bool {
	if t.queue == nil {
		return false
	}
	t.queue.Lock()
	defer t.queue.Unlock()
	return len(t.queue.waiting) > 0
}

// prepare returns the connection's statement for a query, prepared once.
func (t *Tx) prepare(query string) (*stmt, error) {
	if s, ok := t.conn.stmts[query]; ok {
		return s, nil
	}
	raw, err := t.conn.raw.Prepare(query)
	if err != nil {
		return nil, failed(query, err)
	}
	s := &stmt{Stmt: raw}
	for i := range raw.BindParamCount() {
		name := raw.BindParamName(i + 1) // the engine numbers $1, $2, ... by first appearance, not by name
		n, err := strconv.Atoi(name[min(1, len(name)):])
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%s: parameter %q must be $1, $2 or so", query, name)
		}
		s.args = append(s.args, n-1)
	}
	t.conn.stmts[query] = s
	return s, nil
}

// run binds the arguments and calls row for each row, until there is none or row returns false.
func (t *Tx) run(query string, args []any, row func(Scan) (more bool, err error)) (err error) {
	s, err := t.prepare(query)
	if err != nil {
		return err
	}
	// Until it is reset, a statement keeps the state of the database that it reads, and the log grows.
	defer func() {
		if e := s.Reset(); e != nil && err == nil {
			err = failed(query, e)
		}
	}()
	for i, n := range s.args {
		if n >= len(args) {
			return fmt.Errorf("%s: %d arguments, want $%d", query, len(args), n+1)
		}
		if err := s.bind(i+1, args[n]); err != nil {
			return failed(query, err)
		}
	}
	for {
		found, err := s.Step()
		if err != nil {
			return failed(query, err)
		}
		if !found {
			return nil
		}
		if more, err := row(s.scan); err != nil {
			return failed(query, err)
		} else if !more {
			return nil
		}
	}
}

// failed adds the statement to an error. When the storage failed and not the statement, the error is
// fault.Unavailable: a retry may help.
func failed(query string, err error) error {
	err = fmt.Errorf("%s: %w", query, err)
	if storageFails(err) {
		return &fault.Error{Kind: fault.Unavailable, Message: "the database cannot be read or written just now", Cause: err}
	}
	return err
}

// Exec runs a statement and returns how many rows it changed.
func (t *Tx) Exec(query string, args ...any) (int64, error) {
	err := t.run(query, args, func(Scan) (bool, error) { return true, nil })
	return int64(t.conn.raw.Changes()), err
}

// Try runs fn between savepoints: when fn fails or panics, its changes are rolled back and those of the rest of the
// transaction stay, so that one bad row cannot fail the others. failed is the error of fn. err is an error of the
// whole transaction, which cannot continue: the storage fails.
func (t *Tx) Try(fn func() error) (failed, err error) {
	if _, err := t.Exec("SAVEPOINT try"); err != nil {
		return nil, err
	}
	kept := 0
	if t.after != nil {
		kept = len(*t.after)
	}
	failed = guarded(fn)
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
	}
	_, err = t.Exec("RELEASE try")
	return failed, err
}

// guarded returns a panic of fn as an error.
func guarded(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return fn()
}

// Scan reads the columns of the current row into pointers: to integers, text, bytes, booleans, floats, to
// types made of these, and to pointers to them, which become nil for NULL.
type Scan func(dest ...any) error

// All reads every row of a query. Without rows the slice is empty, not nil.
func All[T any](t *Tx, row func(Scan) (T, error), query string, args ...any) ([]T, error) {
	all := []T{}
	err := t.run(query, args, func(scan Scan) (bool, error) {
		v, err := row(scan)
		all = append(all, v)
		return true, err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// One reads the first row of a query; found is false when there is none.
func One[T any](t *Tx, row func(Scan) (T, error), query string, args ...any) (v T, found bool, err error) {
	err = t.run(query, args, func(scan Scan) (bool, error) {
		found = true
		v, err = row(scan)
		return false, err
	})
	return v, found && err == nil, err
}

// Column reads a row of one column, for queries such as SELECT count(*).
func Column[T any](scan Scan) (v T, err error) {
	err = scan(&v)
	return v, err
}
