package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tocsin/internal/platform/db/driver"
)

// Drop drops the parts of tables whose rows are all older than a time and not kept.
func (e *Engine) Drop(ctx context.Context, before time.Time, tables []driver.Droppable) (until time.Time, dropped []string, err error) {
	before = weekOf(before)
	err = e.alone(ctx, func(q driver.Session) error {
		for _, t := range tables {
			p, err := inPartsOf(t.Table)
			if err != nil {
				return err
			}
			names, err := p.drop(ctx, q, before, t)
			dropped = append(dropped, names...)
			if err != nil {
				return err
			}
			if err := p.remove(ctx, q); err != nil {
				return err
			}
		}
		return nil
	})
	return before, dropped, err
}

// drop detaches the parts of one table.
func (p partitioned) drop(ctx context.Context, q driver.Session, before time.Time, t driver.Droppable) (dropped []string, err error) {
	parts, err := p.parts(q)
	if err != nil {
		return nil, err
	}
	for _, one := range parts {
		if one.to.After(before) {
			break
		}
		done := false
		if err := change(ctx, q, func() (err error) {
			done, err = p.detach(q, one, before, t)
			return err
		}); err != nil {
			return dropped, err
		}
		if done {
			dropped = append(dropped, one.name)
		}
	}
	return dropped, nil
}

// detach takes a part from its table, unless another process has, or it has a row that is kept: then its other rows are
// deleted one by one, as those of a table without parts.
func (p partitioned) detach(q driver.Queries, one part, before time.Time, t driver.Droppable) (done bool, err error) {
	if err := run(q, "LOCK TABLE "+p.table+" IN SHARE UPDATE EXCLUSIVE MODE"); err != nil {
		return false, err
	}
	parts, err := p.parts(q)
	if err != nil || !slices.Contains(parts, one) {
		return false, err
	}
	if err := run(q, "LOCK TABLE "+one.name+" IN SHARE MODE"); err != nil { // no row comes to it
		return false, err
	}
	if t.Kept != "" {
		_, kept, err := driver.One(q, driver.Column[int64],
			`SELECT 1 FROM `+one.name+` p WHERE `+fmt.Sprintf(t.Kept, before.UnixNano())+` LIMIT 1`)
		if err != nil || kept {
			return false, err
		}
	}
	for _, query := range t.Counts {
		if _, err := driver.Exec(q, query, max(0, one.from.Unix()), one.to.Unix()); err != nil {
			return false, err
		}
	}
	return true, run(q,
		`COMMENT ON TABLE `+one.name+` IS '`+detached+`'`,
		`ALTER TABLE `+p.table+` DETACH PARTITION `+one.name)
}

// detached is the comment of a table that was a part. It is dropped after the commit: until then the rows could be put back,
// and dropping takes longer than detaching.
const detached = "retention of tocsin: to be dropped"

// remove drops the tables that were parts of a table, also those of a process that ended in between.
func (p partitioned) remove(ctx context.Context, q driver.Session) error {
	names, err := driver.All(q, driver.Column[string], `SELECT CAST(c.relname AS TEXT) FROM pg_class c
		WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind = 'r' AND NOT c.relispartition
			AND starts_with(c.relname, $1) AND obj_description(c.oid, 'pg_class') = $2`, p.table+"_", detached)
	for _, name := range names {
		if err == nil {
			err = change(ctx, q, func() error { return run(q, "DROP TABLE IF EXISTS "+name) })
		}
	}
	return err
}
