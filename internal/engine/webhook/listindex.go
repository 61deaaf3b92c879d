package webhook

import (
	"fmt"
	"strings"

	"tocsin/internal/platform/db"
)

// listIndex is a way into the deliveries along one of their indexes: a condition that the index begins with.
// Inside it they stand in the order of the list. Lanes are few and made once, and with them the SQL texts.
type listIndex struct{ up, down, count string }

var (
	laneStatus      = newListIndex(`status = ?`)
	laneIntegration = newListIndex(`integration_id = ? AND status = ?`)
	laneType        = newListIndex(`event_type = ? AND status = ?`)
	// Given the three columns one by one, an engine without statistics takes the shorter index by status.
	// Nothing but the index made for it can serve their expression.
	laneBoth = newListIndex(`CAST(integration_id AS TEXT) || ' ' || status || ' ' || event_type = ?`)
	// What else is asked of the deliveries of one incident or alert is looked at one by one: they are few.
	laneRef = newListIndex(`ref_id = ? AND (? OR integration_id = ?) AND (? OR event_type = ?) AND (? OR status = ?)`)
)

// LIMIT is given an expression because SQLite looks at the value of a bare parameter there when it plans,
// and so plans the statement anew for every call.
func newListIndex(condition string) listIndex {
	from := ` FROM webhook_delivery WHERE account_id = ? AND ` + condition
	return listIndex{
		up:    numbered(`SELECT ` + columns + from + ` AND (event_time, event_id) > (?, ?) AND event_time < ? ORDER BY event_time, event_id LIMIT ? + 0`),
		down:  numbered(`SELECT ` + columns + from + ` AND (event_time, event_id) < (?, ?) AND event_time >= ? ORDER BY event_time DESC, event_id DESC LIMIT ? + 0`),
		count: numbered(`SELECT count(*)` + from + ` AND event_time >= ? AND event_time < ?`),
	}
}

// numbered turns each ? into the next of $1, $2, ...
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

// source is a lane with the values of its condition.
type source struct {
	listIndex
	args []any // the account first
}

// read gives the next deliveries after a place, those of the window only.
func (s source) read(tx *db.Tx, w window, after place, limit int) ([]Delivery, error) {
	query, bound := s.down, w.from
	if w.asc {
		query, bound = s.up, w.to
	}
	return db.All(tx, scan, query, append(s.args[:len(s.args):len(s.args)], after.time, after.id, bound, limit)...)
}

// number counts the deliveries from one time to before another, one by one.
func (s source) number(tx *db.Tx, from, to int64) (int64, error) {
	n, _, err := db.One(tx, db.Column[int64], s.count, append(s.args[:len(s.args):len(s.args)], from, to)...)
	return n, err
}
