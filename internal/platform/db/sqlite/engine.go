// Package sqlite is the embedded engine: a database in one file of this machine, which one process serves. It must not know
// what any table means, nor what a transaction is for.
package sqlite

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

	"tocsin/internal/platform/db/driver"
	"tocsin/internal/platform/db/migrations"
)

// pragmas are set on every connection. A database that is made has pages of 2 KiB: a commit writes whole pages, most of them for
// a row or two of an index. One that was made with larger pages keeps them. WAL lets readers continue while a commit is written.
// synchronous FULL makes a commit survive power loss: a 2xx reply promises that the change is on disk. The log is copied into the
// database at 16 MB, so that pages that change with every event are written once for many commits; lanes have a copier. LIKE
// compares the case of letters, as it does everywhere but here: a search that ignores case compares folded texts.
// secure_delete overwrites what is deleted or changed within a page, so that a secret that was hidden or replaced does not
// stay in the file; FAST does so where it costs no further write.
var pragmas = []string{
	"page_size = 2048", "journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 8000", "foreign_keys = ON",
	"cache_size = -4000", "temp_store = MEMORY", "case_sensitive_like = ON", "secure_delete = FAST",
}

// timeout is how long a statement waits for another process's lock: a command may work on a database that a server has open.
const timeout = 10 * time.Second

// Engine is the embedded engine: one file of this machine.
type Engine struct{ path string }

// New returns the engine of a file.
func New(path string) *Engine { return &Engine{path} }

// Connect creates the file if it does not exist, and opens a writing connection. query_only: a read that writes is a mistake,
// and outside the one writer it would fail only under load.
func (e *Engine) Connect(_ context.Context, to driver.Purpose) (driver.Conn, error) {
	if to == driver.Reading {
		return later(e.path, "query_only = ON"), nil
	}
	if err := create(e.path); err != nil {
		return nil, err
	}
	c, err := open(e.path)
	if err != nil {
		return nil, err
	}
	c.copier, err = startCopier(c)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Traits of the engine. It has one write lock, and a statement is a call of a function. Of the readers, one more than
// processors for one account keeps these busy while a reader passes from one call to the next. Many more slow each other
// down inside the driver. The rest is what one account leaves to others.
func (e *Engine) Traits() driver.Traits {
	busy := runtime.NumCPU() + 1
	return driver.Traits{
		Readers: busy + max(1, busy/3), Writers: 1, Begin: beginWriting, Snapshot: "BEGIN",
		HasTable: "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1",
		Filling:  []string{"PRAGMA cache_size = -262144"},
	}
}

// Identity returns the identity of the file.
func (e *Engine) Identity(context.Context, driver.Read) (driver.FileID, error) { return fileID(e.path) }

// Free returns how many bytes the disk of the file still takes; -1: not known.
func (e *Engine) Free() int64 { return freeSpace(e.path) }

func open(path string, extra ...string) (*conn, error) {
	c := later(path, extra...)
	return c, c.Revive()
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

// Version returns the version of the engine.
func Version() string {
	c, err := open(":memory:")
	if err != nil {
		return "?"
	}
	defer func() { _ = c.Close() }() // an empty database in memory
	version, _, err := driver.One(driver.Session{Conn: c}, driver.Column[string], `SELECT sqlite_version()`)
	if err != nil {
		return "?"
	}
	return version
}

// Exists returns an error when there is no file.
func (e *Engine) Exists() error {
	if _, err := os.Stat(e.path); err != nil {
		return fmt.Errorf("there is no database at %s: %w", e.path, err)
	}
	return nil
}

// Size returns the sizes of the database file and of the write-ahead log beside it.
func (e *Engine) Size(context.Context, driver.Read) (file, log int64, err error) {
	info, err := os.Stat(e.path)
	if err != nil {
		return 0, 0, err
	}
	if beside, err := os.Stat(e.path + "-wal"); err == nil {
		log = beside.Size()
	}
	return info.Size(), log, nil
}

// DataVersion asks the writing connection, which alone shows the changes of other processes: the others count this process's
// own writes too.
func (e *Engine) DataVersion(q driver.Queries) (int64, error) {
	version, _, err := driver.One(q, driver.Column[int64], `PRAGMA data_version`)
	return version, err
}

// Migrations works through database/sql, as goose does. Foreign keys are off: migrations that rebuild a table would
// otherwise delete the rows that refer to it.
func (e *Engine) Migrations(context.Context) (p *goose.Provider, end func(), err error) {
	h, err := sql.Open("sqlite", e.uri())
	if err != nil {
		return nil, nil, err
	}
	p, err = goose.NewProvider(goose.DialectSQLite3, h, migrations.Files, migrations.InAnyOrder)
	if err != nil {
		return nil, nil, errors.Join(err, h.Close())
	}
	return p, func() { _ = h.Close() }, nil // every migration is committed by then
}

// uri returns the name of the database for database/sql.
func (e *Engine) uri() string {
	query := url.Values{"_pragma": {"busy_timeout(10000)", "synchronous(FULL)"}}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: e.path}).EscapedPath(), RawQuery: query.Encode()}).String()
}
