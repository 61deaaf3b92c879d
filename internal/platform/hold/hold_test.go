package hold

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

var (
	start = time.Unix(1776052800, 0)
	ours  = db.FileID{Inode: 7, Born: 1}
	other = db.FileID{Inode: 7, Born: 2}
)

// A copy is held, an original never is, and only a release ends a hold.
func TestNext(t *testing.T) {
	t.Parallel()
	sends := State{File: ours, Place: "a"}
	held := State{File: ours, Place: "a", Reason: "restored", Since: 5}
	for _, c := range []struct {
		what  string
		was   State
		found bool
		file  db.FileID
		ask   bool
		held  string // a part of the reason; empty: it sends
	}{
		{"the first start", State{}, false, ours, false, ""},
		{"another start", sends, true, ours, false, ""},
		{"a copy", sends, true, other, false, "is a copy: the original is served as a"},
		{"a file that cannot be identified", sends, true, db.FileID{}, false, ""},
		{"on demand", sends, true, ours, true, "--hold"},
		{"the first start, on demand", State{}, false, ours, true, "--hold"},
		{"held, and started again", held, true, ours, false, "restored"},
		{"held, and copied", held, true, other, true, "restored"},
	} {
		got := next(c.was, c.found, c.file, "b", c.ask, start)
		if (got.Reason == "") != (c.held == "") || !strings.Contains(got.Reason, c.held) {
			t.Errorf("%s: %+v", c.what, got)
		}
		if got.Reason == "" && (got.File != c.file || got.Place != "b") {
			t.Errorf("%s: the file is not stored: %+v", c.what, got)
		}
		if got.Reason != "" && c.found && got.File != c.was.File {
			t.Errorf("%s: a held copy has become the original: %+v", c.what, got)
		}
	}
}

// A server that decides to be held, and whose database is released before it stores that, does not undo the release.
func TestReleaseIsNotUndone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := database(t)
	g, err := Open(ctx, d, "host", true, start)
	if err != nil || g.Reason() == "" {
		t.Fatal(g.Reason(), err)
	}
	err = d.Write(ctx, func(tx *db.Tx) error { return Save(tx, State{File: ours, Place: "released elsewhere"}) })
	if err != nil {
		t.Fatal(err)
	}
	released := 0
	if _, err := g.Job(func() { released++ }).Run(ctx, start); err != nil || g.Reason() != "" || released != 1 {
		t.Errorf("%q, released %d times, %v", g.Reason(), released, err)
	}
}

// A server that fails before its jobs run stores nothing.
func TestOpenStoresNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := database(t)
	if _, err := Open(ctx, d, "host", true, start); err != nil {
		t.Fatal(err)
	}
	if g, err := Open(ctx, d, "host", false, start); err != nil || g.Reason() != "" {
		t.Errorf("%q %v", g.Reason(), err)
	}
}

// A release of a copy that was never started is one, too.
func TestReleaseBeforeFirstStart(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := database(t)
	g, err := Open(ctx, d, "host", false, start)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Job(func() {}).Run(ctx, start); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(dbtest.Embedded(t, d.DSN()))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := db.Connect(ctx, "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = c.Write(ctx, func(tx *db.Tx) error {
		was, err := Release(t.Context(), tx, c, "host")
		if !strings.Contains(was.Reason, "is a copy") {
			t.Errorf("%+v", was)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if g, err := Open(ctx, c, "host", false, start); err != nil || g.Reason() != "" {
		t.Errorf("%q %v", g.Reason(), err)
	}
}

func database(t *testing.T) *db.DB {
	t.Helper()
	d, err := db.Open(context.Background(), dbtest.Migrated(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}
