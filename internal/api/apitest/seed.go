package apitest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"tocsin/internal/platform/db"
)

// Tests open many databases. Each starts as a copy of a file that is made once.
var (
	migrated = sync.OnceValues(func() ([]byte, error) { return made(func(*db.Tx) error { return nil }) })
	seeded   = sync.OnceValues(func() ([]byte, error) { return made(seed) })
)

// made returns the bytes of a new database file that fill has written to.
func made(fill func(*db.Tx) error) (file []byte, err error) {
	dir, err := os.MkdirTemp("", "apitest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "test.db")
	d, err := db.Open(context.Background(), "sqlite:"+path)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(d.Write(context.Background(), fill), d.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// Migrated writes an empty, migrated database file to a path.
func Migrated(t testing.TB, path string) {
	t.Helper()
	file, err := migrated()
	if err == nil {
		err = os.WriteFile(path, file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// openCopy opens a copy that is deleted with the test.
func openCopy(t testing.TB, original func() ([]byte, error)) *db.DB {
	t.Helper()
	file, err := original()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test.db")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := db.Connect(context.Background(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// seed writes the initial rows of every Server.
func seed(tx *db.Tx) error {
	exec := func(query string, args ...any) error {
		_, err := tx.Exec(query, args...)
		return err
	}
	const account = `INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES ($1, $2, $3, $4, $5)`
	return errors.Join(
		exec(account, AccountA, "Acme", "Asia/Shanghai", OwnerA, Now.Unix()),
		exec(account, AccountB, "Bolt", "America/New_York", OwnerB, Now.Unix()),
		addPerson(tx, AccountA, OwnerA, "Olga Owner"),
		addPerson(tx, AccountA, Reader, "Rita Reader"),
		addPerson(tx, AccountA, Stranger, "Stan Stranger"),
		addPerson(tx, AccountB, OwnerB, "Bob Owner"),
		exec(`INSERT INTO team (account_id, team_id, team_name) VALUES ($1, $2, 'SRE')`, AccountA, TeamA),
		exec(`INSERT INTO team_person (account_id, team_id, person_id, position) VALUES ($1, $2, $3, 0), ($1, $2, $4, 1)`, AccountA, TeamA, OwnerA, Reader),
		addKey(tx, AccountA, OwnerA, KeyA),
		addKey(tx, AccountA, Reader, KeyReader),
		addKey(tx, AccountA, Stranger, KeyNothing),
		addKey(tx, AccountB, OwnerB, KeyB),
		watch(tx),
	)
}

func addPerson(tx *db.Tx, account, person int64, name string) error {
	_, err := tx.Exec(`INSERT INTO person (account_id, person_id, person_name, avatar, locale, time_zone, email, phone, phone_verified, email_verified, "as", status)
		VALUES ($1, $2, $3, '', '', '', $4, '', FALSE, TRUE, 'member', 'enabled')`, account, person, name, name[:1]+"@example.com")
	return err
}

func addKey(tx *db.Tx, account, person int64, secret string) error {
	sum := sha256.Sum256([]byte(secret))
	_, err := tx.Exec(`INSERT INTO app_key (key_hash, account_id, key_id, key_name, person_id, permissions, status, expires_at, created_at, last_used_at)
		VALUES ($1, $2, (SELECT count(*) + 1 FROM app_key), '', $3, NULL, 'enabled', 0, 0, 0)`, hex.EncodeToString(sum[:]), account, person)
	return err
}
