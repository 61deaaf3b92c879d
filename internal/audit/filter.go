package audit

import (
	"fmt"

	"tocsin/internal/platform/cursor"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// filter is what a search is narrowed to. An empty member does not narrow.
type filter struct {
	account    int64
	requestID  string
	operations []string // any of these, sorted, no two alike
	person     int64
	dangerous  bool
	write      *bool
	resource   fault.Ref // what was changed, by kind and id
	from, to   int64     // Unix milliseconds, from inclusive, to exclusive
}

// binding names the list that the filter makes, for its cursors.
func (f filter) binding() string {
	write := "any"
	if f.write != nil {
		write = fmt.Sprint(*f.write)
	}
	return fmt.Sprintf("audit %d %q %q %d %t %s %d %d %q %q", f.account, f.requestID, f.operations, f.person, f.dangerous, write, f.from, f.to, f.resource.Kind, f.resource.ID)
}

// Every statement takes the same parameters and says the same. What it says twice leads the engine to the
// index to follow: one without statistics would not find the best by itself.
const (
	where = ` FROM audit_log WHERE account_id = $1 AND ($2 OR person_id = $3) AND ($4 OR operation = $5) AND ($6 OR is_dangerous) AND ($7 OR is_write = $8)
		AND created_at >= $9 AND (created_at, audit_id) < ($10, $11)`
	alongPerson    = ` AND person_id = $3`
	alongOperation = ` AND operation = $5`
	alongRequest   = ` AND request_id = $12`
)

// along is how to read the log in one order and count it.
type along struct{ page, count string }

var (
	byTime      = newAlong("", "$12")
	byPerson    = newAlong(alongPerson, "$12")
	byOperation = newAlong(alongOperation, "$12")
	byRequest   = newAlong(alongRequest, "$13")
)

// newAlong makes the statements. LIMIT is given an expression because SQLite looks at the value of a bare
// parameter there when it plans, and so plans the statement anew for every call.
func newAlong(hint, limit string) along {
	return along{
		page:  `SELECT ` + columns + where + hint + ` ORDER BY created_at DESC, audit_id DESC LIMIT ` + limit + ` + 0`,
		count: `SELECT count(*)` + where + hint,
	}
}

// The entries of one resource are found along audit_touched, which has them in the order of the list, and
// looked up one by one: CROSS JOIN keeps the engine from beginning at the other end.
const whereTouched = ` FROM audit_touched t CROSS JOIN audit_log l WHERE t.account_id = $1 AND t.kind = $12 AND t.object_id = $13
	AND t.created_at >= $9 AND (t.created_at, t.audit_id) < ($10, $11) AND l.account_id = $1 AND l.audit_id = t.audit_id
	AND ($2 OR l.person_id = $3) AND ($4 OR l.operation = $5) AND ($6 OR l.is_dangerous) AND ($7 OR l.is_write = $8) AND ($14 OR l.request_id = $15)`

var byResource = along{
	page:  `SELECT ` + columnsOfL + whereTouched + ` ORDER BY t.created_at DESC, t.audit_id DESC LIMIT $16 + 0`,
	count: `SELECT count(*)` + whereTouched,
}

// source is the way to the entries of one operation ("": any) from a place on, and its parameters.
func (f filter) source(operation string, from place) (along, []any) {
	args := []any{f.account, f.person == 0, f.person, operation == "", operation, !f.dangerous, f.write == nil, f.write != nil && *f.write, f.from, from.CreatedAt, from.ID}
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

// kinds are the operations to look for one after the other; "" stands for any.
func (f filter) kinds() []string {
	if len(f.operations) == 0 {
		return []string{""}
	}
	return f.operations
}

// total counts the entries that pass the filter, along an index.
func (f filter) total(tx *db.Tx) (sum int64, err error) {
	for _, operation := range f.kinds() {
		along, args := f.source(operation, place{CreatedAt: f.to})
		n, _, err := db.One(tx, db.Column[int64], along.count, args...)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// page reads up to limit entries that pass the filter, those after a place.
func (f filter) page(tx *db.Tx, start place, limit int) ([]entry, error) {
	kinds := f.kinds()
	return cursor.Merge(limit, len(kinds), before, func(i int, after *entry, want int) ([]entry, error) {
		from := start
		if after != nil {
			from = after.place()
		}
		along, args := f.source(kinds[i], from)
		return db.All(tx, scan, along.page, append(args, want)...)
	})
}
