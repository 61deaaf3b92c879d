package failover

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/test/pgserver"
)

// TestMigrationOnSilentServerEnds: the server answers nothing any more while the schema is made. That is reported after a few
// seconds, and ends the migration with an error that names the reason.
func TestMigrationOnSilentServerEnds(t *testing.T) {
	t.Parallel()
	s := startServer(t, pgserver.Options{})
	must(t, s.SQL("postgres", "CREATE DATABASE tocsin"))
	p := startProxy(t, address(s))
	var waited atomic.Int64
	began, outcome := time.Now(), make(chan error, 1)
	go func() {
		d, err := db.Open(t.Context(), p.through("tocsin"), func(error) { waited.Add(1) })
		if err == nil {
			err = d.Close()
		}
		outcome <- err
	}()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); { // until it has begun
		if s.SQL("tocsin", `SELECT 1 / count(*) FROM goose_db_version WHERE version_id > 2`) == nil {
			break
		}
	}
	must(t, p.swallow())
	err := <-outcome
	if err == nil || !strings.Contains(err.Error(), "the migration was given up") {
		t.Errorf("%v, want why it was given up", err)
	}
	if took := time.Since(began); took > bound || waited.Load() == 0 {
		t.Errorf("it ended after %s and was reported %d times", took, waited.Load())
	}
}
