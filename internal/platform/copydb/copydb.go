// Package copydb copies a database to another, of the same engine or another one: every row of every table, as one state
// of the source, checked by count and checksum before any server can use the copy. It must never know what a table means,
// except for the one that holds a copy back from sending.
package copydb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/hold"
)

// Copy is one copy to make.
type Copy struct {
	From, To string // DSNs; To names a database that is missing or empty
	Release  bool   // the copy may send, and the source is held from then on
	Now      time.Time
	Progress func(Progress) // called for every table at its begin, and about every thousand rows
}

// Progress is how far a copy is.
type Progress struct {
	Checking      bool // the copy is read again
	Table         string
	Number, Count int   // of the table, of all
	Rows          int64 // of this table so far
	Total         int64 // rows of all tables so far
}

// Result is the copy of a table.
type Result struct {
	Table    string
	Rows     int64
	Sum      Sum   // of the rows, in the source and in the copy
	Replaced int64 // rows with text that PostgreSQL does not store, replaced by U+FFFD
}

// Run copies. When it fails, or its process is killed, the target keeps what was copied, no server starts on it, and Run can be
// called again: it compares what the target has with what the source has now, copies again the tables where they differ,
// and goes on.
func (c Copy) Run(ctx context.Context) (results []Result, err error) {
	if c.From == c.To {
		return nil, errors.New("source and target are the same database")
	}
	if err := db.MustExist(c.From); err != nil {
		return nil, err
	}
	if c.Release {
		if err := db.InUse(ctx, c.From); err != nil {
			return nil, err
		}
	}
	from, err := db.Connect(ctx, c.From)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if err := errors.Join(from.Finished(ctx), c.releasable(ctx, from)); err != nil {
		return nil, err
	}
	results, err = c.fill(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("copy of %s to %s: %w", from.DSN(), db.Name(c.To), err)
	}
	return results, nil
}

