package db

import (
	"fmt"
	"slices"
	"strings"
)

// keptRows are rows that are inserted, or updated, with one statement when one of another kind comes. Their order among
// themselves is not that of the calls: a statement for each row would cost the server and this program twice as much.
type keptRows struct {
	Rows
	keys int            // 0: they are inserted
	at   map[string]int // of a key, among the rows to update
}

// maxKept bounds the rows of one statement that are kept in memory.
const maxKept = 2000

func (c *postgresConn) insert(r Rows) error { return c.keep(0, r) }

func (c *postgresConn) update(keys int, r Rows) error { return c.keep(keys, r) }

// keep adds rows to those of their table. New rows may be inserted before others are updated, but rows are not updated
// before they are inserted.
func (c *postgresConn) keep(keys int, r Rows) error {
	into := -1
	for i, k := range c.kept {
		if k.Table == r.Table && (keys == 0) == (k.keys == 0) && slices.Equal(k.Columns, r.Columns) {
			into = i
		} else if k.Table == r.Table && keys > 0 {
			into = -1
		}
	}
	if into < 0 {
		into = len(c.kept)
		c.kept = append(c.kept, keptRows{Rows{Table: r.Table, Columns: r.Columns}, keys, map[string]int{}})
	}
	k := &c.kept[into]
	for _, row := range r.Values {
		k.add(row)
	}
	if len(k.Values) < maxKept {
		return nil
	}
	return c.release()
}

// add adds a row. Of two updates of a row the later holds: a statement would do one of them, either.
func (k *keptRows) add(row []any) {
	if k.keys > 0 {
		key := fmt.Sprint(row[:k.keys]...)
		if at, again := k.at[key]; again {
			k.Values[at] = row
			return
		}
		k.at[key] = len(k.Values)
	}
	k.Values = append(k.Values, row)
}

// releaseFor is release before a statement, unless that reads or changes rows of other tables alone.
func (c *postgresConn) releaseFor(query string) error {
	elsewhere := strings.HasPrefix(query, "SELECT") || strings.HasPrefix(query, "UPDATE")
	if elsewhere && !slices.ContainsFunc(c.kept, func(k keptRows) bool { return strings.Contains(query, k.Table) }) {
		return nil
	}
	return c.release()
}

// release adds the statements for the rows that are kept to those that are sent next.
func (c *postgresConn) release() error {
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

func (c *postgresConn) bindKept(k keptRows, checked map[any]bool) (unsent, error) {
	if k.keys > 0 {
		return c.bindUpdate(k.keys, k.Rows)
	}
	return c.bindInsert(k.Rows, checked)
}

// bindInsert returns the statement that inserts all rows at once: an array for each column. Of tables whose rows refer to their
// account in no constraint, it also checks that the accounts exist, and locks them as a constraint does: but for those that
// an earlier statement of the same pipeline has checked.
func (c *postgresConn) bindInsert(r Rows, checked map[any]bool) (unsent, error) {
	rows := "unnest(" + placeholders(len(r.Columns)) + ")"
	accounts := unchecked(r, checked)
	if len(accounts) == 0 {
		return c.bind(r.text("SELECT * FROM "+rows), r.arrays())
	}
	known := fmt.Sprintf("known_accounts($%d)", len(r.Columns)+1)
	return c.bind(r.text("SELECT r.* FROM "+known+" AS k, "+rows+" AS r WHERE k"), append(r.arrays(), accounts))
}

// bindUpdate returns the statement that updates all rows at once.
func (c *postgresConn) bindUpdate(keys int, r Rows) (unsent, error) {
	from := " FROM unnest(" + placeholders(len(r.Columns)) + ") AS new (" + strings.Join(r.Columns, ", ") + ")"
	return c.bind(r.update(keys, from, func(column int) string { return "new." + r.Columns[column] }), r.arrays())
}

// arrays returns the values of each column.
func (r Rows) arrays() []any {
	columns := make([]any, len(r.Columns))
	for i := range columns {
		columns[i] = columnOf{r.Values, i}
	}
	return columns
}
