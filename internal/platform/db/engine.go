package db

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

// engine is a kind of database: what differs between them besides the SQL, which is the same for all.
type engine interface {
	connect(ctx context.Context, to purpose) (conn, error)
	readers() int           // how many connections that read
	versionReaders() int    // how many read versions beside them; see versions
	maxWait() time.Duration // how long a caller waits for a connection; 0: as long as it likes
	// lanes returns how many transactions of this process may write at once, how many may claim beside them, and whether
	// others append; see ClaimOf and Append.
	lanes() (writers, claimers int, appends bool)
	begin() string // the statement that begins a transaction that writes
	// lock returns the statement that locks the accounts of some shards, see shardOf; none where the transaction has all. It
	// returns the shards that it has locked: all, or those that no other transaction has.
	lock(shards []int64, free bool) (s statement, needed bool)
	// permitted returns the error of a program that is too old for the schema; see DB.Outdated. It waits for the statements
	// that were sent before.
	permitted(tx *Tx) error
	snapshot() string // the statement that begins a transaction that reads one state
	exists() error    // an error when there is no such database yet
	migrations(ctx context.Context) (p *goose.Provider, end func(), err error)
	unknown(err error) bool  // whether a statement names what the schema lacks, or leaves out what it needs
	inTheWay(err error) bool // whether a migration failed because it waited for another session
	// blocking describes the session that a migration waits for; empty: there is none. It returns an error when the database does
	// not answer, and errFormer when it answers on another server than the migration's.
	blocking(ctx context.Context, d *DB) (session string, err error)
	size(ctx context.Context, d *DB) (file, log int64, err error)
	free() int64                              // see DB.Free
	analyse(ctx context.Context, d *DB) error // see DB.Analyse
	others(ctx context.Context, d *DB) (version int64, err error)
	identity(ctx context.Context, d *DB) (FileID, error)
	shared() bool // see DB.Shared
	time(ctx context.Context, d *DB) (time.Time, error)
	onChange(report func(Found)) // see DB.OnChange
	lost() bool                  // see DB.Lost
	close()                      // ends what watches the database, after the last connection
	copying
	// ahead makes the parts of tables that rows will come to, and returns their names.
	ahead(ctx context.Context, d *DB, now time.Time, forever []string) (made []string, err error)
	// drop drops the parts of tables whose rows are all older than a time; see DB.Drop.
	drop(ctx context.Context, before time.Time, tables []Droppable) (until time.Time, dropped []string, err error)
}

// purpose is what a connection is for.
type purpose int

const (
	reading purpose = iota // it can do nothing else
	writing
	appending // it inserts rows, and nothing else
)

// conn is one connection, used by one goroutine at a time. It prepares a statement once and keeps it, because preparing
// costs more than most queries. The number of distinct SQL texts in the program bounds what it keeps: no package may
// build SQL out of values.
type conn interface {
	// run runs a statement and calls row for each row, until there is none or row returns false. changed is how many
	// rows the statement changed.
	run(query string, args []any, row onRow) (changed int64, err error)
	// send runs a statement whose result is not needed yet. It may do so later: with the next statement that is run, or with
	// flush, which then returns its error. row may be nil.
	send(query string, args []any, row onRow) error
	flush() error
	tryLock(name string) (bool, error)                // see Tx.TryLock
	rollback()                                        // also of what is not sent yet
	insert(r Rows) error                              // may do so later, as send
	update(keys int, r Rows) error                    // see Tx.Update
	upsert(keys int, r Rows, set string) error        // see Tx.Upsert
	append(batches []Rows) error                      // inserts in a transaction of its own
	load(t Table, rows iter.Seq2[[]any, error]) error // see DB.Load
	committed()                                       // is called after each commit of a lane
	revive() error                                    // connects again when the connection is lost
	unavailable(err error) bool                       // whether an error is the database's and not the statement's
	close() error
}

// onRow is called for each row of a result, until it returns false or an error.
type onRow func(Scan) (more bool, err error)

// statement is a statement with its arguments.
type statement struct {
	query string
	args  []any
}

// engineOf returns the engine of a DSN.
func engineOf(dsn string) (engine, error) {
	switch path, ok := strings.CutPrefix(dsn, "sqlite:"); {
	case ok && path != "":
		return &sqliteEngine{path: path}, nil
	case strings.HasPrefix(dsn, "postgres://"), strings.HasPrefix(dsn, "postgresql://"):
		return newPostgres(dsn)
	}
	return nil, fmt.Errorf("database %q: want sqlite:PATH or postgres://USER@HOST/NAME (engines built in: %s)",
		scheme(dsn), strings.Join(Engines(), ", "))
}

// Engines lists the database engines of this build.
func Engines() []string { return []string{"sqlite " + sqliteVersion(), "postgres 14 or newer"} }

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
	return e.exists()
}

// Size returns the sizes of the database and of the log beside it, in bytes; 0 where the engine has no such log.
func (d *DB) Size(ctx context.Context) (file, log int64, err error) { return d.engine.size(ctx, d) }

// OnChange calls a function when the database is lost, found again, or on another host. The function must not use the database.
func (d *DB) OnChange(report func(Found)) { d.engine.onChange(report) }

// Lost reports whether the last attempt to connect to the database has failed.
func (d *DB) Lost() bool { return d.engine.lost() }

// ChangedByOthers returns a number that differs when another process has changed the database since the last call; always
// 0 where the database is Shared.
func (d *DB) ChangedByOthers(ctx context.Context) (version int64, err error) {
	return d.engine.others(ctx, d)
}

// File returns the identity of the database: of its file, or of the database in its server. None: not known.
func (d *DB) File(ctx context.Context) (FileID, error) { return d.engine.identity(ctx, d) }

// Shared reports whether several processes on several machines serve the database.
func (d *DB) Shared() bool { return d.engine.shared() }

// Time returns what the clock of a Shared database shows.
func (d *DB) Time(ctx context.Context) (time.Time, error) { return d.engine.time(ctx, d) }

// Free returns how many bytes the disk of the database still takes; -1: not known.
func (d *DB) Free() int64 { return d.engine.free() }

// Ahead makes the parts of the tables that the engine keeps in parts by time, for the time to come. It returns the names of
// those that it made: none, if another process was first. Without them nothing is lost, but retention takes longer. Tables
// that are kept for ever get few large parts.
func (d *DB) Ahead(ctx context.Context, now time.Time, forever []string) (made []string, err error) {
	return d.engine.ahead(ctx, d, now, forever)
}

// Droppable is a table of which Drop may drop whole parts.
type Droppable struct {
	Table string
	// Kept is the condition of rows of the table (p) that must stay although their key is older than a time, which is %d in
	// it, in Unix nanoseconds. Empty: the key states all.
	Kept string
	// Counts are statements that delete what counts the rows from one time to before another: $1 and $2, in Unix seconds.
	Counts []string
}

// Drop drops the parts of tables that hold only rows older than a time, where the engine keeps these tables in parts. It
// returns the time before which the caller deletes what is left, row by row: on such an engine the beginning of a part,
// because deleting the rows of a part that will be dropped soon would be wasted.
func (d *DB) Drop(ctx context.Context, before time.Time, tables []Droppable) (until time.Time, dropped []string, err error) {
	if len(tables) == 0 {
		return before, nil, nil
	}
	return d.engine.drop(ctx, before, tables)
}

// Analyse takes new statistics of tables that have grown much, where the engine plans by statistics. A process calls it
// every second.
func (d *DB) Analyse(ctx context.Context) error { return d.engine.analyse(ctx, d) }
