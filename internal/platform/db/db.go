// Package db opens the database and runs transactions on it. Packages write their own SQL and pass it to a
// Tx; this package must never know what any table means.
//
// One SQL text serves every engine: $1 placeholders in order, times as integers, JSON as text, ids and
// "now" made in Go. What differs between engines is in packages sqlite and postgres, behind the interfaces of package driver.
package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"tocsin/internal/platform/db/driver"
	"tocsin/internal/platform/db/queue"
	"tocsin/internal/platform/fair"
)

// DB is an open database: lanes that write and a small pool of readers that never wait for them. The embedded engine has
// one write lock and therefore one lane: a queue in Go is fair where the engine's busy loop is not.
type DB struct {
	engine     driver.Engine
	traits     driver.Traits
	shared     driver.Shared // nil: the engine is none
	lanes      []*lane
	writes     *queue.Queue[job]
	appends    queue.Appends[job]
	readers    *queue.Pool[driver.Conn]
	versions   *versions // nil: every transaction reads its own
	memory     *Cache
	meter      *fair.Meter
	unreadable *Unreadable
	dsn        string
	observer   atomic.Pointer[func(*Commit)]
	closed     chan struct{}
	once       sync.Once
}

// Open opens the database that dsn names and brings its schema up to date. DSN forms: "sqlite:PATH" and
// "postgres://USER@HOST/NAME".
// The error names the fault of the DSN or the file. waits are called with the reason when a migration has to be tried again.
func Open(ctx context.Context, dsn string, waits ...func(why error)) (*DB, error) {
	d, err := Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	if err := d.Finished(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if _, err := d.Migrate(ctx, waits...); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Connect opens the database without touching its schema, for the commands that report on it.
func Connect(ctx context.Context, dsn string) (*DB, error) {
	e, err := engineOf(dsn)
	if err != nil {
		return nil, err
	}
	return connectTo(ctx, e, dsn)
}

func connectTo(ctx context.Context, e driver.Engine, dsn string) (*DB, error) {
	meter := fair.NewMeter()
	d := &DB{
		engine: e, traits: e.Traits(), dsn: dsn, memory: newCache(maxCache), meter: meter, unreadable: &Unreadable{}, closed: make(chan struct{}),
		writes: queue.New[job](meter), readers: queue.NewPool[driver.Conn](),
	}
	d.shared, _ = e.(driver.Shared)
	if err := d.connect(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", Name(dsn), err), d.Close())
	}
	return d, nil
}

// connect opens the connections.
func (d *DB) connect(ctx context.Context) (err error) {
	err = d.openLanes(ctx)
	for _, l := range d.lanes { // now that their queues know all of them; Close waits for each
		run := l.append
		if l.queue == d.writes {
			run = l.commit
		}
		go l.Serve(run, d.closed)
	}
	if err != nil {
		return err
	}
	for range d.traits.Readers {
		c, err := d.engine.Connect(ctx, driver.Reading)
		if err != nil {
			return err
		}
		d.readers.Add(c)
	}
	d.versions, err = d.openVersions(ctx)
	return err
}

func (d *DB) openLanes(ctx context.Context) error {
	t := d.traits
	if t.Writers+t.Claimers == 1 {
		d.writes = queue.NewOfOne[job](d.meter)
	}
	for n := range t.Writers + t.Claimers {
		if err := d.open(ctx, d.writes, driver.Writing, n >= t.Writers); err != nil {
			return err
		}
	}
	if !t.Appends {
		return nil
	}
	d.appends.All, d.appends.Large = queue.New[job](d.meter), queue.New[job](d.meter)
	return errors.Join(d.open(ctx, d.appends.All, driver.Appending, false), d.open(ctx, d.appends.Large, driver.Appending, false))
}

// open adds a lane to a queue.
func (d *DB) open(ctx context.Context, g *queue.Queue[job], to driver.Purpose, claims bool) error {
	c, err := d.engine.Connect(ctx, to)
	if err != nil {
		return err
	}
	d.lanes = append(d.lanes, &lane{Lane: g.Open(claims), db: d, conn: c, queue: g})
	return nil
}

// Meter returns the meter of account work, for callers outside this package. A nil *DB has none.
func (d *DB) Meter() *fair.Meter {
	if d == nil {
		return nil
	}
	return d.meter
}

// Close waits for running transactions and closes the database. Later calls return ErrClosed. A second Close
// does nothing.
func (d *DB) Close() error {
	var errs []error
	d.once.Do(func() {
		close(d.closed)
		for range d.readers.Size() {
			c, b := d.readers.Ask(NoAccount)
			if b != nil {
				c = <-b.Conn
			}
			errs = append(errs, c.Close())
		}
		errs = append(errs, d.versions.close())
		// Writers are last: closing one copies the write-ahead log into the database file.
		for _, l := range slices.Backward(d.lanes) {
			l.Served()
			errs = append(errs, l.conn.Close())
		}
		if d.shared != nil {
			d.shared.Close()
		}
	})
	return errors.Join(errs...)
}

// ErrClosed is the error of a transaction that begins after Close.
var ErrClosed = errors.New("the database is closed")
