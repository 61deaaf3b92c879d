package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"zombiezen.com/go/sqlite" // the embedded engine, without cgo
)

// pragmas are set on every connection. WAL lets readers continue while a commit is written. synchronous FULL makes
// a commit survive power loss: a 2xx reply promises that the change is on disk. The log is copied into the database
// at 16 MB, so that pages that change with every event are written once for many commits.
var pragmas = []string{
	"journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 4000", "foreign_keys = ON", "cache_size = -4000",
	"temp_store = MEMORY",
}

// timeout is how long a statement waits for another process's lock: a command may work on a database that a server has open.
const timeout = 10 * time.Second

func (d *DB) openSQLite(path string) (err error) {
	if err := create(path); err != nil {
		return err
	}
	d.path = path
	if d.writer, err = openConn(path); err != nil {
		return err
	}
	// One reader more than processors keeps these busy while a reader passes from one call to the next. Many
	// more slow each other down inside the driver. query_only: a read that writes is a mistake, and outside
	// the one writer it would fail only under load.
	d.readers, err = openPool(path, runtime.NumCPU()+1, "query_only = ON")
	return err
}

func openPool(path string, size int, extra ...string) (pool, error) {
	p := pool{free: make(chan *conn, size)}
	for range size {
		c, err := openConn(path, extra...)
		if err != nil {
			return p, err
		}
		p.free <- c
		p.size++
	}
	return p, nil
}

func openConn(path string, extra ...string) (*conn, error) {
	raw, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	raw.SetBusyTimeout(timeout)
	c := &conn{raw: raw, stmts: map[string]*stmt{}}
	for _, pragma := range slices.Concat(pragmas, extra) {
		if _, err := (&Tx{conn: c}).Exec("PRAGMA " + pragma); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
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
	c, err := openConn(":memory:")
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

// MustExist returns an error for a DSN whose database does not exist. Commands that only read call it, which would
// otherwise create an empty database at a mistyped path.
func MustExist(dsn string) error {
	path, ok := strings.CutPrefix(dsn, "sqlite:")
	if !ok {
		return nil // Open reports the fault of the DSN
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("there is no database at %s: %w", path, err)
	}
	return nil
}

// storageFails reports whether the storage failed and not the statement: a full or broken disk, or another process
// that keeps the database locked.
func storageFails(err error) bool {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull, sqlite.ResultIOErr, sqlite.ResultBusy, sqlite.ResultReadOnly, sqlite.ResultCantOpen:
		return true
	}
	return false
}

// Size returns the sizes of the database file and of the write-ahead log beside it, in bytes.
func (d *DB) Size() (file, log int64, err error) {
	info, err := os.Stat(d.path)
	if err != nil {
		return 0, 0, err
	}
	if beside, err := os.Stat(d.path + "-wal"); err == nil {
		log = beside.Size()
	}
	return info.Size(), log, nil
}

// ChangedByOthers returns a number that differs when another process has changed the database since the last call. Only
// the writing connection shows it: the others count this process's own writes too.
func (d *DB) ChangedByOthers(ctx context.Context) (version int64, err error) {
	err = d.Write(ctx, func(tx *Tx) (err error) {
		version, _, err = One(tx, Column[int64], `PRAGMA data_version`)
		return err
	})
	return version, err
}
