package db

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"tocsin/internal/platform/fault"
)

func TestFullDiskIsUnavailableAndLosesNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d, err := Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "t.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	exec := func(query string, args ...any) error {
		return d.Write(ctx, func(tx *Tx) error {
			_, err := tx.Exec(query, args...)
			return err
		})
	}
	if err := exec(`CREATE TABLE filler (t TEXT)`); err != nil {
		t.Fatal(err)
	}
	// The engine's own limit stands in for a full disk: it returns the same code. The engine raises the limit to the
	// file's present size.
	if err := d.Write(ctx, func(tx *Tx) error {
		_, err := All(tx, Column[int64], `PRAGMA max_page_count = 1`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := exec(`INSERT INTO filler VALUES ($1)`, strings.Repeat("x", 1<<20)); fault.KindOf(err) != fault.Unavailable {
		t.Fatalf("a full disk: %v", err)
	}
	if err := exec(`INSERT INTO filler VALUES ($1)`, "small"); err != nil {
		t.Errorf("a small change after it: %v", err)
	}
	err = d.Read(ctx, func(tx *Tx) error {
		n, _, err := One(tx, Column[int64], `SELECT count(*) FROM filler`)
		if n != 1 {
			t.Errorf("%d rows, want the small one", n)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
