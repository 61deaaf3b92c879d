package db_test

import (
	"path/filepath"
	"testing"

	"tocsin/internal/platform/db"
)

// TestChangedByOthers checks that the number differs after a write of another process, and not after this one's own.
func TestChangedByOthers(t *testing.T) {
	t.Parallel()
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	var both [2]*db.DB
	for i := range both {
		d, err := db.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		both[i] = d
	}
	version := func() int64 {
		n, err := both[0].ChangedByOthers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	write := func(d *db.DB) {
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE account SET account_name = account_name`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	insert := func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (1, 'a', 'UTC', 1, 0)`)
		return err
	}
	if err := both[1].Write(t.Context(), insert); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		before := version()
		write(both[0])
		if now := version(); now != before {
			t.Errorf("%d, then %d after an own write", before, now)
		}
		if err := both[1].Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE account SET revision = revision + 1`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if now := version(); now == before {
			t.Errorf("%d after a write of another process as well", now)
		}
	}
}
