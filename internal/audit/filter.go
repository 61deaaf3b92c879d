package audit

import (
	"fmt"
	"time"

	"tocsin/internal/platform/cursor"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// filter is what a search is narrowed to. An empty field does not narrow.
type filter struct {
	account    int64
	requestID  string
	operations []string // any of these, sorted, without duplicates
	person     int64
	dangerous  bool
	write      *bool
	resource   fault.Ref // the changed object, by kind and id
	from, to   int64     // Unix milliseconds, from inclusive, to exclusive
}

// binding identifies the list of this filter, for its cursors.
func (f filter) binding() string {
	write := "any"
	if f.write != nil {
		write = fmt.Sprint(*f.write)
	}
	return fmt.Sprintf("audit %d %q %q %d %t %s %d %d %q %q", f.account, f.requestID, f.operations, f.person, f.dangerous, write,
		f.from, f.to, f.resource.Kind, f.resource.ID)
}

// Every statement takes the same parameters and has the same conditions. A condition that is repeated makes SQLite use
// the index for it, which it would not find without statistics. LIMIT has an expression because SQLite reads the value of
// a bare parameter there when it plans, and so would plan the statement again for every call. An id begins with the time of its
// entry: its bounds state nothing new, but by them PostgreSQL looks only into the parts of these weeks. The CAST, which is
// nothing there, keeps SQLite from searching by them.
const (
	where = ` FROM audit_log WHERE account_id = $1 AND ($2 OR person_id = $3) AND ($4 OR operation = $5)
		AND ($6 OR is_dangerous) AND ($7 OR is_write = $8)
		AND created_at >= $9 AND (created_at, audit_id) < ($10, $11) AND CAST(audit_id AS TEXT) >= $12 AND CAST(audit_id AS TEXT) < $13`
	found  = `SELECT ` + columns + where
	number = `SELECT count(*)` + where
	newest = ` ORDER BY created_at DESC, audit_id DESC LIMIT `

	ofPerson    = ` AND person_id = $3`
	ofOperation = ` AND operation = $5`
	ofRequest   = ` AND request_id = $14`
)

// along holds the statements that read and count the log in the order of one index.
type along struct{ page, count string }

var (
	byTime      = along{found + newest + `$14 + 0`, number}
	byPerson    = along{found + ofPerson + newest + `$14 + 0`, number + ofPerson}
	byOperation = along{found + ofOperation + newest + `$14 + 0`, number + ofOperation}
	byRequest   = along{found + ofRequest + newest + `$15 + 0`, number + ofRequest}
)

// The entries of one resource are found in audit_touched, which has them in the order of the list, and
// looked up one by one. CROSS JOIN prevents SQLite from starting with the other table.
const whereTouched = ` FROM audit_touched t CROSS JOIN audit_log l WHERE t.account_id = $1 AND t.kind = $14 AND t.object_id = $15
	AND t.created_at >= $9 AND (t.created_at, t.audit_id) < ($10, $11) AND CAST(t.audit_id AS TEXT) >= $12 AND CAST(t.audit_id AS TEXT) < $13
	AND l.account_id = $1 AND l.audit_id = t.audit_id AND CAST(l.audit_id AS TEXT) >= $12 AND CAST(l.audit_id AS TEXT) < $13
	AND ($2 OR l.person_id = $3) AND ($4 OR l.operation = $5) AND ($6 OR l.is_dangerous) AND ($7 OR l.is_write = $8)
	AND ($16 OR l.request_id = $17)`

var byResource = along{
	page:  `SELECT ` + columnsOfL + whereTouched + ` ORDER BY t.created_at DESC, t.audit_id DESC LIMIT $18 + 0`,
	count: `SELECT count(*)` + whereTouched,
}

// source returns the statements for the entries of one operation ("": any) after a position, and their parameters.
func (f filter) source(operation string, from position) (along, []any) {
	args := []any{
		f.account, f.person == 0, f.person, operation == "", operation, !f.dangerous, f.write == nil, f.write != nil && *f.write,
		f.from, from.CreatedAt, from.ID, id.ULIDFrom(time.UnixMilli(f.from)), id.ULIDFrom(time.UnixMilli(from.CreatedAt + 1)),
	}
	switch {
	case f.resource.Kind != "":
		return byResource, append(args, f.resource.Kind, f.resource.ID, f.requestID == "", f.requestID)
	case f.requestID != "":
		return byRequest, append(args, f.requestID)
	case f.person != 0:
		return byPerson, args
	case operation != "":
		return byOperation, args
	}
	return byTime, args
}

// kinds returns the operations to search one after the other; "" is any.
func (f filter) kinds() []string {
	if len(f.operations) == 0 {
		return []string{""}
	}
	return f.operations
}

// total counts the entries that match the filter, by an index.
func (f filter) total(tx *db.Tx) (sum int64, err error) {
	for _, operation := range f.kinds() {
		along, args := f.source(operation, position{CreatedAt: f.to})
		n, _, err := db.One(tx, db.Column[int64], along.count, args...)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// page reads up to limit entries that match the filter, after start.
func (f filter) page(tx *db.Tx, start position, limit int) ([]Entry, error) {
	kinds := f.kinds()
	return cursor.Merge(limit, len(kinds), before, func(i int, after *Entry, want int) ([]Entry, error) {
		from := start
		if after != nil {
			from = after.position()
		}
		along, args := f.source(kinds[i], from)
		return db.All(tx, scan, along.page, append(args, want)...)
	})
}
