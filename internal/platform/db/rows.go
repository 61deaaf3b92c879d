package db

import (
	"context"
	"strings"
	"time"

	"tocsin/internal/platform/db/driver"
	"tocsin/internal/platform/db/queue"
)

// Columns returns the names of columns that are written as in a query: "id, name".
func Columns(list string) []string {
	all := strings.Split(list, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// Insert inserts rows, all of them in one statement where the engine can: with those that other calls insert into the
// table before the next statement of another kind. As with Do, an error may come with a later statement.
func (t *Tx) Insert(r Rows) error {
	if len(r.Values) == 0 {
		return nil
	}
	if err := t.conn.Insert(r); err != nil {
		return t.failure("INSERT INTO "+r.Table, err)
	}
	return nil
}

// Update changes rows of the table: the first columns, as many as keys, are the key of a row, which is not changed, and the
// others its new values. Otherwise it does as Insert.
func (t *Tx) Update(keys int, r Rows) error {
	if len(r.Values) == 0 {
		return nil
	}
	if err := t.conn.Update(keys, r); err != nil {
		return t.failure("UPDATE "+r.Table, err)
	}
	return nil
}

// Upsert inserts rows, and changes those that the table has already: the first columns, as many as keys, are the key. set
// is a constant of the program that follows DO UPDATE SET, where excluded has the new values. Otherwise it does as Insert.
func (t *Tx) Upsert(keys int, r Rows, set string) error {
	if len(r.Values) == 0 {
		return nil
	}
	if err := t.conn.Upsert(keys, r, set); err != nil {
		return t.failure("INSERT INTO "+r.Table, err)
	}
	return nil
}

// Append inserts rows that depend on nothing that is stored: no one reads before it, and it replaces nothing. When it
// returns nil the rows are on disk; when it fails none of them is. Where several transactions can write at once it does
// not wait for Write, and rows of callers that come together share a statement and a commit.
func (d *DB) Append(ctx context.Context, batches ...Rows) error {
	w := &write{Job: job{batches: batches}, Account: account(ctx)}
	for _, r := range batches {
		w.Rows += len(r.Values)
	}
	if d.appends.All != nil {
		return d.write(ctx, d.appends.Choose(w, time.Now()), w)
	}
	w.Job.fn = func(tx *Tx) error {
		for _, r := range batches {
			if err := tx.Insert(r); err != nil {
				return err
			}
		}
		return nil
	}
	return d.write(ctx, d.writes, w)
}

// append inserts the rows of many callers together; if that fails, those of each alone, so that one that cannot be stored
// does not affect the others.
func (l *lane) append(writes []*write, _ *queue.Room) {
	began, err := time.Now(), l.conn.Revive()
	if err == nil {
		err = l.look()
	}
	if err == nil {
		err = l.conn.(driver.Appender).Append(merged(writes))
		if err != nil {
			err = driver.Failed("append", err, l.conn.Unavailable(err))
		}
	}
	if err != nil && len(writes) > 1 && !l.conn.Unavailable(err) {
		for i := range writes {
			l.append(writes[i:i+1], nil)
		}
		return
	}
	l.queue.Ran(writes, began)
	for _, w := range writes {
		w.End(err)
	}
}

// look returns the error of a program that is too old for the schema. Appends are too many to ask each time; on a schema
// where one of them is wrong it fails.
func (l *lane) look() error {
	const every = time.Second
	if time.Since(l.looked) < every {
		return nil
	}
	if err := l.db.permitted(&Tx{conn: l.conn, unreadable: l.db.unreadable}); err != nil {
		return err
	}
	l.looked = time.Now()
	return nil
}

// merged returns the rows of all writes, one batch for each table.
func merged(writes []*write) (all []Rows) {
	at := map[string]int{}
	for _, w := range writes {
		for _, r := range w.Job.batches {
			i, known := at[r.Table]
			if !known {
				i = len(all)
				at[r.Table] = i
				all = append(all, Rows{Table: r.Table, Columns: r.Columns})
			}
			all[i].Values = append(all[i].Values, r.Values...)
		}
	}
	return all
}
