package activity

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/platform/db"
)

// Entry is one line of the feed of an alert or incident.
type Entry struct {
	ID        int64 // 1, 2, 3 in the order in which it happened
	CreatedAt int64 // Unix milliseconds
	Type      string
	Person    int64 // 0: Tocsin itself
	Detail    map[string]any
	Event     Event // the same, typed; nil when this version does not know the type
}

func record(tx *db.Tx, item Item) error {
	detail, err := json.Marshal(item.Event)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO feed (account_id, ref_id, feed_id, created_at, type, person_id, detail)
		VALUES ($1, $2, (SELECT coalesce(max(feed_id), 0) + 1 FROM feed WHERE account_id = $1 AND ref_id = $2), $3, $4, $5, $6)`,
		item.Account, item.ID, item.At.UnixMilli(), item.Event.Type(), item.Person, string(detail))
	return err
}

// Query says which entries of a feed are wanted.
type Query struct {
	Account     int64
	Ref         string   // the alert or incident
	Types       []string // only these; empty: all
	OldestFirst bool
	Limit       int64
	Offset      int64
}

const inFeed = ` FROM feed WHERE account_id = $1 AND ref_id = $2 AND ($3 = '' OR $3 LIKE '%,' || type || ',%')`

const (
	oldestFirst = `SELECT feed_id, created_at, type, person_id, detail` + inFeed + ` ORDER BY feed_id LIMIT $4 + 0 OFFSET $5 + 0`
	newestFirst = `SELECT feed_id, created_at, type, person_id, detail` + inFeed + ` ORDER BY feed_id DESC LIMIT $4 + 0 OFFSET $5 + 0`
)

// Feed reads a page of what happened to an alert or incident, and how much there is altogether.
func Feed(tx *db.Tx, q Query) (entries []Entry, total int64, err error) {
	args := []any{q.Account, q.Ref, db.List(q.Types)}
	if total, _, err = db.One(tx, db.Column[int64], `SELECT count(*)`+inFeed, args...); err != nil {
		return nil, 0, err
	}
	page := newestFirst
	if q.OldestFirst {
		page = oldestFirst
	}
	entries, err = db.All(tx, scanEntry, page, append(args, q.Limit, q.Offset)...)
	return entries, total, err
}

func scanEntry(scan db.Scan) (e Entry, err error) {
	var detail string
	if err = scan(&e.ID, &e.CreatedAt, &e.Type, &e.Person, &detail); err == nil {
		err = json.Unmarshal([]byte(detail), &e.Detail)
	}
	if err == nil {
		e.Event, err = Read(e.Type, []byte(detail))
	}
	return e, err
}

// Forget takes the feed of an alert or incident away.
func Forget(tx *db.Tx, account int64, ref string) error {
	_, err := tx.Exec(`DELETE FROM feed WHERE account_id = $1 AND ref_id = $2`, account, ref)
	return err
}
