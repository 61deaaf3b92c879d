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
	"slices"
	"strings"

	"modernc.org/sqlite" // the embedded engine, without cgo
	sqlite3 "modernc.org/sqlite/lib"
)

// pragmas of every connection. WAL lets readers go on while a commit is written; synchronous FULL makes
// a commit survive power loss, which "2xx means on disk" asks for; the busy timeout is for the command
// line working on a database that a server has open.
var pragmas = []string{"journal_mode(WAL)", "synchronous(FULL)", "busy_timeout(10000)", "foreign_keys(ON)", "cache_size(-4000)", "temp_store(MEMORY)"}

func (d *DB) openSQLite(ctx context.Context, path string) (err error) {
	if err := create(path); err != nil {
		return err
	}
	if d.writer, err = d.openPool(ctx, path, 1); err != nil {
		return err
	}
	// One reader more than processors keeps those busy while a reader is on its way from one call to the
	// next; many more make the driver's readers get in each other's way. A read that writes is a mistake,
	// and outside the one writer it would fail under load only.
	d.readers, err = d.openPool(ctx, path, runtime.NumCPU()+1, "query_only(ON)")
	return err
}

func (d *DB) openPool(ctx context.Context, path string, size int, extra ...string) (pool, error) {
	p := pool{free: make(chan *conn, size)}
	query := url.Values{"_pragma": slices.Concat(pragmas, extra)}
	uri := (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query.Encode()}).String()
	h, err := sql.Open("sqlite", uri)
	if err != nil {
		return p, err
	}
	d.handles = append(d.handles, h)
	for range size {
		raw, err := h.Conn(ctx)
		if err != nil {
			return p, err
		}
		p.free <- &conn{raw: raw, stmts: map[string]*sql.Stmt{}}
		p.size++
	}
	return p, nil
}

// create makes a new database file readable by its owner alone, because it holds personal data; an
// existing file keeps its mode. The engine gives the files beside it the same mode.
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

func sqliteVersion() (version string) {
	h, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return "?"
	}
	defer h.Close()
	if err := h.QueryRow("SELECT sqlite_version()").Scan(&version); err != nil {
		return "?"
	}
	return version
}

// MustExist refuses a DSN whose database is not there yet, for commands that would otherwise answer a
// mistyped path with a new, empty database.
func MustExist(dsn string) error {
	path, ok := strings.CutPrefix(dsn, "sqlite:")
	if !ok {
		return nil // Open says what is wrong with it
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("there is no database at %s: %w", path, err)
	}
	return nil
}

// storageFails tells whether it is the storage that fails and not the statement: a full or broken disk, or
// another process that does not let go of the database.
func storageFails(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff { // the rest of the code says where
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return true
	}
	return false
}
