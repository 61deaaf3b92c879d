package db_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tocsin/internal/platform/db"
)

// open opens a file of the embedded engine.
func open(t *testing.T, path string) *db.DB {
	t.Helper()
	d, err := db.Open(ctx, "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestFilesAreReadableByTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "dir")
	d := open(t, filepath.Join(dir, "test.db"))
	write(t, d, `CREATE TABLE item (id BIGINT PRIMARY KEY)`)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Fatalf("%d files: %v", len(entries), err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", e.Name(), info.Mode(), err)
		}
	}
}

func TestExistingFileKeepsItsMode(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	if err := os.WriteFile(path, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	open(t, path)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// TestPathsWithSpecialCharacters: characters that mean something in a URI are plain characters of a path.
func TestPathsWithSpecialCharacters(t *testing.T) {
	for _, name := range []string{"a b.db", "100%.db", "%41.db", "what?mode=memory.db", "a#b.db", "a&b=c;d.db", "é 值班.db", "a+b.db", "file:x.db", ":memory:", `back\slash.db`, "it's.db"} {
		t.Run(name, func(t *testing.T) {
			connected := func(path string) *db.DB { // without the schema
				d, err := db.Connect(ctx, "sqlite:"+path)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { d.Close() })
				return d
			}
			dir := t.TempDir()
			d := connected(filepath.Join(dir, name))
			write(t, d, `CREATE TABLE item (id BIGINT PRIMARY KEY, name TEXT NOT NULL)`)
			write(t, d, `INSERT INTO item (id, name) VALUES (1, 'a')`)
			if err := d.Close(); err != nil { // it removes the files beside the database
				t.Error(err)
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != 1 || entries[0].Name() != name {
				t.Errorf("%v %v", entries, err)
			}
			expect(t, connected(filepath.Join(dir, name)), "a")
		})
	}
	t.Chdir(t.TempDir())
	d := open(t, "relative dir/a?b.db")
	write(t, d, `CREATE TABLE item (id BIGINT PRIMARY KEY)`)
	if _, err := os.Stat("relative dir/a?b.db"); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBeOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("this is no database. ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dsn, want string }{
		{"", "want sqlite:PATH"},
		{"sqlite:", "want sqlite:PATH"},
		{"test.db", "want sqlite:PATH"},
		{"mysql://root:hunter2@host/db", "want sqlite:PATH"},
		{"sqlite:" + dir, dir},
		{"sqlite:" + garbage, "not a database"},
		{"sqlite:" + garbage + "/below.db", "garbage.db"},
	} {
		d, err := db.Open(ctx, c.dsn)
		if err == nil {
			d.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", c.dsn, err)
		}
	}
}

func TestMigrations(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(os.DirFS("migrations"), "*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	path := filepath.Join(t.TempDir(), "test.db")
	d, err := db.Connect(ctx, "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	applied, err := d.Migrate(ctx)
	if err != nil || len(applied) != len(files) {
		t.Fatalf("%v %v", applied, err)
	}
	for i, a := range applied {
		if a.Name != files[i] || a.Took == "" {
			t.Errorf("step %d: %+v, want %s", i, a, files[i])
		}
	}
	schema := func(d *db.DB) (all []string) {
		err := d.Read(ctx, func(tx *db.Tx) (err error) {
			all, err = db.All(tx, db.Column[string], `SELECT coalesce(sql, name) FROM sqlite_master ORDER BY name`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := schema(d)
	write(t, d, `INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (1, 'Acme', 'UTC', 1, 1)`)
	if again, err := d.Migrate(ctx); err != nil || again == nil || len(again) != 0 {
		t.Errorf("the second time: %v %v", again, err)
	}
	second := open(t, path) // while the first is open, as a command would beside a server
	if got := schema(second); !reflect.DeepEqual(got, before) {
		t.Errorf("%q\nwant\n%q", got, before)
	}
}

// TestLogIsCopiedBesideCommits: a log that is much too small for a commit to copy it is copied, and written again from
// its beginning then.
func TestLogIsCopiedBesideCommits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	d := open(t, path)
	write(t, d, `CREATE TABLE item (id BIGINT PRIMARY KEY, text TEXT NOT NULL)`)
	state := func() (busy, pages, copied int64) {
		err := d.Read(ctx, func(tx *db.Tx) error {
			_, _, err := db.One(tx, func(scan db.Scan) (_ struct{}, err error) { return struct{}{}, scan(&busy, &pages, &copied) }, `PRAGMA wal_checkpoint(NOOP)`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return busy, pages, copied
	}
	for n := 0; ; n++ {
		if _, pages, copied := state(); copied > 400 {
			if pages >= 32000 { // then the commit has copied them
				t.Errorf("%d pages of %d were copied only then", copied, pages)
			}
			break
		}
		if n == 2000 {
			t.Fatal("nothing is copied")
		}
		write(t, d, `INSERT INTO item VALUES ($1, $2)`, n, strings.Repeat("x", 50_000))
	}
}
