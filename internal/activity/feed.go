package activity

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
)

// Entry is one line of the feed of an alert or incident.
type Entry struct {
	ID        int64 // 1, 2, 3 in the order of the events
	CreatedAt int64 // Unix milliseconds
	Type      string
	Person    int64 // 0: Tocsin itself
	Detail    map[string]any
	Event     Event // the same, typed; nil when this version does not know the type
}

var recorded = db.Columns("account_id, ref_id, feed_id, created_at, type, person_id, detail")

// record stores an event as the next entry of the feed.
func record(tx *db.Tx, item Item) error {
	detail, err := json.Marshal(item.Event)
	if err != nil {
		return err
	}
	row := db.Rows{Table: "feed", Columns: recorded}
	b, _ := tx.Value(batchKey{}).(batch)
	next, known := b.next(item)
	if !known { // read apart from the INSERT, which takes twice as long with a subquery
		last, _, err := db.One(tx, db.Column[int64], `SELECT coalesce(max(feed_id), 0) FROM feed WHERE account_id = $1 AND ref_id = $2`,
			item.Account, item.ID)
		if err != nil {
			return err
		}
		next = last + 1
	}
	if b != nil {
		b[ref{item.Account, item.ID}] = next
	}
	row.Values = [][]any{{item.Account, item.ID, next, item.At.UnixMilli(), item.Event.Type(), item.Person, string(detail)}}
	return tx.Insert(row)
}

// Query selects entries of a feed.
type Query struct {
	Account     int64
	Ref         string   // the alert or incident
	Types       []string // only these; empty: all
	OldestFirst bool
	After       int64 // only entries behind this one; 0: all
	Limit       int64
	Offset      int64
}

const inFeed = ` FROM feed WHERE account_id = $1 AND ref_id = $2 AND ($3 = '' OR $3 LIKE '%,' || type || ',%')`

const (
	oldestFirst = `SELECT feed_id, created_at, type, person_id, detail` + inFeed +
		` AND ($4 = 0 OR feed_id > $4) ORDER BY feed_id LIMIT $5 + 0 OFFSET $6 + 0`
	newestFirst = `SELECT feed_id, created_at, type, person_id, detail` + inFeed +
		` AND ($4 = 0 OR feed_id < $4) ORDER BY feed_id DESC LIMIT $5 + 0 OFFSET $6 + 0`
)

// Feed returns a page of the feed of an alert or incident, and the number of all its entries.
func Feed(tx *db.Tx, q Query) (entries []Entry, total int64, err error) {
	args := []any{q.Account, q.Ref, db.List(q.Types)}
	total, _, err = db.One(tx, db.Column[int64], `SELECT count(*)`+inFeed, args...)
	if err != nil {
		return nil, 0, err
	}
	page := newestFirst
	if q.OldestFirst {
		page = oldestFirst
	}
	entries, err = db.All(tx, scanEntry, page, append(args, q.After, q.Limit, q.Offset)...)
	return entries, total, err
}

// scanEntry reads an entry and decodes its detail.
func scanEntry(scan db.Scan) (e Entry, err error) {
	var detail string
	if err := scan(&e.ID, &e.CreatedAt, &e.Type, &e.Person, &detail); err != nil {
		return e, err
	}
	if err := json.Unmarshal([]byte(detail), &e.Detail); err != nil {
		return e, err
	}
	if err := show(e.Detail); err != nil {
		return e, err
	}
	e.Event, err = Read(e.Type, []byte(detail))
	return e, err
}

// show replaces the sentences of a detail by their English, and adds them as data.
func show(detail map[string]any) error {
	for _, name := range []string{"reason", "failed_reason"} {
		if _, is := detail[name].(map[string]any); !is {
			continue
		}
		stored, err := json.Marshal(detail[name])
		if err != nil {
			return err
		}
		var why sentence.Value
		if err := json.Unmarshal(stored, &why); err != nil {
			return err
		}
		detail[name] = why.English()
		if data := why.Data(); data.Code != "" {
			detail[name+"_data"] = data
		}
	}
	for _, list := range []string{"persons", "robots"} {
		targets, _ := detail[list].([]any)
		for _, target := range targets {
			if members, is := target.(map[string]any); is {
				if err := show(members); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// ActedSince reports whether a person has done something with an alert or incident since a moment, Unix seconds.
func ActedSince(tx *db.Tx, account int64, ref string, since int64) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64], `SELECT 1 FROM feed WHERE account_id = $1 AND ref_id = $2 AND created_at >= $3
		AND person_id <> 0 LIMIT 1`, account, ref, since*1000)
	return found, err
}

// Forget deletes the feed of an alert or incident.
func Forget(tx *db.Tx, account int64, ref string) error {
	return tx.Do(`DELETE FROM feed WHERE account_id = $1 AND ref_id = $2`, account, ref)
}

// maxHistory bounds the entries that History returns, the oldest ones: an incident has tens.
const maxHistory = 10_000

// Moment is an entry of a feed without its detail as a map, which takes longer to decode than the event.
type Moment struct {
	At     int64 // Unix milliseconds
	Person int64 // 0: Tocsin itself
	Event  Event // nil when the type is not wanted, or not known to this version
}

// history reads a feed whatever the types: comparing each with a list takes longer than leaving out a few rows.
const history = `SELECT created_at, type, person_id, detail FROM feed WHERE account_id = $1 AND ref_id = $2 ORDER BY feed_id LIMIT $3 + 0`

// History returns what happened to an alert or incident, the oldest first: only events of the types for which wanted is
// set. Others have a nil Event.
func History(tx *db.Tx, account int64, ref string, wanted map[string]bool) ([]Moment, error) {
	return db.All(tx, func(scan db.Scan) (m Moment, err error) {
		var kind string
		var detail []byte
		if err := scan(&m.At, &kind, &m.Person, &detail); err != nil || !wanted[kind] {
			return m, err
		}
		m.Event, err = Read(kind, detail)
		return m, err
	}, history, account, ref, maxHistory)
}
