package db

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"tocsin/internal/platform/db/driver"
)

// ownTables are about the processes that have the database open, about its schema, and about a copy that is not finished.
var ownTables = []string{"node", "schema_floor", "copy_origin", "copy_progress"}

// Tables returns the tables of the database that can be copied to another one, each after those that it refers to.
func (d *DB) Tables(tx *Tx) ([]Table, error) {
	all, err := d.engine.Tables(tx.queries())
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(t Table) bool { return slices.Contains(ownTables, t.Name) })
	for i := range all {
		slices.SortFunc(all[i].Columns, func(a, b TableColumn) int { return strings.Compare(a.Name, b.Name) })
	}
	return parentsFirst(all)
}

// parentsFirst sorts tables so that each comes after those that it refers to.
func parentsFirst(all []Table) (sorted []Table, err error) {
	slices.SortFunc(all, func(a, b Table) int { return strings.Compare(a.Name, b.Name) })
	placed := map[string]bool{}
	for len(sorted) < len(all) {
		before := len(sorted)
		for _, t := range all {
			ready := !slices.ContainsFunc(t.Parents, func(p string) bool { return p != t.Name && !placed[p] })
			if ready && !placed[t.Name] {
				sorted, placed[t.Name] = append(sorted, t), true
			}
		}
		if len(sorted) == before {
			return nil, fmt.Errorf("the tables refer to each other in a circle")
		}
	}
	return sorted, nil
}

// SchemaVersion returns the number of the last migration of the database; 0: it has no schema.
func (d *DB) SchemaVersion(ctx context.Context) (version int64, err error) {
	p, end, err := d.engine.Migrations(ctx)
	if err != nil {
		return 0, fmt.Errorf("migrations: %w", err)
	}
	defer end()
	return p.GetDBVersion(ctx)
}

// Unhurried ends the time limits of a transaction that is known to take long.
func (d *DB) Unhurried(tx *Tx) error {
	for _, query := range d.traits.Unhurried {
		if _, err := tx.Exec(query); err != nil {
			return err
		}
	}
	return nil
}

// Key is the place of a row in a table: the values of the columns by which its rows are read.
type Key []any

// Span is the rows of a table that are read.
type Span struct {
	Account int64 // whose; 0: those of all
	After   Key   // those after this one; nil: from the first
	Until   Key   // up to this one; nil: to the last
}

// where returns the condition of the rows, with its arguments.
func (s Span) where(t Table) (condition string, args []any) {
	var all []string
	if s.Account != 0 {
		all, args = append(all, "account_id = $1"), append(args, s.Account)
	}
	compare := func(operator string, key Key) {
		places := make([]string, len(key))
		for i, value := range key {
			args = append(args, value)
			places[i] = fmt.Sprintf("$%d", len(args))
		}
		all = append(all, "("+driver.Listed(t.Key)+") "+operator+" ("+strings.Join(places, ", ")+")")
	}
	if s.After != nil {
		compare(">", s.After)
	}
	if s.Until != nil {
		compare("<=", s.Until)
	}
	if len(all) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(all, " AND "), args
}

// Record is a row of a table: its values are int64, string, bool, []byte, float64 or nil, in the order of the columns.
type Record struct {
	Values   []any
	Key      Key
	Replaced bool // the row held text that not every engine stores, which was replaced
}

// Records reads rows of a table in the order of their keys. Text is as every engine stores it.
func (d *DB) Records(tx *Tx, t Table, s Span, row func(Record) error) error {
	columns := slices.Concat(t.Columns, t.Key)
	condition, args := s.where(t)
	query := "SELECT " + driver.Listed(columns) + " FROM " + driver.Quoted(t.Name) + condition
	if len(t.Key) > 0 {
		query += " ORDER BY " + driver.Listed(t.Key)
	}
	dest := make([]any, len(columns))
	for i, c := range columns {
		dest[i] = variable(c.Kind)
	}
	n := 0
	_, err := tx.run(query, args, func(scan Scan) (bool, error) {
		n++
		if err := scan(dest...); err != nil {
			return false, fmt.Errorf("table %s, row %d: %w", t.Name, n, err)
		}
		values, replaced := make([]any, len(dest)), false
		for i := range dest {
			values[i] = value(dest[i])
			if text, ok := values[i].(string); ok {
				values[i] = driver.Storable(text)
				replaced = replaced || values[i] != text
			}
		}
		of := len(t.Columns)
		return true, row(Record{values[:of:of], values[of:], replaced})
	})
	return err
}

// variable returns a variable that a column of the kind is read into.
func variable(k driver.Kind) any {
	switch k {
	case driver.Integer:
		return new(*int64)
	case driver.Text:
		return new(*string)
	case driver.Boolean:
		return new(*bool)
	case driver.Float:
		return new(*float64)
	}
	return new(*[]byte)
}

// value returns the value of a variable; nil for NULL.
func value(dest any) any {
	switch v := dest.(type) {
	case **int64:
		return pointed(*v)
	case **string:
		return pointed(*v)
	case **bool:
		return pointed(*v)
	case **float64:
		return pointed(*v)
	case **[]byte:
		return pointed(*v)
	}
	return nil
}

func pointed[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// Load inserts rows as Records reads them, in the fastest way that the engine has.
func (d *DB) Load(tx *Tx, t Table, rows iter.Seq2[[]any, error]) error {
	if err := tx.conn.Load(t, rows); err != nil {
		return driver.Failed("load "+t.Name, err, tx.conn.Unavailable(err))
	}
	return nil
}

// HasRows reports whether a table has rows, or rows of an account (0: of any).
func HasRows(tx *Tx, t Table, account int64) (bool, error) {
	query, args := "SELECT 1 FROM "+driver.Quoted(t.Name), []any{}
	if account != 0 {
		query += " WHERE account_id = $1"
		args = append(args, account)
	}
	_, found, err := One(tx, Column[int64], query+" LIMIT 1", args...)
	return found, err
}

// DeleteAccount deletes the rows of an account from a table.
func DeleteAccount(tx *Tx, t Table, account int64) error {
	_, err := tx.Exec("DELETE FROM "+driver.Quoted(t.Name)+" WHERE account_id = $1", account)
	return err
}

// Texts reads a column of a table, of the rows of an account (0: of all).
func (d *DB) Texts(tx *Tx, table, column string, account int64) (texts []string, err error) {
	t := Table{Name: table, Columns: []TableColumn{{Name: column, Kind: driver.Text}}}
	err = d.Records(tx, t, Span{Account: account}, func(r Record) error {
		text, _ := r.Values[0].(string)
		texts = append(texts, text)
		return nil
	})
	return texts, err
}

// LockRow waits until no transaction that inserts rows which refer to an account's row of a table is open, and keeps
// others waiting.
func (d *DB) LockRow(tx *Tx, table string, account int64) error {
	end := d.traits.LockRow
	if end == "" {
		return nil
	}
	_, err := tx.Exec("SELECT 1 FROM "+driver.Quoted(table)+end, account)
	return err
}

// InUse returns an error when a server has the database that dsn names open.
func InUse(ctx context.Context, dsn string) error {
	e, err := engineOf(dsn)
	if err != nil {
		return err
	}
	return e.InUse(ctx, false)
}
