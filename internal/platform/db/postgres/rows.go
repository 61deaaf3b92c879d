package postgres

import (
	"fmt"
	"slices"
	"strings"

	"tocsin/internal/platform/db/driver"
)

// keptRows are rows that are inserted, or updated, with one statement when one of another kind comes. Their order among
// themselves is not that of the calls: a statement for each row would cost the server and this program twice as much.
type keptRows struct {
	driver.Rows
	keys int            // 0: they are inserted
	set  string         // they are inserted, and this changes those that are there; empty: see keys
	at   map[rowKey]int // of a key, among the rows
}

// rowKey is the key of a row; one of fewer columns leaves the last empty.
type rowKey [6]any

// alike reports whether rows can share a statement, which then has the place of the earlier.
func (k *keptRows) alike(other *keptRows) bool {
	return k.Table == other.Table && (k.keys == 0) == (other.keys == 0) && k.set == other.set && slices.Equal(k.Columns, other.Columns)
}

// maxKept bounds the rows of one statement that are kept in memory.
const maxKept = 2000

func (c *conn) Insert(r driver.Rows) error { return c.keep(0, r, "") }

func (c *conn) Update(keys int, r driver.Rows) error { return c.keep(keys, r, "") }

func (c *conn) Upsert(keys int, r driver.Rows, set string) error { return c.keep(keys, r, set) }

// keep adds rows to those of their table. New rows may be inserted before others are updated, but rows are not updated
// before they are inserted.
func (c *conn) keep(keys int, r driver.Rows, set string) error {
	add := keptRows{Rows: driver.Rows{Table: r.Table, Columns: r.Columns}, keys: keys, set: set}
	into := -1
	for i := range c.kept {
		if c.kept[i].alike(&add) {
			into = i
		} else if c.kept[i].Table == r.Table && keys > 0 {
			into = -1
		}
	}
	for _, row := range r.Values {
		if into < 0 || !c.kept[into].add(row) {
			add.at, into = map[rowKey]int{}, len(c.kept)
			c.kept = append(c.kept, add)
			c.kept[into].add(row)
		}
	}
	if len(c.kept[into].Values) < maxKept {
		return nil
	}
	return c.release()
}

// add adds a row. Of two updates of a row the later holds: a statement would do one of them, either. Where the new row
// depends on the one that is there, it is not added: no statement changes a row twice.
func (k *keptRows) add(row []any) (added bool) {
	if k.keys > 0 {
		var key rowKey
		for i := range k.keys {
			key[i] = row[i]
		}
		at, again := k.at[key]
		switch {
		case again && k.set != "":
			return false
		case again:
			k.Values[at] = row
			return true
		}
		k.at[key] = len(k.Values)
	}
	k.Values = append(k.Values, row)
	return true
}

// releaseFor is release before a statement, unless that reads or changes rows of other tables alone.
func (c *conn) releaseFor(query string) error {
	elsewhere := strings.HasPrefix(query, "SELECT") || strings.HasPrefix(query, "UPDATE")
	if elsewhere && !slices.ContainsFunc(c.kept, func(k keptRows) bool { return strings.Contains(query, k.Table) }) {
		return nil
	}
	return c.release()
}

// release adds the statements for the rows that are kept to those that are sent next.
func (c *conn) release() error {
	all, checked := c.kept, map[any]bool{}
	c.kept = nil
	for _, k := range all {
		s, err := c.bindKept(k, checked)
		if err == nil {
			err = c.later(s)
		}
		if err != nil {
			return fmt.Errorf("rows of %s: %w", k.Table, err)
		}
	}
	return nil
}

func (c *conn) bindKept(k keptRows, checked map[any]bool) (unsent, error) {
	switch {
	case k.set != "":
		return c.bindInsert(k.Rows, k.OnConflict(k.keys, k.set), checked)
	case k.keys > 0:
		return c.bindUpdate(k.keys, k.Rows)
	}
	return c.bindInsert(k.Rows, "", checked)
}

// bindInsert returns the statement that inserts all rows at once: an array for each column. Of tables whose rows refer to their
// account in no constraint, it also checks that the accounts exist, and locks them as a constraint does: but for those that
// an earlier statement of the same pipeline has checked.
func (c *conn) bindInsert(r driver.Rows, conflict string, checked map[any]bool) (unsent, error) {
	rows := "unnest(" + driver.Placeholders(len(r.Columns)) + ")"
	accounts := unchecked(r, checked)
	if len(accounts) == 0 {
		return c.bind(r.InsertText("SELECT * FROM "+rows)+conflict, arrays(r))
	}
	known := fmt.Sprintf("known_accounts($%d)", len(r.Columns)+1)
	return c.bind(r.InsertText("SELECT r.* FROM "+known+" AS k, "+rows+" AS r WHERE k")+conflict, append(arrays(r), accounts))
}

// bindUpdate returns the statement that updates all rows at once.
func (c *conn) bindUpdate(keys int, r driver.Rows) (unsent, error) {
	from := " FROM unnest(" + driver.Placeholders(len(r.Columns)) + ") AS new (" + strings.Join(r.Columns, ", ") + ")"
	return c.bind(r.UpdateText(keys, from, func(column int) string { return "new." + r.Columns[column] }), arrays(r))
}

// arrays returns the values of each column.
func arrays(r driver.Rows) []any {
	columns := make([]any, len(r.Columns))
	for i := range columns {
		columns[i] = columnOf{r.Values, i}
	}
	return columns
}