// fill copies into the target and finishes it. A source that is released is held before the copy may send.
func (c Copy) fill(ctx context.Context, from *db.DB) (results []Result, err error) {
	origin := db.Origin{Name: from.DSN(), Command: c.command()}
	origin.File, err = from.File(ctx)
	if err != nil {
		return nil, err
	}
	origin.Schema, err = from.SchemaVersion(ctx)
	if err != nil {
		return nil, err
	}
	if err := knownSchema(from.DSN(), origin.Schema); err != nil {
		return nil, err
	}
	to, err := db.OpenToFill(ctx, c.To, origin)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	err = from.Snapshot(ctx, func(in *db.Tx) (err error) {
		if err := from.Unhurried(in); err != nil {
			return err
		}
		p := passage{in: side{from, in}, out: side{DB: to}, progress: c.Progress}
		results, err = p.all(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%w; run the command again to continue", err)
	}
	if c.Release {
		if err := hold.Hold(ctx, from, c.reason(), c.Now); err != nil {
			return nil, err
		}
	}
	return results, to.Write(ctx, func(tx *db.Tx) error {
		if err := errors.Join(to.Unhurried(tx), c.held(tx, from.DSN())); err != nil {
			return err
		}
		return to.Finish(tx)
	})
}

// command returns the command that makes the copy, without passwords.
func (c Copy) command() string {
	command := fmt.Sprintf("tocsin copy --from %s --to %s", db.Name(c.From), db.Name(c.To))
	if c.Release {
		command += " --release"
	}
	return command
}

// reason is why the source is held after the copy.
func (c Copy) reason() string {
	return "this database was copied to " + db.Name(c.To) + ", which sends in its place"
}

// releasable returns an error when the copy is to send and its source may not.
func (c Copy) releasable(ctx context.Context, from *db.DB) error {
	if !c.Release {
		return nil
	}
	return from.Read(ctx, func(tx *db.Tx) error {
		s, _, err := hold.Find(tx)
		if err == nil && s.Reason != "" && s.Reason != c.reason() { // this copy's own: it was killed at its end
			return fmt.Errorf("%s is held itself, because %s: release it first, or copy without --release", from.DSN(), s.Reason)
		}
		return err
	})
}

// held stores in the copy that it sends nothing, or that the first server on it does.
func (c Copy) held(tx *db.Tx, from string) error {
	if c.Release {
		return hold.Forget(tx)
	}
	s, _, err := hold.Find(tx)
	if err != nil {
		return err
	}
	s.Reason, s.Since = "this database was copied from "+from, c.Now.Unix()
	return hold.Save(tx, s)
}

// knownSchema returns an error unless a database has the schema of this program.
func knownSchema(name string, has int64) error {
	want := db.Schema()
	switch {
	case has == want:
		return nil
	case has == 0:
		return fmt.Errorf("%s is not a database of Tocsin", name)
	case has > want:
		return fmt.Errorf("%s was written by a newer version of this program (schema %d, this one knows %d): use that version",
			name, has, want)
	}
	return fmt.Errorf("%s has schema %d, this program has %d: bring it up to date first (tocsin migrate)", name, has, want)
}

// sameSchema returns an error unless both databases have the schema of this program.
func sameSchema(ctx context.Context, both ...*db.DB) error {
	for _, d := range both {
		has, err := d.SchemaVersion(ctx)
		if err == nil {
			err = knownSchema(d.DSN(), has)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// side is a database of a copy and the transaction on it.
type side struct {
	*db.DB
	tx *db.Tx // nil: the target is written in many transactions, each of which stores how far it is
}

// passage copies tables from one database to another.
type passage struct {
	in, out  side
	account  int64 // whose rows; 0: all rows
	renumber bool  // the target numbers the rows itself, in the same order
	progress func(Progress)

	before map[string]done // of tables that an earlier run began
	at     Progress
}

// all copies every table and then reads the copy again to compare.
func (p *passage) all(ctx context.Context) (results []Result, err error) {
	var tables []pair
	err = p.read(ctx, func(tx *db.Tx) (err error) {
		tables, err = p.tables(tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if p.out.tx == nil {
		if err := p.resume(ctx, tables); err != nil {
			return nil, err
		}
	}
	for i, t := range tables {
		r, err := p.copy(ctx, t, Progress{Table: t.to.Name, Number: i + 1, Count: len(tables), Total: p.at.Total})
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.to.Name, err)
		}
		results = append(results, r)
	}
	p.at.Total = 0
	return results, p.read(ctx, func(tx *db.Tx) error {
		for i, t := range tables {
			p.at = Progress{Checking: true, Table: t.to.Name, Number: i + 1, Count: len(tables), Total: p.at.Total}
			if err := p.check(ctx, tx, t.to, results[i]); err != nil {
				return fmt.Errorf("table %s: %w", t.to.Name, err)
			}
		}
		return nil
	})
}

// read runs fn in the transaction on the target, or in one that reads one state of it.
func (p *passage) read(ctx context.Context, fn func(*db.Tx) error) error {
	if p.out.tx != nil {
		return fn(p.out.tx)
	}
	return p.out.Snapshot(ctx, func(tx *db.Tx) error {
		if err := p.out.Unhurried(tx); err != nil {
			return err
		}
		return fn(tx)
	})
}

// write runs fn in the transaction on the target, or in one of its own.
func (p *passage) write(ctx context.Context, fn func(*db.Tx) error) error {
	if p.out.tx != nil {
		return fn(p.out.tx)
	}
	return p.out.Write(ctx, func(tx *db.Tx) error {
		if err := p.out.Unhurried(tx); err != nil {
			return err
		}
		return fn(tx)
	})
}

// check reads the copy of a table and compares it with what the source had.
func (p *passage) check(ctx context.Context, tx *db.Tx, t db.Table, want Result) error {
	p.show(0)
	got, err := p.total(ctx, side{p.out.DB, tx}, t, db.Span{Account: p.account})
	if err == nil && (got.Rows != want.Rows || got.Sum != want.Sum) {
		err = fmt.Errorf("the copy differs: %d rows with checksum %s, the source has %d with %s", got.Rows, got.Sum, want.Rows, want.Sum)
	}
	return err
}

// total reads rows of a table and sums them.
func (p *passage) total(ctx context.Context, in side, t db.Table, s db.Span) (r Result, err error) {
	r.Table = t.Name
	err = in.Records(in.tx, t, s, func(row db.Record) error {
		r.add(row)
		p.show(1)
		return ctx.Err()
	})
	return r, errors.Join(err, ctx.Err())
}

// add adds a row.
func (r *Result) add(row db.Record) {
	r.Sum.add(row.Values)
	if r.Rows++; row.Replaced {
		r.Replaced++
	}
}

// every is how many rows pass between two calls of Progress.
var every int64 = 1000

func (p *passage) show(rows int64) {
	p.at.Rows += rows
	p.at.Total += rows
	if p.progress != nil && p.at.Rows%every == 0 {
		p.progress(p.at)
	}
}

// pair is a table in both databases, with the columns that are copied.
type pair struct{ from, to db.Table }

// tables returns the tables that are copied, each after those it refers to.
func (p *passage) tables(tx *db.Tx) (both []pair, err error) {
	in, err := p.in.Tables(p.in.tx)
	if err != nil {
		return nil, err
	}
	out, err := p.out.Tables(tx)
	if err != nil {
		return nil, err
	}
	for _, t := range out {
		i := slices.IndexFunc(in, func(o db.Table) bool { return o.Name == t.Name })
		if i < 0 {
			return nil, fmt.Errorf("the source has no table %s", t.Name)
		}
		from := in[i]
		in = slices.Delete(in, i, i+1)
		if p.account != 0 && !t.OfAccounts() {
			continue
		}
		t.Columns, err = columns(from, t, p.renumber)
		if err != nil {
			return nil, err
		}
		from.Columns = t.Columns
		both = append(both, pair{from, t})
	}
	if len(in) > 0 {
		return nil, fmt.Errorf("the target has no table %s", in[0].Name)
	}
	return both, nil
}

// columns returns the columns that are copied: all but those by which only one of the databases numbers its rows, or,
// to renumber, either does.
func columns(from, to db.Table, renumber bool) (both []db.TableColumn, err error) {
	for _, c := range to.Columns {
		i := slices.IndexFunc(from.Columns, func(o db.TableColumn) bool { return o.Name == c.Name })
		switch {
		case i < 0 && !c.Identity:
			return nil, fmt.Errorf("the source has no column %s in table %s", c.Name, to.Name)
		case i >= 0 && from.Columns[i].Kind != c.Kind:
			return nil, fmt.Errorf("column %s of table %s has another type in the source", c.Name, to.Name)
		case i >= 0 && (!renumber || !c.Identity && !from.Columns[i].Identity):
			both = append(both, c)
		}
	}
	for _, c := range from.Columns {
		if !c.Identity && !slices.ContainsFunc(to.Columns, func(o db.TableColumn) bool { return o.Name == c.Name }) {
			return nil, fmt.Errorf("the target has no column %s in table %s", c.Name, to.Name)
		}
	}
	return both, nil
}
