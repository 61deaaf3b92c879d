package schedulefeed_test

import (
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// TestFeedIsReadWithoutWrites: a database that takes no writes serves a feed, with what has changed since it was last read.
func TestFeedIsReadWithoutWrites(t *testing.T) {
	t.Parallel()
	if dbtest.Server != "" {
		t.Skip("the trigger is written for SQLite")
	}
	w := start(t)
	w.load(9001, "Days", A, B)
	_, path := w.url(apitest.KeyA, `{"kind": "schedule", "id": 9001}`)
	w.Write(func(tx *db.Tx) error {
		_, err := tx.Exec(`CREATE TRIGGER no_writes BEFORE UPDATE ON ical_feed BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`)
		return err
	})
	for range 2 {
		if reply, body := w.get("GET", path); reply.StatusCode != 200 || strings.Count(body, "BEGIN:VEVENT") < 10 {
			t.Errorf("%d %s", reply.StatusCode, body)
		}
		w.Clock.Add(2 * time.Hour)
	}
}
