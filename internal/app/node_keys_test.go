package app_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/secret"
)

// TestNodesNeedSameKeys: no default file, no other key, no other key under the same id; and a new key takes over step by
// step, while no node is ever without a key that a secret needs.
func TestNodesNeedSameKeys(t *testing.T) {
	t.Parallel()
	several(t)
	dsn, old := dbtest.Migrated(t), secret.NewKey()
	refused := func(what, keys, want string) {
		t.Helper()
		if err := opens(nodeConfig(dsn, keys)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	refused("no key", "", "--seal-key-file")
	a, _ := serveNode(t, nodeConfig(dsn, old))
	sealed, err := a.Keyring.Seal("s3cret", "test")
	if err != nil {
		t.Fatal(err)
	}
	refused("another key", secret.NewKey(), "give every server the same keys")
	id, _, _ := strings.Cut(old, " ")
	_, other, _ := strings.Cut(secret.NewKey(), " ")
	refused("the same id", id+" "+other, "is not the key with this id")

	next := secret.NewKey()
	file := filepath.Join(t.TempDir(), "keys")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(old + "\n" + next + "\n") // first every node gets the new key, and seals under the old one
	c := nodeConfig(dsn, "")
	c.SealKeyFile = file
	b, _ := serveNode(t, c)
	if err := b.Nodes.Beat(t.Context()); err != nil {
		t.Fatal(err)
	}
	both := nodeConfig(dsn, next+"\n"+old)
	d, err := db.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := both.SealKeys().RenewAll(t.Context(), d); err == nil || !strings.Contains(err.Error(), "seals under the key "+id) {
		t.Errorf("resealed while nodes seal under the old key: %v", err)
	}
	if _, err := c.SealKeys().Rotate(t.Context(), d); err == nil || !strings.Contains(err.Error(), "key reseal") {
		t.Errorf("rotated: %v", err)
	}
	write(next + "\n" + old + "\n") // then it becomes the first
	if plain, err := b.Keyring.Open(sealed, "test"); err != nil || plain != "s3cret" {
		t.Errorf("a secret of the old key: %q, %v", plain, err)
	}
	until(t, "the node seals under the new key", func() bool {
		return b.Nodes.Beat(context.Background()) == nil && strings.HasPrefix(next, b.Nodes.Live()[0].SealKeys[0]) ||
			len(b.Nodes.Live()) > 1 && strings.HasPrefix(next, b.Nodes.Live()[1].SealKeys[0])
	})
	if err := a.Nodes.Leave(t.Context()); err != nil { // the node with the old key as its only one is stopped
		t.Fatal(err)
	}
	if r, err := both.SealKeys().RenewAll(t.Context(), d); err != nil || !strings.HasPrefix(next, r.KeyID+" ") {
		t.Errorf("%+v, %v", r, err)
	}
	if err := opens(nodeConfig(dsn, next)); err != nil {
		t.Errorf("without the old key, after it was resealed: %v", err)
	}
	refused("the old key alone", old, "give every server the same keys")
}
