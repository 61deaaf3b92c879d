package db_test

import (
	"context"
	"testing"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// A table that fills gets statistics before the server's own time for them: until then its rows are looked for as if it
// were empty.
func TestTablesThatFillAreAnalysed(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL")
	}
	d, ctx := openNew(t), context.Background()
	fill := func(table string, rows int64) {
		t.Helper()
		err := d.Write(ctx, func(tx *db.Tx) error {
			return tx.Do("INSERT INTO "+table+" SELECT n, repeat('x', 100) FROM generate_series(1, $1) AS n", rows)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	known := func(table string) (n int64) {
		t.Helper()
		err := d.Read(ctx, func(tx *db.Tx) (err error) {
			n, _, err = db.One(tx, db.Column[int64], `SELECT CAST(reltuples AS BIGINT) FROM pg_class WHERE relname = $1`, table)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, table := range []string{"large", "small", "Locked"} {
		if err := d.Write(ctx, func(tx *db.Tx) error { return tx.Do(`CREATE TABLE "` + table + `" (n BIGINT, text TEXT)`) }); err != nil {
			t.Fatal(err)
		}
	}
	fill("large", 10_000)
	fill("small", 10)
	fill(`"Locked"`, 10_000)
	err := d.Write(ctx, func(tx *db.Tx) error {
		if err := tx.Do(`LOCK TABLE "Locked" IN SHARE UPDATE EXCLUSIVE MODE`); err != nil { // as ANALYZE in another process
			return err
		}
		if err := tx.Flush(); err != nil {
			return err
		}
		return d.Analyse(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]int64{"large": 10_000, "small": -1, "Locked": -1} {
		if got := known(table); got != want {
			t.Errorf("the server believes that %s has %d rows, want %d", table, got, want)
		}
	}
	fill("large", 10_000)
	if err := d.Analyse(ctx); err != nil {
		t.Fatal(err)
	}
	if got := known("large"); got != 10_000 {
		t.Errorf("a table that has doubled was analysed again: %d rows", got)
	}
	if err := d.Analyse(ctx); err != nil || known("Locked") != 10_000 {
		t.Errorf("once the lock is gone: %v, %d rows", err, known("Locked"))
	}
}
