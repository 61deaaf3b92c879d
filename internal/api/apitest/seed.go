package apitest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strconv"
	"testing"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// seeded is what the database of every Server starts as.
var seeded = dbtest.Template{Fill: seed}

// connect opens a database until the test ends.
func connect(t testing.TB, dsn string) *db.DB {
	t.Helper()
	d, err := db.Connect(context.Background(), dsn)
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

// Setting returns the number in an environment variable, or the usual one. Tests of random cases make few of them in the
// usual run; make soak sets more.
func Setting(t testing.TB, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
