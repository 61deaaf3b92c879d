// Package db opens the database and runs transactions on it. Packages write their own SQL and pass it to a
// Tx; this package must never know what any table means.
//
// One SQL text serves every engine: $1 placeholders in order, times as integers, JSON as text, ids and
// "now" made in Go. Code that differs between engines is in files named after the engine.
package db

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// DB is an open database: one writer and a small pool of readers that never wait for the writer. There is
// one writer because the embedded engine has one write lock, and a queue in Go is fair where the engine's
// busy loop is not.
type DB struct {
	path       string
	writer     *conn // used by serve alone
	readers    pool
	queue      group
	memory     *Cache
	unreadable *Unreadable
	dsn        string
	closed     chan struct{}
	served     chan struct{} // closed when the last write has run
	once       sync.Once
}

// pool lends connections, each to one user at a time.
type pool struct {
	free chan *conn
	size int // connections, free or lent
}

// Open opens the database that dsn names and brings its schema up to date. DSN forms: "sqlite:PATH".
// The error names the fault of the DSN or the file.
func Open(ctx context.Context, dsn string) (*DB, error) {
	d, err := Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	if _, err := d.Migrate(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Connect opens the database without touching its schema, for the commands that report on it.
func Connect(ctx context.Context, dsn string) (*DB, error) {
	path, ok := strings.CutPrefix(dsn, "sqlite:")
	if !ok || path == "" {
		return nil, fmt.Errorf("database %q: want sqlite:PATH (engines built in: %s)", scheme(dsn), strings.Join(Engines(), ", "))
	}
	d := &DB{
		dsn: dsn, memory: newCache(maxCache), unreadable: &Unreadable{}, closed: make(chan struct{}), served: make(chan struct{}),
		queue: group{arrived: make(chan struct{}, 1)},
	}
	go d.serve()
	if err := d.openSQLite(path); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", dsn, err), d.Close())
	}
	return d, nil
}

// Engines lists the database engines of this build.
func Engines() []string { return []string{"sqlite " + sqliteVersion()} }

// scheme returns the DSN up to its first colon: a mistyped DSN may hold a password, which no error may show.
func scheme(dsn string) string {
	if i := strings.IndexByte(dsn, ':'); i >= 0 {
		return dsn[:i+1] + "..."
	}
	return dsn
}

// Close waits for running transactions and closes the database. Later calls return ErrClosed. A second Close
// does nothing.
func (d *DB) Close() error {
	var errs []error
	d.once.Do(func() {
		close(d.closed)
		for range d.readers.size {
			errs = append(errs, (<-d.readers.free).close())
		}
		<-d.served
		if d.writer != nil { // last: closing it copies the write-ahead log into the database file
			errs = append(errs, d.writer.close())
		}
	})
	return errors.Join(errs...)
}

// ErrClosed is the error of a transaction that begins after Close.
var ErrClosed = errors.New("the database is closed")

// Read runs fn with a reader. Every statement sees the newest commit, so two statements may see different
// ones. For a function that makes one query this is the cheapest correct choice.
func (d *DB) Read(ctx context.Context, fn func(*Tx) error) error {
	c, err := d.take(ctx, d.readers)
	if err != nil {
		return err
	}
	defer func() { d.readers.free <- c }()
	return fn(&Tx{conn: c, memory: d.memory, unreadable: d.unreadable})
}

// Snapshot runs fn in a read transaction: all its statements see one and the same state.
func (d *DB) Snapshot(ctx context.Context, fn func(*Tx) error) error {
	return d.in(ctx, d.readers, "BEGIN", fn)
}

// in runs fn in a transaction that begin starts, on a connection of a pool.
func (d *DB) in(ctx context.Context, from pool, begin string, fn func(*Tx) error) (err error) {
	c, err := d.take(ctx, from)
	if err != nil {
		return err
	}
	defer func() { from.free <- c }()
	tx := &Tx{conn: c, memory: d.memory, unreadable: d.unreadable, steady: true}
	if _, err := tx.Exec(begin); err != nil {
		return err
	}
	done := false
	defer func() { // also when fn panics: the caller may recover, and the connection must not stay in a transaction
		if !done {
			_, _ = tx.Exec("ROLLBACK") // fails only when the engine has rolled back already
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	if _, err := tx.Exec("COMMIT"); err != nil {
		return err
	}
	done = true
	return nil
}

// take waits until a connection is free, ctx ends or the database is closed.
func (d *DB) take(ctx context.Context, from pool) (*conn, error) {
	select {
	case <-d.closed:
		return nil, ErrClosed
	default:
	}
	select {
	case c := <-from.free:
		return c, nil
	default:
	}
	select {
	case c := <-from.free:
		return c, nil
	case <-d.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
