package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the same engine behind database/sql, which goose works on
)

// pragmas are set on every connection. WAL lets readers continue while a commit is written. synchronous FULL makes
// a commit survive power loss: a 2xx reply promises that the change is on disk. The log is copied into the database
// at 16 MB, so that pages that change with every event are written once for many commits; lanes have a copier. LIKE
// compares the case of letters, as it does everywhere but here: a search that ignores case compares folded texts.
// secure_delete overwrites what is deleted or changed within a page, so that a secret that was hidden or replaced does not
// stay in the file; FAST does so where it costs no further write.
var pragmas = []string{
	"journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 4000", "foreign_keys = ON", "cache_size = -4000",
	"temp_store = MEMORY", "case_sensitive_like = ON", "secure_delete = FAST",
}

// timeout is how long a statement waits for another process's lock: a command may work on a database that a server has open.
const timeout = 10 * time.Second

// sqliteEngine is the embedded engine: one file of this machine.
type sqliteEngine struct{ path string }

// connect creates the file if it does not exist, and opens a writing connection. query_only: a read that writes is a mistake,
// and outside the one writer it would fail only under load.
func (e *sqliteEngine) connect(_ context.Context, to purpose) (conn, error) {
	if to == reading {
		return laterSQLite(e.path, "query_only = ON"), nil
	}
	if err := create(e.path); err != nil {
		return nil, err
	}
	c, err := openSQLite(e.path, copiedInCommit)
	if err != nil {
		return nil, err
	}
	c.copier, err = startCopier(e.path)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// readers: one more than processors for one account keeps these busy while a reader passes from one call to the next.
// Many more slow each other down inside the driver. The rest is what one account leaves to others.
func (e *sqliteEngine) readers() int {
	busy := runtime.NumCPU() + 1
	return busy + max(1, busy/3)
}

// versionReaders: a statement is a call of a function.
func (e *sqliteEngine) versionReaders() int { return 0 }

// lanes: the engine has one write lock.
func (e *sqliteEngine) lanes() (writers, claimers int, appends bool) { return 1, 0, false }

func (e *sqliteEngine) lock([]int64, bool) (s statement, needed bool) { return s, false }
func (e *sqliteEngine) begin() string                                 { return beginWriting }
func (e *sqliteEngine) permitted(tx *Tx) error                        { return tx.Flush() } // it was when it opened the file
func (e *sqliteEngine) unknown(error) bool                            { return false }      // see permitted
func (e *sqliteEngine) inTheWay(error) bool                           { return false }      // it waits for timeout
func (e *sqliteEngine) blocking(context.Context, *DB) (string, error) { return "", nil }
func (e *sqliteEngine) snapshot() string                              { return "BEGIN" }
func (e *sqliteEngine) identity(context.Context, *DB) (FileID, error) { return fileID(e.path) }
func (e *sqliteEngine) free() int64                                   { return freeSpace(e.path) }
func (e *sqliteEngine) onChange(func(Found))                          {} // a file stays where it is
func (e *sqliteEngine) lost() bool                                    { return false }
func (e *sqliteEngine) close()                                        {}
func (e *sqliteEngine) maxWait() time.Duration                        { return 0 } // a file answers
// ahead and drop: a table has no parts here.
func (e *sqliteEngine) ahead(context.Context, *DB, time.Time, []string) ([]string, error) {
	return nil, nil
}

func (e *sqliteEngine) drop(_ context.Context, before time.Time, _ []Droppable) (time.Time, []string, error) {
	return before, nil, nil
}

func (e *sqliteEngine) shared() bool                       { return false }
func (e *sqliteEngine) analyse(context.Context, *DB) error { return nil } // it plans by the indexes alone

func (e *sqliteEngine) time(context.Context, *DB) (time.Time, error) {
	return time.Time{}, errors.New("the embedded engine has no clock of its own")
}

func openSQLite(path string, extra ...string) (*sqliteConn, error) {
	c := laterSQLite(path, extra...)
	return c, c.revive()
}

// create creates the database file with mode 0600, because it holds personal data. An existing file keeps its
// mode. The engine creates the files beside it with the same mode.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func sqliteVersion() string {
	c, err := openSQLite(":memory:")
	if err != nil {
		return "?"
	}
	defer func() { _ = c.close() }() // an empty database in memory
	version, _, err := One(&Tx{conn: c}, Column[string], `SELECT sqlite_version()`)
	if err != nil {
		return "?"
	}
	return version
}

func (e *sqliteEngine) exists() error {
	if _, err := os.Stat(e.path); err != nil {
		return fmt.Errorf("there is no database at %s: %w", e.path, err)
	}
	return nil
}

// size returns the sizes of the database file and of the write-ahead log beside it.
func (e *sqliteEngine) size(context.Context, *DB) (file, log int64, err error) {
	info, err := os.Stat(e.path)
	if err != nil {
		return 0, 0, err
	}
	if beside, err := os.Stat(e.path + "-wal"); err == nil {
		log = beside.Size()
	}
	return info.Size(), log, nil
}

// others asks the writing connection, which alone shows the changes of other processes: the others count this process's
// own writes too.
func (e *sqliteEngine) others(ctx context.Context, d *DB) (version int64, err error) {
	err = d.Write(ctx, func(tx *Tx) (err error) {
		version, _, err = One(tx, Column[int64], `PRAGMA data_version`)
		return err
	})
	return version, err
}

// migrations works through database/sql, as goose does. Foreign keys are off: migrations that rebuild a table would
// otherwise delete the rows that refer to it.
func (e *sqliteEngine) migrations(context.Context) (p *goose.Provider, end func(), err error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, nil, err
	}
	h, err := sql.Open("sqlite", e.uri())
	if err != nil {
		return nil, nil, err
	}
	p, err = goose.NewProvider(goose.DialectSQLite3, h, files, inAnyOrder)
	if err != nil {
		return nil, nil, errors.Join(err, h.Close())
	}
	return p, func() { _ = h.Close() }, nil // every migration is committed by then
}

// uri returns the name of the database for database/sql.
func (e *sqliteEngine) uri() string {
	query := url.Values{"_pragma": {"busy_timeout(10000)", "synchronous(FULL)"}}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: e.path}).EscapedPath(), RawQuery: query.Encode()}).String()
}
