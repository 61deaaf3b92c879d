package db

import (
	"context"
	"errors"

	"tocsin/internal/platform/db/driver"
)

// late takes a reader's connection at its first statement.
type late struct {
	db    *DB
	ctx   context.Context
	back  func() // returns the connection
	query string // of the version that Tx.Version returned before; empty: it returned none
	shown int64  // that version
	found int64  // the version in a snapshot, once it has been read
	moved bool   // they differ
}

func (d *DB) later(ctx context.Context, steady bool) *Tx {
	return &Tx{memory: d.memory, unreadable: d.unreadable, steady: steady, late: &late{db: d, ctx: ctx}}
}

// Read runs fn with a reader. Every statement sees the newest commit, so two statements may see different
// ones. For a function that makes one query this is the cheapest correct choice.
func (d *DB) Read(ctx context.Context, fn func(*Tx) error) error {
	return d.reason(ctx, d.later(ctx, false).reading(fn))
}

// Snapshot runs fn in a read transaction: all its statements see one and the same state.
func (d *DB) Snapshot(ctx context.Context, fn func(*Tx) error) error {
	return d.reason(ctx, d.snapshot(ctx, fn))
}

func (d *DB) snapshot(ctx context.Context, fn func(*Tx) error) error {
	tx := d.later(ctx, true)
	if err := tx.begin(); err != nil {
		return tx.end(err)
	}
	return tx.reading(fn)
}

// Cached is Snapshot for a function that often needs nothing but what the Cache has. Where each answer is a wait for the
// network it then waits for the version of its owner alone, which it shares with others: see versions. The snapshot begins
// with the first statement. If the version is another one by then, fn is called once more: it must be one that can be.
func (d *DB) Cached(ctx context.Context, fn func(*Tx) error) error {
	return d.reason(ctx, d.cached(ctx, fn))
}

func (d *DB) cached(ctx context.Context, fn func(*Tx) error) error {
	if d.versions == nil {
		return d.snapshot(ctx, fn)
	}
	tx := d.later(ctx, true)
	if err := tx.reading(fn); !tx.late.moved {
		return err
	}
	return d.snapshot(ctx, fn)
}

// reading runs fn and ends the transaction, also when fn panics: the caller may recover, and the connection must not stay
// in a transaction.
func (t *Tx) reading(fn func(*Tx) error) (err error) {
	select {
	case <-t.late.db.closed:
		return t.end(ErrClosed)
	default:
	}
	err = errUnfinished
	defer func() { err = t.end(err) }()
	return fn(t)
}

// errMoved is the error of a statement of a snapshot whose version is not the one that it was shown.
var errMoved = errors.New("the version has changed")

// begin prepares the transaction for its first statement.
func (t *Tx) begin() error {
	if t.late == nil || t.conn != nil {
		return nil
	}
	l := t.late
	c, back, err := l.db.take(l.ctx)
	if err != nil {
		return err
	}
	t.conn, l.back = c, back
	if !t.steady {
		return nil
	}
	if err := t.Do(l.db.traits.Snapshot); err != nil || l.query == "" {
		return err
	}
	l.shown = t.version
	if err := c.Send(l.query, []any{t.versionOf}, func(scan Scan) (bool, error) { return false, scan(&l.found) }); err != nil {
		return t.failure(l.query, err)
	}
	return nil
}

// confirm returns errMoved if the version in a snapshot is not the one that was shown before.
func (l *late) confirm() error {
	if l == nil || l.found == l.shown {
		return nil
	}
	l.moved = true
	return errMoved
}

// end ends a transaction that changes nothing. What it has read is right however it ends, so where the answer is a wait
// for the network only the connection waits for it.
func (t *Tx) end(err error) error {
	switch {
	case t.conn == nil:
		return err
	case !t.steady:
	case err != nil:
		t.conn.Rollback()
	case t.late.db.versions != nil:
		go func() { _ = t.commit() }()
		return nil
	default:
		return t.commit()
	}
	t.late.back()
	return err
}

// commit ends a snapshot. It is no statement of the function's: those are compared with the version that was shown, which
// the caller may read by now.
func (t *Tx) commit() error {
	defer t.late.back()
	_, err := t.conn.Run("COMMIT", nil, driver.AllRows)
	if err != nil {
		err = t.failure("COMMIT", err)
		t.conn.Rollback()
	}
	return err
}
