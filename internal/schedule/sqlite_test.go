package schedule_test

import (
	"os"
	"strings"
	"testing"

	"tocsin/internal/platform/db/dbtest"
)

// Databases that were made before schedules had references are of the embedded engine.
func TestMigrationAddsReferences(t *testing.T) {
	t.Parallel()
	s, r := start(t), newRandom(t)
	dbtest.Embedded(t, s.DB.DSN())
	for range 30 {
		create(t, s, r.body())
	}
	want := references(t, s)
	if strings.Count(want, "\n") < 30 {
		t.Fatalf("too few references for this test: %s", want)
	}
	s.Exec(`DELETE FROM reference`)
	migration, err := os.ReadFile("../platform/db/migrations/0016_config.sql")
	if err != nil {
		t.Fatal(err)
	}
	for statement := range strings.SplitSeq(string(migration), ";") {
		if strings.Contains(statement, "INSERT INTO reference") {
			s.Exec(statement)
		}
	}
	if got := references(t, s); got != want {
		t.Errorf("filled in\n%s\nwant\n%s", got, want)
	}
}
