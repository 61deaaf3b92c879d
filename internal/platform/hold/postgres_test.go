package hold

import (
	"testing"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// TestNodesOfOneDatabase: two nodes of a database are no copies of each other. A node of a copy, whose rows name the
// original, is held until it is released.
func TestNodesOfOneDatabase(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL: several nodes serve one database")
	}
	now := time.Unix(1_770_000_000, 0)
	start := func(dsn, host string) (*db.DB, *Gate) {
		t.Helper()
		d, err := db.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		g, err := Open(t.Context(), d, host, false, now)
		if err == nil {
			err = g.store(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		return d, g
	}
	original, copied := dbtest.Migrated(t), dbtest.Migrated(t)
	d, one := start(original, "one")
	_, two := start(original, "two")
	if one.Reason() != "" || two.Reason() != "" {
		t.Errorf("the nodes of one database: %q, %q", one.Reason(), two.Reason())
	}
	var was State
	if err := d.Read(t.Context(), func(tx *db.Tx) (err error) { was, _, err = Find(tx); return err }); err != nil {
		t.Fatal(err)
	}
	c, err := db.Open(t.Context(), copied)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Write(t.Context(), func(tx *db.Tx) error { return Save(tx, was) }); err != nil { // as a restored dump has it
		t.Fatal(err)
	}
	if _, g := start(copied, "one"); g.Reason() == "" {
		t.Error("a copy sends")
	}
	if err := c.Write(t.Context(), func(tx *db.Tx) error { _, err := Release(t.Context(), tx, c, "one"); return err }); err != nil {
		t.Fatal(err)
	}
	if _, g := start(copied, "one"); g.Reason() != "" {
		t.Errorf("the copy is still held after its release: %s", g.Reason())
	}
}
