package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"strings"
)

// tables reads the catalogue. The engine names the types as the migrations spell them.
func (e *sqliteEngine) tables(tx *Tx) ([]Table, error) {
	names, err := All(tx, Column[string], `SELECT name FROM sqlite_master
		WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name <> 'goose_db_version'`)
	if err != nil {
		return nil, err
	}
	all := make([]Table, len(names))
	for i, name := range names {
		all[i].Name, all[i].key = name, []TableColumn{{"rowid", Integer, false}}
		_, err := All(tx, func(scan Scan) (struct{}, error) {
			var column, kind string
			var key int64
			if err := scan(&column, &kind, &key); err != nil {
				return struct{}{}, err
			}
			k, ok := sqliteKinds[strings.ToUpper(kind)]
			if !ok {
				return struct{}{}, fmt.Errorf("column %s of table %s has the type %q, which is not one of this program", column, name, kind)
			}
			all[i].Columns = append(all[i].Columns, TableColumn{column, k, key == 1 && strings.EqualFold(kind, "INTEGER")})
			return struct{}{}, nil
		}, `SELECT name, type, pk FROM pragma_table_xinfo($1) WHERE hidden = 0`, name)
		if err != nil {
			return nil, err
		}
		all[i].Parents, err = All(tx, Column[string], `SELECT DISTINCT "table" FROM pragma_foreign_key_list($1)`, name)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

var sqliteKinds = map[string]Kind{
	"BIGINT": Integer, "INTEGER": Integer, "TEXT": Text, "BOOLEAN": Boolean, "BLOB": Bytes, "BYTEA": Bytes,
	"DOUBLE PRECISION": Float, "REAL": Float,
}

func (e *sqliteEngine) lockRow() string           { return "" }
func (e *sqliteEngine) unhurried() []string       { return nil }
func (e *sqliteEngine) numbered(*Tx, Table) error { return nil } // the engine does
func (e *sqliteEngine) hasTable() string {
	return "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1"
}
func (e *sqliteEngine) filling() []string {
	return []string{"PRAGMA cache_size = -262144"}
}
func (e *sqliteEngine) filled() []string { return nil }
func (e *sqliteEngine) inUse(context.Context, bool) error {
	unlock, err := lockAlone(e.path)
	if err != nil {
		return err
	}
	unlock()
	return nil
}

// load runs one prepared statement for each row, which costs little inside the process.
func (c *sqliteConn) load(t Table, rows iter.Seq2[[]any, error]) error {
	query := "INSERT INTO " + quoted(t.Name) + " (" + t.columns() + ") VALUES (" + placeholders(len(t.Columns)) + ")"
	for values, err := range rows {
		if err != nil {
			return err
		}
		if _, err := c.run(query, values, func(Scan) (bool, error) { return true, nil }); err != nil {
			return err
		}
	}
	return nil
}

// whileLoading makes writing fast and unsafe, for a file that is thrown away unless it is finished.
var whileLoading = []string{"journal_mode = OFF", "synchronous = OFF", "cache_size = -262144"}

// Archive writes a database into a file that is missing: it makes the schema and runs fn in one transaction. The file gets its
// name when fn has returned without an error; otherwise nothing is left.
func Archive(ctx context.Context, path string, fn func(*DB, *Tx) error) (err error) {
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
	d, err := Open(ctx, "sqlite:"+part)
	if err != nil {
		return err
	}
	if err := d.Close(); err != nil { // fn uses it for the catalogue alone
		return err
	}
	c, err := openSQLite(part, whileLoading...)
	if err != nil {
		return err
	}
	tx := &Tx{conn: c}
	if err := errors.Join(filled(tx, func(tx *Tx) error { return fn(d, tx) }), c.close()); err != nil {
		return err
	}
	_, err = settle(part, path)
	return err
}

func filled(tx *Tx, fn func(*Tx) error) error {
	if _, err := tx.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return err // the file is removed
	}
	for _, query := range []string{"COMMIT", "PRAGMA journal_mode = WAL"} {
		if _, err := tx.Exec(query); err != nil {
			return err
		}
	}
	return nil
}

// toFill: a file that is missing is no one's.
func (e *sqliteEngine) toFill(ctx context.Context) (engine, error) {
	if _, err := os.Stat(e.path); errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	return e, e.inUse(ctx, true)
}
