package dbtest

import (
	"path/filepath"
	"strings"
	"testing"

	"tocsin/internal/platform/db"
)

// Plans returns a function that returns the steps in which the embedded engine would run a query on an empty database: it
// never has statistics, so its plans are the same on every installation. PostgreSQL plans by what its tables hold. The
// tests of plans therefore run on the embedded engine in every run.
func Plans(t testing.TB) func(query string) (steps []string, err error) {
	t.Helper()
	d, err := db.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "tocsin.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() }) // nothing was written
	return func(query string) (steps []string, err error) {
		err = d.Read(t.Context(), func(tx *db.Tx) (err error) {
			steps, err = db.All(tx, func(scan db.Scan) (step string, err error) {
				var id, parent, unused int
				return step, scan(&id, &parent, &unused, &step)
			}, "EXPLAIN QUERY PLAN "+query, make([]any, 60)...) // arguments left over are ignored
			return err
		})
		return steps, err
	}
}

// Plan returns a function that returns the steps of a plan in one line, and fails the test for a query that has none.
func Plan(t testing.TB) func(query string) string {
	t.Helper()
	plans := Plans(t)
	return func(query string) string {
		t.Helper()
		steps, err := plans(query)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(steps, "; ")
	}
}
