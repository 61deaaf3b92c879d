package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"strings"

	"tocsin/internal/platform/db/driver"
)

// Tables reads the catalogue. The engine names the types as the migrations spell them.
func (e *Engine) Tables(q driver.Queries) ([]driver.Table, error) {
	names, err := driver.All(q, driver.Column[string], `SELECT name FROM sqlite_master
		WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name <> 'goose_db_version'`)
	if err != nil {
		return nil, err
	}
	all := make([]driver.Table, len(names))
	for i, name := range names {
		all[i].Name, all[i].Key = name, []driver.TableColumn{{Name: "rowid", Kind: driver.Integer}}
		_, err := driver.All(q, func(scan driver.Scan) (struct{}, error) {
			var column, kind string
			var key int64
			if err := scan(&column, &kind, &key); err != nil {
				return struct{}{}, err
			}
			k, ok := kinds[strings.ToUpper(kind)]
			if !ok {
				return struct{}{}, fmt.Errorf("column %s of table %s has the type %q, which is not one of this program", column, name, kind)
			}
			all[i].Columns = append(all[i].Columns, driver.TableColumn{
				Name: column, Kind: k, Identity: key == 1 && strings.EqualFold(kind, "INTEGER"),
			})
			return struct{}{}, nil
		}, `SELECT name, type, pk FROM pragma_table_xinfo($1) WHERE hidden = 0`, name)
		if err != nil {
			return nil, err
		}
		all[i].Parents, err = driver.All(q, driver.Column[string], `SELECT DISTINCT "table" FROM pragma_foreign_key_list($1)`, name)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

var kinds = map[string]driver.Kind{
	"BIGINT": driver.Integer, "INTEGER": driver.Integer, "TEXT": driver.Text, "BOOLEAN": driver.Boolean,
	"BLOB": driver.Bytes, "BYTEA": driver.Bytes,
	"DOUBLE PRECISION": driver.Float, "REAL": driver.Float,
}

// InUse returns an error when another process has the file open.
func (e *Engine) InUse(context.Context, bool) error {
	unlock, err := lockAlone(e.path)
	if err != nil {
		return err
	}
	unlock()
	return nil
}

// Load runs one prepared statement for each row, which costs little inside the process.
func (c *conn) Load(t driver.Table, rows iter.Seq2[[]any, error]) error {
	query := "INSERT INTO " + driver.Quoted(t.Name) + " (" + t.ColumnList() + ") VALUES (" + driver.Placeholders(len(t.Columns)) + ")"
	for values, err := range rows {
		if err != nil {
			return err
		}
		if _, err := c.Run(query, values, func(driver.Scan) (bool, error) { return true, nil }); err != nil {
			return err
		}
	}
	return nil
}

// ToFill returns the engine itself. A file that is missing is no one's.
func (e *Engine) ToFill(ctx context.Context) (driver.Engine, error) {
	if _, err := os.Stat(e.path); errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	return e, e.InUse(ctx, true)
}
