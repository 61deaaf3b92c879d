package copydb

import (
	"context"
	"fmt"
	"slices"

	"tocsin/internal/platform/db"
)

// done is what an earlier run copied of a table, as the source has it now.
type done struct {
	db.Filled
	Result
}

// resume compares what an earlier run has copied with the rows that the source has now, and empties the tables that differ.
func (p *passage) resume(ctx context.Context, tables []pair) error {
	p.before = map[string]done{}
	differ := map[string]bool{}
	err := p.read(ctx, func(tx *db.Tx) error {
		filled, err := p.out.Progress(tx)
		if err != nil {
			return err
		}
		for i, t := range tables {
			p.at = Progress{Checking: true, Table: t.to.Name, Number: i + 1, Count: len(tables), Total: p.at.Total}
			d, same, err := p.compare(ctx, tx, t, filled[t.to.Name])
			if err != nil {
				return fmt.Errorf("table %s: %w", t.to.Name, err)
			}
			p.before[t.to.Name] = d
			differ[t.to.Name] = !same || slices.ContainsFunc(t.to.Parents, func(parent string) bool { return differ[parent] })
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.at.Total = 0
	var again []db.Table
	for _, t := range tables {
		if differ[t.to.Name] {
			again = append(again, t.to)
			delete(p.before, t.to.Name)
		}
	}
	if len(again) == 0 {
		return nil
	}
	return p.write(ctx, func(tx *db.Tx) error { return p.out.Empty(tx, again) })
}

// compare reads what was copied of a table on both sides.
func (p *passage) compare(ctx context.Context, tx *db.Tx, t pair, f db.Filled) (d done, same bool, err error) {
	if f.Rows == 0 {
		has, err := db.HasRows(tx, t.to, 0)
		return d, !has, err
	}
	source, err := p.total(ctx, p.in, t.from, db.Span{Until: f.Last})
	if err != nil {
		return d, false, err
	}
	target, err := p.total(ctx, side{p.out.DB, tx}, t.to, db.Span{})
	return done{f, source}, source.Rows == f.Rows && target.Rows == f.Rows && source.Sum == target.Sum, err
}
