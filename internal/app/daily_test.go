package app_test

import (
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/secret"
)

// TestDailyJobsRunOnce: whichever node comes first, once a day, however often they restart.
func TestDailyJobsRunOnce(t *testing.T) {
	t.Parallel()
	dsn, key := dbtest.Migrated(t), secret.NewKey()
	at := clock.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	node := func() *app.App {
		c := nodeConfig(dsn, key)
		c.Clock, c.AuditDays = at, 1
		return newNode(t, c)
	}
	a := node()
	entries := func(want int64, what string) {
		t.Helper()
		var n int64
		err := a.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
			n, _, err = db.One(tx, db.Column[int64], `SELECT began_at FROM daily_job WHERE name = 'retention'`)
			return err
		})
		if err != nil || n != want {
			t.Errorf("%s: the job last began at %s, want %s (%v)", what, time.Unix(n, 0).UTC(), time.Unix(want, 0).UTC(), err)
		}
	}
	settle := func(nodes ...*app.App) {
		t.Helper()
		for _, n := range nodes {
			if err := n.Runner.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	start := at.Now().Unix()
	settle(a)
	entries(start, "a new database")
	b := node()
	for hour := 1; hour <= 60; hour++ { // one restarts every five hours
		at.Add(time.Hour)
		if hour%5 == 0 {
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			b = node()
		}
		settle(b, a, b)
		entries(start+int64(hour/24)*86400, "after "+time.Duration(hour*int(time.Hour)).String())
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	at.Add(13 * time.Hour) // it is overdue
	a = node()
	settle(a)
	entries(start+2*86400, "in the first hour of a process")
	at.Add(time.Hour)
	settle(a)
	entries(at.Now().Unix(), "after it")
	_, _ = a.Close(), b.Close()
}
