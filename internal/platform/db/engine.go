package db

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"tocsin/internal/platform/db/driver"
	"tocsin/internal/platform/db/postgres"
	"tocsin/internal/platform/db/sqlite"
)

// What engines and callers of this package share; see package driver.
type (
	// Scan reads the columns of the current row into pointers.
	Scan = driver.Scan
	// Rows are new rows of one table.
	Rows = driver.Rows
	// Table is a table as the catalogue of the database describes it.
	Table = driver.Table
	// TableColumn is a column of a Table.
	TableColumn = driver.TableColumn
	// FileID identifies a database for as long as it exists, wherever it is moved.
	FileID = driver.FileID
	// Found is what a process has found out about its database.
	Found = driver.Found
	// Droppable is a table of which Drop may drop whole parts.
	Droppable = driver.Droppable
)

// engineOf returns the engine of a DSN.
func engineOf(dsn string) (driver.Engine, error) {
	switch path, ok := strings.CutPrefix(dsn, "sqlite:"); {
	case ok && path != "":
		return sqlite.New(path), nil
	case strings.HasPrefix(dsn, "postgres://"), strings.HasPrefix(dsn, "postgresql://"):
		return postgres.New(dsn, Name(dsn))
	}
	return nil, fmt.Errorf("database %q: want sqlite:PATH or postgres://USER@HOST/NAME (engines built in: %s)",
		scheme(dsn), strings.Join(Engines(), ", "))
}

// Engines lists the database engines of this build.
func Engines() []string { return []string{"sqlite " + sqlite.Version(), "postgres 14 or newer"} }

// scheme returns the DSN up to its first colon: a mistyped DSN may hold a password, which no error may show.
func scheme(dsn string) string {
	if i := strings.IndexByte(dsn, ':'); i >= 0 {
		return dsn[:i+1] + "..."
	}
	return dsn
}

// MustExist returns an error for a DSN whose database does not exist. Commands that only read call it, which would
// otherwise create an empty database at a mistyped path.
func MustExist(dsn string) error {
	e, err := engineOf(dsn)
	if err != nil {
		return nil //nolint:nilerr // Open reports the fault of the DSN
	}
	return e.Exists()
}

// Name returns a DSN without its password, for logs and messages.
func Name(dsn string) string {
	if !strings.HasPrefix(dsn, "postgres") {
		return dsn
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return scheme(dsn)
	}
	at := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.User != nil {
		at.User = url.User(u.User.Username())
	}
	return at.String()
}

// read runs a function of an engine with a reader.
func (d *DB) read(ctx context.Context, fn func(driver.Queries) error) error {
	return d.Read(ctx, func(tx *Tx) error { return fn(tx.queries()) })
}

// Size returns the sizes of the database and of the log beside it, in bytes; 0 where the engine has no such log.
func (d *DB) Size(ctx context.Context) (file, log int64, err error) {
	return d.engine.Size(ctx, d.read)
}

// OnChange calls a function when the database is lost, found again, or on another host. The function must not use the database.
func (d *DB) OnChange(report func(Found)) {
	if d.shared != nil { // a file stays where it is
		d.shared.OnChange(report)
	}
}

// Lost reports whether the last attempt to connect to the database has failed.
func (d *DB) Lost() bool { return d.shared != nil && d.shared.Lost() }

// ChangedByOthers returns a number that differs when another process has changed the database since the last call; always
// 0 where the database is Shared: everything that a server counts grows with this process's own changes too. Nodes write
// what pages must know.
func (d *DB) ChangedByOthers(ctx context.Context) (version int64, err error) {
	local, ok := d.engine.(driver.Local)
	if !ok {
		return 0, nil
	}
	err = d.Write(ctx, func(tx *Tx) (err error) {
		version, err = local.DataVersion(tx.queries())
		return err
	})
	return version, err
}

// File returns the identity of the database: of its file, or of the database in its server. None: not known.
func (d *DB) File(ctx context.Context) (FileID, error) { return d.engine.Identity(ctx, d.read) }

// DSN returns the name that the database was opened by, without a password.
func (d *DB) DSN() string { return Name(d.dsn) }

// Shared reports whether several processes on several machines serve the database.
func (d *DB) Shared() bool { return d.shared != nil }

// Time returns what the clock of a Shared database shows.
func (d *DB) Time(ctx context.Context) (time.Time, error) {
	if d.shared == nil {
		return time.Time{}, errors.New("the embedded engine has no clock of its own")
	}
	return d.shared.Time(ctx, d.read)
}

// Free returns how many bytes the disk of the database still takes; -1: not known, or another machine's.
func (d *DB) Free() int64 {
	if local, ok := d.engine.(driver.Local); ok {
		return local.Free()
	}
	return -1
}

// Ahead makes the parts of the tables that the engine keeps in parts by time, for the time to come. It returns the names of
// those that it made: none, if another process was first. Without them nothing is lost, but retention takes longer. Tables
// that are kept for ever get few large parts.
func (d *DB) Ahead(ctx context.Context, now time.Time, forever []string) (made []string, err error) {
	if parts, ok := d.engine.(driver.Partitioner); ok {
		return parts.Ahead(ctx, d.read, now, forever)
	}
	return nil, nil
}

// Drop drops the parts of tables that hold only rows older than a time, where the engine keeps these tables in parts. It
// returns the time before which the caller deletes what is left, row by row: on such an engine the beginning of a part,
// because deleting the rows of a part that will be dropped soon would be wasted.
func (d *DB) Drop(ctx context.Context, before time.Time, tables []Droppable) (until time.Time, dropped []string, err error) {
	parts, ok := d.engine.(driver.Partitioner)
	if !ok || len(tables) == 0 {
		return before, nil, nil
	}
	return parts.Drop(ctx, before, tables)
}

// Analyse takes new statistics of tables that have grown much, where the engine plans by statistics. A process calls it
// every second.
func (d *DB) Analyse(ctx context.Context) error {
	if planner, ok := d.engine.(driver.Statistics); ok {
		return planner.Analyse(ctx, d.read)
	}
	return nil
}
