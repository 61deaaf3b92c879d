package db

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tocsin/internal/platform/db/driver"
	"tocsin/internal/platform/db/sqlite"
)

// Backup writes a consistent copy of the database to a new file, while others read and write, and checks the copy. The
// file appears when it is complete; only its owner can read it. size is its length in bytes.
func (d *DB) Backup(ctx context.Context, file string) (size int64, err error) {
	local, ok := d.engine.(driver.Local)
	if !ok {
		return 0, errNoFile
	}
	return local.Backup(ctx, file)
}

// errNoFile is the error of a backup of a database that is no file of this machine.
var errNoFile = errors.New("only the embedded engine is backed up by this command: " +
	"use pg_dump or pg_basebackup, as docs/postgresql.md describes")

// Restore makes the database that dsn names from a backup. prepare changes it before it gets its name. A database that
// exists is replaced only if replace is set, and never while a process has it open. Whatever fails, the database that
// was there stays.
func Restore(ctx context.Context, dsn, backup string, replace bool, prepare func(*DB) error) (size int64, err error) {
	path, ok := strings.CutPrefix(dsn, "sqlite:")
	if strings.HasPrefix(dsn, "postgres") {
		return 0, errNoFile
	}
	if !ok || path == "" {
		return 0, fmt.Errorf("database %q: want sqlite:PATH", scheme(dsn))
	}
	return sqlite.Restore(ctx, path, backup, replace, func(part string) error { return prepared(ctx, part, backup, prepare) })
}

// prepared brings the copy of a backup up to date and prepares it.
func prepared(ctx context.Context, part, backup string, prepare func(*DB) error) error {
	d, err := Connect(ctx, "sqlite:"+part)
	if err != nil {
		return err
	}
	d.dsn = backup // which an error about the schema names
	_, err = d.Migrate(ctx)
	if err == nil {
		err = prepare(d)
	}
	return errors.Join(err, d.Close())
}

// Archive writes a database into a file that is missing: it makes the schema and runs fn in one transaction. The file gets its
// name when fn has returned without an error; otherwise nothing is left.
func Archive(ctx context.Context, path string, fn func(*DB, *Tx) error) error {
	var d *DB
	schema := func(part string) (err error) {
		d, err = Open(ctx, "sqlite:"+part)
		if err != nil {
			return err
		}
		return d.Close() // fn uses it for the catalogue alone
	}
	return sqlite.Archive(path, schema, func(c driver.Conn) error { return fn(d, &Tx{conn: c}) })
}
