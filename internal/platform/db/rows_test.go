package db_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// TestRowsAgainstMap: rows that are inserted, updated and both in any order, in several tables and between other statements,
// are in the end as if each call had run at once.
func TestRowsAgainstMap(t *testing.T) {
	t.Parallel()
	d, _ := opened(t, `CREATE TABLE north (k BIGINT, n TEXT, value BIGINT, PRIMARY KEY (k, n))`, `CREATE TABLE south (k BIGINT, n TEXT, value BIGINT, PRIMARY KEY (k, n))`)
	type key struct {
		table string
		k     int64
		n     string
	}
	columns := db.Columns("k, n, value")
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test that can be repeated
		want := map[key]int64{}
		var log []string
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			if err := tx.Do(`DELETE FROM north`); err != nil {
				return err
			}
			if err := tx.Do(`DELETE FROM south`); err != nil {
				return err
			}
			for step := range int64(40) {
				at := key{[]string{"north", "south"}[r.IntN(2)], []int64{1, 2, 11}[r.IntN(3)], []string{"1", "2", "11"}[r.IntN(3)]}
				rows := db.Rows{Table: at.table, Columns: columns, Values: [][]any{{at.k, at.n, step}}}
				old, there := want[at]
				var err error
				switch what := r.IntN(12); {
				case what == 0:
					log = append(log, fmt.Sprint("all ", at.table))
					for each := range want {
						if each.table == at.table {
							want[each] = -step
						}
					}
					err = tx.Do(`UPDATE `+at.table+` SET value = $1`, -step)
				case what == 1:
					n, _, failed := db.One(tx, db.Column[int64], `SELECT count(*) FROM `+at.table)
					all := int64(0)
					for each := range want {
						if each.table == at.table {
							all++
						}
					}
					err = failed
					if n != all {
						t.Errorf("seed %d: %d rows in %s after %q, want %d", seed, n, at.table, log, all)
					}
				case what < 5:
					log = append(log, fmt.Sprint("upsert ", at))
					want[at] = step
					if there {
						want[at] = old + 1000*step
					}
					err = tx.Upsert(2, rows, `value = `+at.table+`.value + 1000 * excluded.value`)
				case there:
					log = append(log, fmt.Sprint("update ", at))
					want[at] = step
					err = tx.Update(2, rows)
				default:
					log = append(log, fmt.Sprint("insert ", at))
					want[at] = step
					err = tx.Insert(rows)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("seed %d: %v after %q", seed, err, log)
		}
		got := map[key]int64{}
		err = d.Read(t.Context(), func(tx *db.Tx) error {
			_, err := db.All(tx, func(scan db.Scan) (at key, err error) {
				var value int64
				err = scan(&at.table, &at.k, &at.n, &value)
				got[at] = value
				return at, err
			}, `SELECT 'north', k, n, value FROM north UNION ALL SELECT 'south', k, n, value FROM south`)
			return err
		})
		if err != nil || !maps.Equal(got, want) {
			t.Fatalf("seed %d: %v, %v\n%v, want\n%v", seed, log, err, got, want)
		}
	}
}

// TestRowsOfTableWithOtherColumns: each call states its columns, whatever those of the call before were.
func TestRowsOfTableWithOtherColumns(t *testing.T) {
	t.Parallel()
	d, _ := opened(t, `CREATE TABLE north (k BIGINT PRIMARY KEY, a TEXT, b TEXT)`)
	err := d.Write(t.Context(), func(tx *db.Tx) error {
		for k, names := range []string{"k, a, b", "k, b, a"} {
			if err := tx.Insert(db.Rows{Table: "north", Columns: db.Columns(names), Values: [][]any{{int64(k), "first", "second"}}}); err != nil {
				return err
			}
		}
		for k, column := range []string{"a", "b"} {
			if err := tx.Update(1, db.Rows{Table: "north", Columns: []string{"k", column}, Values: [][]any{{int64(k), "new"}}}); err != nil {
				return err
			}
		}
		rows, err := db.All(tx, db.Column[string], `SELECT a || ' ' || b FROM north ORDER BY k`)
		if want := []string{"new second", "second new"}; !slices.Equal(rows, want) {
			t.Errorf("rows are %q, want %q", rows, want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// BenchmarkInsert stores rows of twenty columns, each with a call of its own.
func BenchmarkInsert(b *testing.B) {
	columns, row := []string{"k"}, []any{int64(0)}
	for i := range 19 {
		columns, row = append(columns, fmt.Sprintf("column_%d", i)), append(row, "a value")
	}
	d, err := db.Open(ctx, dbtest.Migrated(b))
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	b.ReportAllocs()
	err = d.Write(ctx, func(tx *db.Tx) error {
		if err := tx.Do(`CREATE TABLE wide (` + strings.Join(columns, " TEXT, ") + ` TEXT)`); err != nil {
			return err
		}
		for b.Loop() {
			if err := tx.Insert(db.Rows{Table: "wide", Columns: columns, Values: [][]any{row}}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
