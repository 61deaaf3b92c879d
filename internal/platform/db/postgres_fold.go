package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// folded describes which parts of a table Fold replaces: those that end before a time, unless there is but one and it is the
// result of an earlier call.
func (p partitioned) folded(parts []part, before time.Time) []part {
	n := 0
	for n < len(parts) && !parts[n].to.After(before) {
		n++
	}
	if n == 0 || n == 1 && strings.HasPrefix(parts[0].name, p.table+folding) {
		return nil
	}
	return parts[:n]
}

// folding is in the name of the part that is left of others.
const folding = "_until_"

// going finds the parts of which nothing is to be deleted any more, because fold replaces them within a week.
func (e *postgresEngine) going(ctx context.Context, d *DB, before time.Time, tables []Folded) (g Going, err error) {
	g = Going{}
	err = d.Read(ctx, func(tx *Tx) error {
		for _, t := range tables {
			p, err := inPartsOf(t.Table)
			if err != nil {
				return err
			}
			parts, err := p.parts(tx)
			if err != nil {
				return err
			}
			if all := p.folded(parts, weekOf(before).Add(week)); len(all) > 0 {
				g[t.Table] = p.unit.key(all[len(all)-1].to)
			}
		}
		return nil
	})
	return g, err
}

// fold puts what is left of the parts before a time into one, and drops them.
func (e *postgresEngine) fold(ctx context.Context, before time.Time, tables []Folded) (dropped []string, err error) {
	err = e.alone(ctx, func(tx *Tx) error {
		for _, t := range tables {
			p, err := inPartsOf(t.Table)
			if err != nil {
				return err
			}
			var old []string
			if err := change(ctx, tx, func() (err error) {
				old, err = p.fold(tx, weekOf(before), t)
				return err
			}); err != nil {
				return err
			}
			dropped = append(dropped, old...)
			if err := p.remove(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	return dropped, err
}

// fold fills the new part while others read and write, then has the table alone while it adds what came in between and puts the
// new part in the place of the old ones. Locking an old part first would deadlock with a writer.
func (p partitioned) fold(tx *Tx, before time.Time, t Folded) (names []string, err error) {
	if err := run(tx, "LOCK TABLE "+p.table+" IN SHARE UPDATE EXCLUSIVE MODE"); err != nil { // of one process at a time
		return nil, err
	}
	parts, err := p.parts(tx)
	if err != nil {
		return nil, err
	}
	old := p.folded(parts, before)
	if len(old) == 0 {
		return nil, nil
	}
	end := old[len(old)-1].to
	name, to := p.table+folding+end.Format("20060102"), p.unit.of(end)
	if err := run(tx, "CREATE TABLE "+name+" (LIKE "+p.table+" INCLUDING ALL)"); err != nil {
		return nil, err
	}
	if err := p.take(tx, old, name, t, ""); err != nil {
		return nil, err
	}
	if err := run(tx, "LOCK TABLE ONLY "+p.table+" IN ACCESS EXCLUSIVE MODE"); err != nil {
		return nil, err
	}
	if err := p.take(tx, old, name, t, " EXCEPT SELECT * FROM "+name); err != nil {
		return nil, err
	}
	late := fmt.Sprintf(` FROM %s_default WHERE %s < %s`, p.table, p.key, to) // of weeks that have no part
	queries := []string{`INSERT INTO ` + name + ` SELECT *` + late, `DELETE` + late}
	for _, one := range old {
		names = append(names, one.name)
		queries = append(queries, `COMMENT ON TABLE `+one.name+` IS '`+detached+`'`, `ALTER TABLE `+p.table+` DETACH PARTITION `+one.name)
	}
	queries = append(queries, fmt.Sprintf(`ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (MINVALUE) TO (%s)`, p.table, name, to))
	return names, run(tx, queries...)
}

// take copies the rows of old parts that stay to a new one. What they belong to is found account by account, in the index of
// its key: of old weeks little is left.
func (p partitioned) take(tx *Tx, old []part, name string, t Folded, but string) error {
	var staying []string
	for _, of := range t.Of {
		staying = append(staying, fmt.Sprintf(`SELECT x.account_id, x.%[2]s FROM %[3]s a JOIN %[1]s x ON x.account_id = a.account_id
			AND x.%[2]s >= $1 AND x.%[2]s < $2`, of.Table, of.Key, "account"))
	}
	for _, one := range old {
		from := ""
		if !one.from.IsZero() {
			from = p.unit.key(one.from)
		}
		if _, err := tx.Exec(fmt.Sprintf(`INSERT INTO %s SELECT p.* FROM (%s) AS staying (account_id, key)
			JOIN %s p ON p.account_id = staying.account_id AND p.%s = staying.key`, name, strings.Join(staying, " UNION "), one.name, p.key)+but,
			from, p.unit.key(one.to)); err != nil {
			return err
		}
	}
	return nil
}

// inPartsOf returns how a table is kept in parts.
func inPartsOf(table string) (partitioned, error) {
	i := slices.IndexFunc(inParts, func(p partitioned) bool { return p.table == table })
	if i < 0 {
		return partitioned{}, fmt.Errorf("table %s is not kept in parts", table)
	}
	return inParts[i], nil
}
