package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"zombiezen.com/go/sqlite"

	"tocsin/internal/platform/db/driver"
)

// Backup writes a consistent copy of the database to a new file, while others read and write, and checks the copy. The
// file appears when it is complete; only its owner can read it. size is its length in bytes.
func (e *Engine) Backup(ctx context.Context, file string) (size int64, err error) {
	part := file + ".part"
	if err := absent(file); err != nil {
		return 0, err
	}
	f, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // VACUUM INTO accepts an empty file
	if err != nil {
		return 0, err
	}
	if err := f.Close(); err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(part) // the error is already returned
		}
	}()
	c, err := open(e.path)
	if err != nil {
		return 0, err
	}
	c.raw.SetInterrupt(ctx.Done())
	_, err = driver.Exec(driver.Session{Conn: c}, `VACUUM INTO $1`, part)
	err = errors.Join(err, c.Close())
	if err != nil {
		return 0, err
	}
	if err := intact(ctx, part); err != nil {
		return 0, err
	}
	if err := absent(file); err != nil {
		return 0, err
	}
	return settle(part, file)
}

// absent returns an error when a file exists.
func absent(file string) error {
	_, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil:
		return fmt.Errorf("%s exists already", file)
	}
	return err
}

// settle writes a file to disk, renames it, and returns its size.
func settle(part, file string) (size int64, err error) {
	f, err := os.OpenFile(part, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return 0, err
	}
	if err := os.Rename(part, file); err != nil {
		return 0, err
	}
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return 0, err
	}
	return info.Size(), errors.Join(dir.Sync(), dir.Close()) // so that the new name survives power loss
}

// intact checks every page and index of a database file, and that it is one of this program.
func intact(ctx context.Context, file string) (err error) {
	raw, err := sqlite.OpenConn(file, sqlite.OpenReadOnly)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	c := newConn(raw)
	defer func() { err = errors.Join(err, c.Close()) }()
	raw.SetInterrupt(ctx.Done())
	result, _, err := driver.One(driver.Session{Conn: c}, driver.Column[string], `PRAGMA integrity_check(1)`)
	if err != nil {
		return fmt.Errorf("%s is no intact database: %w", file, err)
	}
	if result != "ok" {
		return fmt.Errorf("%s is damaged: %s", file, result)
	}
	_, found, err := driver.One(driver.Session{Conn: c}, driver.Column[string],
		`SELECT name FROM sqlite_master WHERE name = 'goose_db_version'`)
	if err == nil && !found {
		return fmt.Errorf("%s is not a database of Tocsin", file)
	}
	return err
}

// Restore makes a database file from a backup. prepare changes the new file before it gets its name. A database that exists is
// replaced only if replace is set, and never while a process has it open. Whatever fails, the database that was there stays.
func Restore(ctx context.Context, path, backup string, replace bool, prepare func(part string) error) (size int64, err error) {
	if err := absent(backup + "-wal"); err != nil {
		return 0, fmt.Errorf("%w, so %s is not a backup but a database in use, or a part of one: make a backup with tocsin backup", err, backup)
	}
	if err := intact(ctx, backup); err != nil {
		return 0, err
	}
	if err := absent(path); err != nil && !replace {
		return 0, fmt.Errorf("%w: --replace replaces it by the backup", err)
	} else if err != nil {
		unlock, err := lockAlone(path)
		if err != nil {
			return 0, err
		}
		defer unlock()
	}
	part := path + ".part"
	defer func() {
		if err != nil {
			_ = removeAll(part, part+"-wal", part+"-shm") // the error is already returned
		}
	}()
	if err := copyPrivate(backup, part); err != nil {
		return 0, err
	}
	if err := prepare(part); err != nil {
		return 0, err
	}
	if err := removeAll(path+"-wal", path+"-shm"); err != nil { // they belong to the database that is replaced
		return 0, err
	}
	return settle(part, path)
}

// whileLoading makes writing fast and unsafe, for a file that is thrown away unless it is finished.
var whileLoading = []string{"journal_mode = OFF", "synchronous = OFF", "cache_size = -262144"}

// Archive writes a database into a file that is missing: schema makes the schema in it, and fill runs in one transaction. The
// file gets its name when fill has returned without an error; otherwise nothing is left.
func Archive(path string, schema func(part string) error, fill func(driver.Conn) error) (err error) {
	if err := absent(path); err != nil {
		return err
	}
	part := path + ".part"
	remains := []string{part, part + "-wal", part + "-shm"}
	if err := removeAll(remains...); err != nil { // left by a copy that was killed
		return err
	}
	defer func() {
		if err != nil {
			_ = removeAll(remains...) // the error is already returned
		}
	}()
	if err := schema(part); err != nil {
		return err
	}
	c, err := open(part, whileLoading...)
	if err != nil {
		return err
	}
	if err := errors.Join(filled(c, fill), c.Close()); err != nil {
		return err
	}
	_, err = settle(part, path)
	return err
}

func filled(c *conn, fill func(driver.Conn) error) error {
	own := driver.Session{Conn: c}
	if _, err := driver.Exec(own, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := fill(c); err != nil {
		return err // the file is removed
	}
	for _, query := range []string{"COMMIT", "PRAGMA journal_mode = WAL"} {
		if _, err := driver.Exec(own, query); err != nil {
			return err
		}
	}
	return nil
}

// copyPrivate copies a file to one that only its owner can read.
func copyPrivate(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := removeAll(to, to+"-wal", to+"-shm"); err != nil { // left by a restore that was killed
		return err
	}
	if err := create(to); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// removeAll removes files, those that exist.
func removeAll(files ...string) error {
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// lockAlone locks a database that no other process has open. The engine permits leaving WAL mode only then. A file that
// is no database is not locked: nothing can serve it.
func lockAlone(path string) (unlock func(), err error) {
	raw, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	c := newConn(raw)
	unlock = func() { _ = c.Close() } // nothing was written
	q := driver.Session{Conn: c}
	raw.SetBusyTimeout(0)
	for _, query := range []string{"PRAGMA locking_mode = EXCLUSIVE", "PRAGMA journal_mode = DELETE", "BEGIN EXCLUSIVE"} {
		_, err := driver.Exec(q, query)
		switch code := sqlite.ErrCode(err).ToPrimary(); {
		case code == sqlite.ResultNotADB || code == sqlite.ResultCorrupt:
			return unlock, nil
		case err != nil:
			unlock()
			return nil, fmt.Errorf("%s is in use: stop the server first (%w)", path, err)
		}
	}
	return unlock, nil
}
