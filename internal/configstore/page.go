package configstore

import "tocsin/internal/platform/db"

// Query selects objects of a kind and a page of them. A zero member does not narrow.
type Query struct {
	Search    string // part of the name, or of the kind's further search text
	Teams     []int64
	Person    int64 // with MyTeam: the person whose teams count
	MyTeam    bool
	Creator   int64
	IDs       []string
	Parents   []string
	Except    []int64 // objects that are left out
	ByUpdate  bool    // order by updated_at, else by created_at
	ByRank    bool    // order by parent and rank instead
	Ascending bool    // oldest first, else newest first
	Limit     int64
	Offset    int64
}

const matching = ` FROM object o WHERE o.account_id = $1 AND o.kind = $2 AND ($3 = '%%' OR o.name_folded LIKE $3 ESCAPE '\')
	AND ($4 = '' OR $4 LIKE '%,' || o.team_id || ',%')
	AND (NOT $5 OR EXISTS (SELECT 1 FROM team_person t WHERE t.account_id = o.account_id AND t.team_id = o.team_id AND t.person_id = $6))
	AND ($7 = 0 OR o.creator_id = $7)
	AND ($8 = '' OR $8 LIKE '%,' || o.id || ',%')
	AND ($9 = '' OR $9 LIKE '%,' || o.parent || ',%')
	AND NOT ($10 LIKE '%,' || o.id || ',%')`

const window = ` LIMIT $11 + 0 OFFSET $12 + 0`

// Page returns a page of the objects of a query and the number of all of them. The order is total: ids decide between
// equal objects.
func (k Kind[T]) Page(tx *db.Tx, account int64, q Query) (items []T, total int64, err error) {
	args := []any{account, k.Name, db.Containing(q.Search), db.List(q.Teams), q.MyTeam, q.Person, q.Creator, db.List(q.IDs),
		db.List(q.Parents), db.List(q.Except)}
	if total, _, err = db.One(tx, db.Column[int64], `SELECT count(*)`+matching, args...); err != nil {
		return nil, 0, err
	}
	items, err = k.readable(tx, account, `SELECT o.id, o.body`+matching+q.order()+window, append(args, q.Limit, q.Offset)...)
	return items, total, err
}

func (q Query) order() string {
	switch {
	case q.ByRank:
		return ` ORDER BY o.parent, o.rank, o.created_at, o.id`
	case q.ByUpdate && q.Ascending:
		return ` ORDER BY o.updated_at, o.id`
	case q.ByUpdate:
		return ` ORDER BY o.updated_at DESC, o.id DESC`
	case q.Ascending:
		return ` ORDER BY o.created_at, o.id`
	default:
		return ` ORDER BY o.created_at DESC, o.id DESC`
	}
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
