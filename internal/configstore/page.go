package configstore

import (
	"cmp"
	"math"

	"tocsin/internal/platform/db"
)

// Query selects objects of a kind and a page of them. A zero member does not narrow.
type Query struct {
	Search    string // part of the name, or of the kind's further search text
	Teams     []int64
	Person    int64 // with MyTeam: the person whose teams count
	MyTeam    bool
	Creator   int64
	IDs       []string
	Parents   []string
	Except    []int64  // objects that are left out
	ByUpdate  bool     // order by updated_at, else by created_at
	Ascending bool     // oldest first, else newest first
	After     Position // only what is behind it
	Limit     int64
	MaxBytes  int64 // of the page, as its objects are stored; it has one at least. 0: any number
	Offset    int64
}

// Position is where a page ended; the zero Position is before all objects.
type Position struct {
	At int64 // Unix seconds: updated_at, or else created_at
	ID string
}

// Slice is a page of the objects of a query, without objects that cannot be decoded.
type Slice[T any] struct {
	Items []T
	Total int64 // of all pages together
	More  bool  // there are objects behind End
	Size  int64 // how many objects the page has, with those that cannot be decoded; less than Limit if MaxBytes ends it
	End   Position
}

const matching = ` FROM object o WHERE o.account_id = $1 AND o.kind = $2 AND ($3 = '%%' OR o.name_folded LIKE $3 ESCAPE '\')
	AND ($4 = '' OR $4 LIKE '%,' || o.team_id || ',%')
	AND (NOT $5 OR EXISTS (SELECT 1 FROM team_person t WHERE t.account_id = o.account_id AND t.team_id = o.team_id AND t.person_id = $6))
	AND ($7 = 0 OR o.creator_id = $7)
	AND ($8 = '' OR $8 LIKE '%,' || o.id || ',%')
	AND ($9 = '' OR $9 LIKE '%,' || o.parent || ',%')
	AND NOT ($10 LIKE '%,' || o.id || ',%')`

const window = ` LIMIT $14 + 0 OFFSET $15 + 0`

// The columns of a page and the orders, each with the condition that an object is behind a position.
const (
	byCreation  = `SELECT o.id, o.body, o.created_at` + matching
	byUpdate    = `SELECT o.id, o.body, o.updated_at` + matching
	newestFirst = byCreation + ` AND ($11 OR (o.created_at, o.id) < ($12, $13)) ORDER BY o.created_at DESC, o.id DESC` + window
	oldestFirst = byCreation + ` AND ($11 OR (o.created_at, o.id) > ($12, $13)) ORDER BY o.created_at, o.id` + window
	latestFirst = byUpdate + ` AND ($11 OR (o.updated_at, o.id) < ($12, $13)) ORDER BY o.updated_at DESC, o.id DESC` + window
	latestLast  = byUpdate + ` AND ($11 OR (o.updated_at, o.id) > ($12, $13)) ORDER BY o.updated_at, o.id` + window
)

// Page returns a page of the objects of a query and the number of all of them. The order is total: ids decide between
// equal objects.
func (k Kind[T]) Page(tx *db.Tx, account int64, q Query) (items []T, total int64, err error) {
	s, err := k.Slice(tx, account, q)
	return s.Items, s.Total, err
}

// Slice is Page with where the page ends, for a list that goes on behind it.
func (k Kind[T]) Slice(tx *db.Tx, account int64, q Query) (s Slice[T], err error) {
	args := []any{account, k.Name, db.Containing(q.Search), db.List(q.Teams), q.MyTeam, q.Person, q.Creator, db.List(q.IDs),
		db.List(q.Parents), db.List(q.Except)}
	s.Total, _, err = db.One(tx, db.Column[int64], `SELECT count(*)`+matching, args...)
	if err != nil {
		return s, err
	}
	each := func(scan db.Scan) (r placed, err error) { return r, scan(&r.id, &r.body, &r.at) }
	rows, onPage, err := db.Page(tx, q.Limit, cmp.Or(q.MaxBytes, math.MaxInt64), each, q.statement(),
		append(args, q.After == Position{}, q.After.At, q.After.ID, q.Limit+1, q.Offset)...)
	if err != nil {
		return s, err
	}
	s.Size = onPage
	if int64(len(rows)) > onPage {
		rows, s.More = rows[:onPage], true
	}
	found := make([]row, len(rows))
	for i, r := range rows {
		found[i], s.End = r.row, Position{r.at, r.id}
	}
	s.Items = k.decode(tx, account, found)
	return s, nil
}

// placed is a row with the time by which it is sorted.
type placed struct {
	row
	at int64
}

// statement returns the statement of a page, in the order of the query.
func (q Query) statement() string {
	switch {
	case q.ByUpdate && q.Ascending:
		return latestLast
	case q.ByUpdate:
		return latestFirst
	case q.Ascending:
		return oldestFirst
	}
	return newestFirst
}

// Named reports whether an object other than this one has exactly this name, in the same case.
func (k Kind[T]) Named(tx *db.Tx, account int64, name, except string) (bool, error) {
	items, err := k.readable(tx, account, `SELECT id, body FROM object WHERE account_id = $1 AND kind = $2 AND name_folded LIKE $3 ESCAPE '\'
		AND id <> $4`,
		account, k.Name, db.Containing(name), except)
	for i := range items {
		if k.Head(&items[i]).Name == name {
			return true, nil
		}
	}
	return false, err
}
