package console_test

import (
	"context"
	"testing"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// TestConsoleReadsWithoutWrites: a database that takes no writes, as on a full disk, shows every page.
func TestConsoleReadsWithoutWrites(t *testing.T) {
	t.Parallel()
	if dbtest.Server != "" {
		t.Skip("the trigger is written for SQLite")
	}
	w := begin(t)
	owner := w.signIn(ownerKey)
	w.must(w.app.DB.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(`CREATE TRIGGER no_writes BEFORE UPDATE ON session BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`)
		return err
	}))
	w.clock.Add(time.Hour)
	for _, path := range []string{"/", "/incidents", "/schedules", "/health/server", "/me"} {
		if a := owner.get(path); a.status != 200 || a.path != path {
			t.Errorf("%s: %d at %s", path, a.status, a.path)
		}
	}
}
