package webhook

import (
	"fmt"
	"strings"

	"tocsin/internal/platform/db"
)

// listIndex holds the queries of lists along one index of the deliveries: a condition on the first columns of the index.
// Within the condition, the index has the order of the list. There are few, and their SQL texts are built once.
type listIndex struct{ up, down, count string }

var (
	indexStatus = newListIndex(`status = ?`)
	// Given the three columns one by one, an engine without statistics takes the shorter index by status.
	// Nothing but the index made for it can serve their expression.
	indexBoth = newListIndex(`CAST(integration_id AS TEXT) || ' ' || status || ' ' || event_type = ?`)
	// The other conditions are checked for each delivery of the incident or alert: these are few.
	indexRef = newListIndex(`ref_id = ? AND (? OR integration_id = ?) AND (? OR event_type = ?) AND (? OR status = ?)`)
)

// newListIndex builds the queries of a condition. LIMIT has an expression because SQLite reads the value of a bare
// parameter there when it plans, and so would plan the statement again for every call.
func newListIndex(condition string) listIndex {
	from := ` FROM webhook_delivery WHERE account_id = ? AND ` + condition
	return listIndex{
		up: numbered(`SELECT ` + columns + from +
			` AND (event_time, event_id) > (?, ?) AND event_time < ? ORDER BY event_time, event_id LIMIT ? + 0`),
		down: numbered(`SELECT ` + columns + from +
			` AND (event_time, event_id) < (?, ?) AND event_time >= ? ORDER BY event_time DESC, event_id DESC LIMIT ? + 0`),
		count: numbered(`SELECT count(*)` + from + ` AND event_time >= ? AND event_time < ?`),
	}
}

// numbered replaces each ? by the next of $1, $2, ...
func numbered(query string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, more := strings.Cut(query, "?")
		b.WriteString(before)
		if !more {
			return b.String()
		}
		fmt.Fprintf(&b, "$%d", n)
		query = after
	}
}

// source is a list index with the values of its condition.
type source struct {
	listIndex
	args []any // the account first
}

// read returns the next deliveries of the window after a rank.
func (s source) read(tx *db.Tx, w window, after rank, limit int) ([]Delivery, error) {
	query, bound := s.down, w.from
	if w.asc {
		query, bound = s.up, w.to
	}
	return db.All(tx, scan, query, append(s.args[:len(s.args):len(s.args)], after.time, after.id, bound, limit)...)
}

// number counts the rows from one time to before another.
func (s source) number(tx *db.Tx, from, to int64) (int64, error) {
	n, _, err := db.One(tx, db.Column[int64], s.count, append(s.args[:len(s.args):len(s.args)], from, to)...)
	return n, err
}
