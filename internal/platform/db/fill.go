package db

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"tocsin/internal/platform/db/driver"
)

// Origin is what a database is filled from, table by table, by a copy that may be interrupted and continued.
type Origin struct {
	Name    string // the DSN of the source, without its password
	File    FileID // of the source
	Schema  int64  // the version of the source's schema
	Command string // continues the copy
}

// OpenToFill opens the database that dsn names to be filled from an origin: one that is missing or empty, or one that was begun
// to be filled from it. Until Finish, Open refuses it. The error names what another process has open, what was begun from
// another origin, or what holds rows.
func OpenToFill(ctx context.Context, dsn string, o Origin) (*DB, error) {
	e, err := engineOf(dsn)
	if err != nil {
		return nil, err
	}
	own, err := e.ToFill(ctx)
	if err != nil {
		return nil, err
	}
	d, err := connectTo(ctx, own, dsn)
	if err != nil {
		return nil, err
	}
	if err := d.beginFilling(ctx, o); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if d.Shared() { // a server that was started meanwhile has seen that the copy is not finished, or is seen here
		err = e.InUse(ctx, false)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// beginFilling stores the origin, or compares it with the one that is stored.
func (d *DB) beginFilling(ctx context.Context, o Origin) error {
	was, begun, err := d.Filling(ctx)
	switch {
	case err != nil:
		return err
	case begun && (!was.File.Is(o.File) || was.File.Inode == 0 && was.Name != o.Name):
		return fmt.Errorf("%s is a copy of %s that is not finished, and %s is another database: continue it with: %s",
			d.DSN(), was.Name, o.Name, was.Command)
	case begun && was.Schema != o.Schema:
		return fmt.Errorf("%s is a copy of %s that was begun with schema %d, and the source has schema %d now: "+
			"remove the target, or name another one, and begin again", d.DSN(), was.Name, was.Schema, o.Schema)
	case !begun:
		if err := d.Read(ctx, d.empty); err != nil {
			return err // before its schema is changed
		}
		if _, err := d.Migrate(ctx); err != nil {
			return err
		}
	}
	return d.Write(ctx, func(tx *Tx) error {
		queries := slices.Clone(d.traits.Filling)
		if !begun {
			queries = append(queries,
				`CREATE TABLE copy_origin (name TEXT NOT NULL, inode BIGINT NOT NULL, born_at BIGINT NOT NULL, schema BIGINT NOT NULL,
					command TEXT NOT NULL)`,
				`CREATE TABLE copy_progress (table_name TEXT PRIMARY KEY, row_count BIGINT NOT NULL, last_key TEXT NOT NULL)`)
		}
		for _, query := range append(queries, `DELETE FROM copy_origin`) {
			if _, err := tx.Exec(query); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`INSERT INTO copy_origin (name, inode, born_at, schema, command) VALUES ($1, $2, $3, $4, $5)`,
			o.Name, o.File.Inode, o.File.Born, o.Schema, o.Command)
		return err
	})
}

// Filling returns the origin of a database that is not filled yet; found is false for others.
func (d *DB) Filling(ctx context.Context) (o Origin, found bool, err error) {
	err = d.Read(ctx, func(tx *Tx) error {
		_, begun, err := One(tx, Column[int64], d.traits.HasTable, "copy_origin")
		if err != nil || !begun {
			return err
		}
		o, found, err = One(tx, func(scan Scan) (o Origin, err error) {
			return o, scan(&o.Name, &o.File.Inode, &o.File.Born, &o.Schema, &o.Command)
		}, `SELECT name, inode, born_at, schema, command FROM copy_origin`)
		return err
	})
	return o, found, err
}

// Finished returns an error for a database that is not filled yet.
func (d *DB) Finished(ctx context.Context) error {
	o, begun, err := d.Filling(ctx)
	if err == nil && begun {
		err = fmt.Errorf("%s is a copy of %s that is not finished: continue it with: %s", d.DSN(), o.Name, o.Command)
	}
	return err
}

// Filled is how far a table is.
type Filled struct {
	Rows int64
	Last Key // of the last row in the source
}

// Progress returns how far the tables are that have rows.
func (d *DB) Progress(tx *Tx) (map[string]Filled, error) {
	all := map[string]Filled{}
	_, err := All(tx, func(scan Scan) (struct{}, error) {
		var table, key string
		var f Filled
		err := scan(&table, &f.Rows, &key)
		if err == nil {
			f.Last, err = keyFrom(key)
		}
		all[table] = f
		return struct{}{}, err
	}, `SELECT table_name, row_count, last_key FROM copy_progress`)
	return all, err
}

// SaveProgress stores how far a table is, in the transaction that loads its rows. It fails when another process has filled
// the table since.
func (d *DB) SaveProgress(tx *Tx, t Table, before, after Filled) error {
	key, err := json.Marshal(after.Last)
	if err != nil {
		return err
	}
	query := `UPDATE copy_progress SET row_count = $1, last_key = $2 WHERE table_name = $3 AND row_count = $4`
	args := []any{after.Rows, string(key), t.Name, before.Rows}
	if before.Rows == 0 {
		query, args = `INSERT INTO copy_progress (row_count, last_key, table_name) VALUES ($1, $2, $3)`, args[:3]
	}
	if n, err := tx.Exec(query, args...); err != nil {
		return err
	} else if n != 1 {
		return errors.New("another copy has written to the target meanwhile")
	}
	return nil
}

// Empty deletes all rows of tables, and that they have been filled. Each comes after those that it refers to.
func (d *DB) Empty(tx *Tx, tables []Table) error {
	for i := range tables {
		t := tables[len(tables)-1-i]
		if err := tx.Do("DELETE FROM " + driver.Quoted(t.Name)); err != nil {
			return err
		}
		if err := tx.Do(`DELETE FROM copy_progress WHERE table_name = $1`, t.Name); err != nil {
			return err
		}
	}
	return nil
}

// Finish makes a database that was filled one like others.
func (d *DB) Finish(tx *Tx) error {
	for _, query := range slices.Concat(d.traits.Filled, []string{`DROP TABLE copy_origin`, `DROP TABLE copy_progress`}) {
		if _, err := tx.Exec(query); err != nil {
			return err
		}
	}
	return nil
}

// keyFrom reads a key that SaveProgress has stored.
func keyFrom(text string) (k Key, err error) {
	r := json.NewDecoder(bytes.NewReader([]byte(text)))
	r.UseNumber() // a float would be no exact one
	if err := r.Decode(&k); err != nil {
		return nil, err
	}
	for i, value := range k {
		if n, ok := value.(json.Number); ok {
			k[i], err = n.Int64()
			if err != nil {
				return nil, err
			}
		}
	}
	return k, nil
}

// empty returns an error that names a table with rows.
func (d *DB) empty(tx *Tx) error {
	all, err := d.Tables(tx)
	if err != nil {
		return err
	}
	for _, t := range all {
		if found, err := HasRows(tx, t, 0); err != nil {
			return err
		} else if found {
			return fmt.Errorf("%s is not empty: table %s has rows", d.DSN(), t.Name)
		}
	}
	return nil
}
