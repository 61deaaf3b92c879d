package copydb_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/demo"
	"tocsin/internal/platform/copydb"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/hold"
	"tocsin/internal/platform/secret"
)

var (
	ctx   = context.Background()
	start = time.Unix(1776052800, 0)
)

// other returns the DSN of a missing database of the embedded engine, whatever engine the tests run on. With dbtest.New
// the tests copy between the two engines when they run on PostgreSQL.
func other(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "other.db") }

// schema is the file of an empty database of the embedded engine.
var schema = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "copydb")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "empty.db")
	d, err := db.Open(ctx, "sqlite:"+path)
	if err != nil {
		return nil, err
	}
	if err := d.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// embedded returns the DSN of an empty database of the embedded engine, with the schema.
func embedded(t *testing.T) string {
	t.Helper()
	file, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	dsn := other(t)
	if err := os.WriteFile(strings.TrimPrefix(dsn, "sqlite:"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	return dsn
}

func open(t *testing.T, dsn string) *db.DB {
	t.Helper()
	d, err := db.Open(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func write(t *testing.T, d *db.DB, query string, args ...any) {
	t.Helper()
	err := d.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, d *db.DB, query string, args ...any) (n int64) {
	t.Helper()
	err := d.Read(ctx, func(tx *db.Tx) (err error) {
		n, _, err = db.One(tx, db.Column[int64], query, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// filled makes a database with the demo account and a part of its deliveries. It returns the keys of the database and the
// content of the account file.
func filled(t *testing.T, dsn string) (keyring *secret.Keyring, file string) {
	t.Helper()
	keyring, err := secret.Open(filepath.Join(t.TempDir(), "keys"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	account := demo.Account(start)
	account.Deliveries = account.Deliveries[:3000]
	d := open(t, dsn)
	if err := accountfile.Import(ctx, d, keyring, account, start, false); err != nil {
		t.Fatal(err)
	}
	if _, err := demo.Fill(ctx, d, keyring, start); err != nil { // Fill adds keys and links
		t.Fatal(err)
	}
	return keyring, export(t, d, keyring)
}

// little makes a database with a few rows.
func little(t *testing.T, dsn string) {
	t.Helper()
	d := open(t, dsn)
	write(t, d, `INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (77, 'Acme', 'UTC', 1, 1)`)
	err := d.Write(ctx, func(tx *db.Tx) error {
		for team := range 1000 {
			if _, err := tx.Exec(`INSERT INTO team (account_id, team_id, team_name) VALUES (77, $1, 'SRE')`, team); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, d, `INSERT INTO team_person (account_id, team_id, person_id, position) VALUES (77, 1, 1, 1)`)
}

func export(t *testing.T, d *db.DB, keyring *secret.Keyring) string {
	t.Helper()
	var account int64
	err := d.Read(ctx, func(tx *db.Tx) (err error) {
		account, _, err = db.One(tx, db.Column[int64], `SELECT account_id FROM account`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	file, err := accountfile.Export(ctx, d, keyring, account, true)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := accountfile.Write(&b, file); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func run(t *testing.T, from, to string) []copydb.Result {
	t.Helper()
	results, err := copydb.Copy{From: from, To: to, Now: start}.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// sums returns what two copies must have in common: all but the hold, which names the source.
func sums(results []copydb.Result) string {
	var b strings.Builder
	for _, r := range results {
		if r.Table != "hold" && r.Rows > 0 {
			fmt.Fprintln(&b, r.Table, r.Rows, r.Sum)
		}
	}
	return b.String()
}

// A database that is copied there and back has the same rows, and its account file reads the same.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	from := dbtest.Migrated(t)
	to := other(t)
	back := dbtest.New(t)
	keyring, want := filled(t, from)
	first := run(t, from, to)
	second := run(t, to, back)
	if sums(first) != sums(second) || strings.Count(sums(first), "\n") < 20 {
		t.Errorf("there:\n%s\nback:\n%s", sums(first), sums(second))
	}
	for _, dsn := range []string{to, back} {
		if got := export(t, open(t, dsn), keyring); got != want {
			t.Errorf("%s: the account file of the copy differs", dsn)
		}
	}
}

// Rows of all shapes: NULL, the empty text, the largest integers, and text that only the embedded engine may hold.
func TestHostileRows(t *testing.T) {
	t.Parallel()
	from := dbtest.Migrated(t)
	to := other(t)
	back := dbtest.New(t)
	d := open(t, from)
	const account = `INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES ($1, $2, $3, $4, $5)`
	write(t, d, account, int64(math.MaxInt64), "", "\u0001\uFEFF\"'\\\t\n\\N", int64(math.MinInt64), 0)
	write(t, d, account, int64(math.MinInt64), strings.Repeat("Ω", 1<<20), "UTC", -1, 1)
	const key = `INSERT INTO app_key (key_hash, account_id, key_id, key_name, person_id, permissions, status, expires_at, created_at, last_used_at)
		VALUES ($1, $2, $3, '', 1, $4, 'enabled', 0, 0, 0)`
	write(t, d, key, "null", int64(math.MaxInt64), 1, (*string)(nil))
	write(t, d, key, "empty", int64(math.MaxInt64), 2, "")
	there := run(t, from, to)
	if back := run(t, to, back); sums(there) != sums(back) {
		t.Errorf("%s\n%s", sums(there), sums(back))
	}
	c := open(t, back)
	if n := count(t, c, `SELECT count(*) FROM app_key WHERE permissions IS NULL`); n != 1 {
		t.Errorf("%d keys with NULL", n)
	}
	if n := count(t, c, `SELECT count(*) FROM app_key WHERE permissions = ''`); n != 1 {
		t.Errorf("%d keys with the empty text", n)
	}
	n := count(t, c, `SELECT count(*) FROM account WHERE account_id = $1 AND account_name = '' AND owner_id = $2 AND time_zone = $3`,
		int64(math.MaxInt64), int64(math.MinInt64), "\u0001\uFEFF\"'\\\t\n\\N")
	if n != 1 {
		t.Error("the numbers or texts differ")
	}
}

// Text that older versions stored and PostgreSQL does not is replaced, counted, and equal on both sides.
func TestUnstorableText(t *testing.T) {
	t.Parallel()
	from, to := embedded(t), dbtest.New(t)
	d := open(t, from)
	write(t, d, `INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at)
		VALUES (1, CAST(X'610062' AS TEXT), CAST(X'FFC3' AS TEXT), 1, 1)`)
	for _, r := range run(t, from, to) {
		if want := map[string]int64{"account": 1}[r.Table]; r.Replaced != want {
			t.Errorf("%s: %d rows replaced, want %d", r.Table, r.Replaced, want)
		}
	}
	n := count(t, open(t, to), `SELECT count(*) FROM account WHERE account_name = $1`, "a\uFFFDb")
	if n != 1 {
		t.Error("the text is not replaced")
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	refused := func(c copydb.Copy, want string) {
		t.Helper()
		if _, err := c.Run(ctx); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	from := dbtest.Migrated(t)
	little(t, from)
	for _, to := range []string{other(t), dbtest.New(t)} {
		d := open(t, to)
		write(t, d, `INSERT INTO seal_key (key_id, lost) VALUES ('a', FALSE)`)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		refused(copydb.Copy{From: from, To: to}, "is not empty: table seal_key has rows")
		if n := count(t, open(t, to), `SELECT count(*) FROM seal_key`); n != 1 {
			t.Error("the target was changed")
		}
	}
	refused(copydb.Copy{From: from, To: from}, "the same database")
	refused(copydb.Copy{From: other(t), To: dbtest.New(t)}, "no such file")
	old := open(t, dbtest.Migrated(t))
	write(t, old, `DELETE FROM goose_db_version WHERE version_id > 80`)
	refused(copydb.Copy{From: dsn(t, old), To: other(t)}, "bring it up to date first")
	write(t, old, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, TRUE)`)
	refused(copydb.Copy{From: dsn(t, old), To: other(t)}, "newer version")
}

// dsn returns the name that a test's database is opened by, which has no password.
func dsn(t *testing.T, d *db.DB) string {
	t.Helper()
	return d.DSN()
}

// A copy is one state of a source that goes on: nothing that is written meanwhile is in it, and what was is whole.
func TestSourceInUse(t *testing.T) {
	t.Parallel()
	from, to := dbtest.Migrated(t), other(t)
	little(t, from)
	d := open(t, from)
	before := count(t, d, `SELECT count(*) FROM account`)
	added := int64(0)
	results, err := copydb.Copy{From: from, To: to, Now: start, Progress: func(p copydb.Progress) {
		if !p.Checking && p.Rows == 0 {
			added++
			write(t, d, `INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES ($1, 'later', 'UTC', 1, 1)`, 1000+added)
			write(t, d, `INSERT INTO team (account_id, team_id, team_name) VALUES ($1, 1, 'later')`, 1000+added)
		}
	}}.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, to)
	accounts, teams := count(t, c, `SELECT count(*) FROM account`)-before, count(t, c, `SELECT count(*) FROM team WHERE team_name = 'later'`)
	if added != int64(len(results)) || accounts != teams || accounts > 1 {
		t.Errorf("%d accounts and %d teams of %d that were written meanwhile", accounts, teams, added)
	}
}

// A copy is held. One that is to replace its source is not: the source is.
func TestHold(t *testing.T) {
	t.Parallel()
	for _, release := range []bool{false, true} {
		from, to := dbtest.Migrated(t), other(t)
		d := open(t, from)
		state(t, d, func(tx *db.Tx) error { return hold.Save(tx, hold.State{Place: "here"}) })
		if release && dbtest.Server == "" {
			if _, err := (copydb.Copy{From: from, To: to, Release: true}).Run(ctx); err == nil || !strings.Contains(err.Error(), "in use") {
				t.Errorf("a source in use: %v", err)
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := (copydb.Copy{From: from, To: to, Release: release, Now: start}).Run(ctx); err != nil {
			t.Fatal(err)
		}
		for dsn, held := range map[string]bool{from: release, to: !release} {
			g, err := hold.Open(ctx, open(t, dsn), "host", false, start)
			if err != nil || (g.Reason() != "") != held {
				t.Errorf("release %v, %s: held because %q, %v", release, dsn, g.Reason(), err)
			}
		}
		if release {
			if _, err := (copydb.Copy{From: from, To: other(t), Release: true}).Run(ctx); err == nil {
				t.Error("a source that was moved is moved again")
			}
		}
	}
}

func state(t *testing.T, d *db.DB, fn func(*db.Tx) error) {
	t.Helper()
	if err := d.Write(ctx, fn); err != nil {
		t.Fatal(err)
	}
}
