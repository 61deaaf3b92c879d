package db_test

import (
	"path/filepath"
	"strings"
	"testing"

	"tocsin/internal/platform/db"
)

func TestCommitsNameTheirWriters(t *testing.T) {
	t.Parallel()
	d := open(t, filepath.Join(t.TempDir(), "test.db"))
	var seen []string
	d.WatchCommits(func(c *db.Commit) {
		if c.Writes() != 1 || c.Begun.Before(c.Began) || c.Ran.Before(c.Begun) || c.Ended.Before(c.Ran) {
			t.Errorf("%d writes, %+v", c.Writes(), c)
		}
		seen = append(seen, c.Functions()...)
	})
	write(t, d, `CREATE TABLE item (n INTEGER)`)
	failed := d.Write(t.Context(), func(tx *db.Tx) error { return tx.Do(`INSERT INTO none VALUES (1)`) })
	if failed == nil || len(seen) != 1 || !strings.Contains(seen[0], "write") {
		t.Errorf("%v, writers: %q", failed, seen)
	}
}
