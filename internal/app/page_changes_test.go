package app

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/secret"
)

// TestPagesOfOtherNodes: what happens on one node changes the mark that the open pages of another follow, and of that
// account alone. Its own pages are notified at once and not a second time.
func TestPagesOfOtherNodes(t *testing.T) {
	t.Parallel()
	dsn, key := dbtest.Migrated(t), secret.NewKey()
	var nodes [2]*App
	for i := range nodes {
		a, err := New(context.Background(), Config{
			DB: dsn, SealKey: key, Clock: clock.System, Log: slog.New(slog.DiscardHandler), Version: "test", Listen: "127.0.0.1:0",
		})
		if err != nil {
			t.Fatal(err)
		}
		s, err := a.Start()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Stop() })
		nodes[i] = a
	}
	first, err := nodes[0].FirstStart(t.Context(), "UTC")
	if err != nil {
		t.Fatal(err)
	}
	mark := func(a *App, account int64) string {
		t.Helper()
		text, err := a.accountMark(t.Context(), account)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	happens := func() {
		t.Helper()
		err := nodes[0].DB.Write(t.Context(), func(tx *db.Tx) error {
			if _, err := tx.Exec(`UPDATE account SET account_name = account_name || 'x'`); err != nil { // the change
				return err
			}
			return nodes[0].pagesChange(tx, activity.Item{Account: first.AccountID})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		own := mark(nodes[0], first.AccountID)
		theirs := mark(nodes[1], first.AccountID)
		other := mark(nodes[1], 5)
		happens()
		for end := time.Now().Add(time.Minute); mark(nodes[1], first.AccountID) == theirs; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the other node's pages do not notice")
			}
		}
		if nodes[0].DB.Shared() && mark(nodes[1], 5) != other {
			t.Error("pages of another account are notified")
		}
		for range 20 { // also while the job stores it
			if now := mark(nodes[0], first.AccountID); nodes[0].DB.Shared() && now != own {
				time.Sleep(50 * time.Millisecond) // between the commit and the count of what was stored it may differ for a moment
				now = mark(nodes[0], first.AccountID)
				if now != own {
					t.Errorf("its own pages see %q, before %q", now, own)
				}
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}
