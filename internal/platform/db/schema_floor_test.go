package db_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// TestNewerSchemaAndItsFloor: a program runs on a schema that a newer one has added to, and leaves it as it is. It
// refuses one that the newer program has made unfit for it.
func TestNewerSchemaAndItsFloor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		floor string
		runs  bool
	}{{"87", true}, {"9998", false}} {
		dsn := dbtest.Migrated(t)
		d, err := db.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{
			`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, TRUE)`,
			`UPDATE schema_floor SET version = ` + c.floor,
		} {
			if err := d.Write(t.Context(), func(tx *db.Tx) error { _, err := tx.Exec(query); return err }); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Outdated(t.Context()); (err == nil) != c.runs {
			t.Errorf("floor %s: a running program sees %v", c.floor, err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		d, err = db.Open(t.Context(), dsn)
		if err == nil {
			err = d.Close()
		}
		if (err == nil) != c.runs || err != nil && !strings.Contains(err.Error(), "newer version") {
			t.Errorf("floor %s: it starts with %v", c.floor, err)
		}
	}
}

// contracts finds what a program that is older than a migration may still use.
var contracts = regexp.MustCompile(`(?i)\bDROP (TABLE|COLUMN)|\bRENAME\b|\bALTER COLUMN\b|\bDROP CONSTRAINT\b.*\bADD\b`)

// added finds columns that an older program would have to fill.
var added = regexp.MustCompile(`(?i)\bADD COLUMN [^;,]*\bNOT NULL\b[^;,]*`)

// replaces are migrations that put something else in place of what they rename, under the same name and with the same
// columns.
var replaces = map[string]bool{"migrations/postgres/0092_partitions.sql": true, "migrations/postgres/0095_feed_parts.sql": true}

// TestMigrationsThatRemoveRaiseFloor: a migration that removes or renames what an earlier program uses must raise the
// floor, or that program fails beside it with errors of SQL.
func TestMigrationsThatRemoveRaiseFloor(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"migrations/*.sql", "migrations/postgres/*.sql"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Base(name) < "0088" || replaces[name] || strings.Contains(string(text), "UPDATE schema_floor") {
				continue
			}
			if found := contracts.FindString(string(text)); found != "" {
				t.Errorf("%s: %q takes something from earlier programs and does not raise schema_floor", name, found)
			}
			for _, column := range added.FindAllString(string(text), -1) {
				if !strings.Contains(strings.ToUpper(column), "DEFAULT") {
					t.Errorf("%s: %q: earlier programs leave the column empty, so it needs a default", name, column)
				}
			}
		}
	}
}

// TestStartsAtOnce opens an empty database from several processes' places at once: all of them find the schema.
func TestStartsAtOnce(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL: several processes serve it")
	}
	for range 3 {
		dsn := dbtest.New(t)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				d, err := db.Open(context.Background(), dsn)
				if err != nil {
					t.Error(err)
					return
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	}
}

// TestIdentityOnPostgreSQL: the connections of one database agree on its identity, and a copy of it has another.
func TestIdentityOnPostgreSQL(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL: TestFileID is about files")
	}
	of := func(dsn string) db.FileID {
		d, err := db.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		f, err := d.File(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	one, copied := dbtest.Migrated(t), dbtest.Migrated(t)
	if a, b := of(one), of(one); a != b || a.Inode == 0 || a.Born == 0 {
		t.Errorf("one database is %+v and %+v", a, b)
	}
	if of(one).Is(of(copied)) {
		t.Error("a copy has the same identity")
	}
}
