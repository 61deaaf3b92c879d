package db_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tocsin/internal/platform/db"
)

func nothing(*db.DB) error { return nil }

// A backup that is made while others write holds one state of the database, is private, and replaces no file.
func TestBackupIsConsistent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, filepath.Join(dir, "test.db"))
	write(t, d, `CREATE TABLE pair (a BIGINT NOT NULL, b BIGINT NOT NULL)`)
	write(t, d, `INSERT INTO pair VALUES (0, 0)`)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := d.Write(ctx, func(tx *db.Tx) error {
				if _, err := tx.Exec(`UPDATE pair SET a = a + 1`); err != nil {
					return err
				}
				_, err := tx.Exec(`UPDATE pair SET b = b + 1`)
				return err
			}); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for _, name := range []string{"one.db", "two.db", "three.db"} {
		file := filepath.Join(dir, name)
		size, err := d.Backup(ctx, file)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() != size {
			t.Errorf("%v %v, reported %d bytes", info, err, size)
		}
		b, err := db.Connect(ctx, "sqlite:"+file)
		if err != nil {
			t.Fatal(err)
		}
		err = b.Read(ctx, func(tx *db.Tx) error {
			n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM pair WHERE a = b`)
			if n != 1 {
				t.Error("the backup is between two states")
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		b.Close()
	}
	close(stop)
	<-stopped
	if _, err := d.Backup(ctx, filepath.Join(dir, "one.db")); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("over a file that exists: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.part*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// A backup that is interrupted leaves nothing behind.
func TestBackupThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, filepath.Join(dir, "test.db"))
	ended, end := context.WithCancel(ctx)
	end()
	if _, err := d.Backup(ended, filepath.Join(dir, "backup.db")); err == nil {
		t.Error("it was interrupted and succeeded")
	}
	if left, err := filepath.Glob(filepath.Join(dir, "backup*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// A restore refuses what would lose data, and then leaves the database as it was.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "test.db")
	dsn := "sqlite:" + path
	d := open(t, path)
	write(t, d, `CREATE TABLE item (id BIGINT PRIMARY KEY, name TEXT NOT NULL)`)
	write(t, d, `INSERT INTO item (id, name) VALUES (1, 'a')`)
	good := filepath.Join(dir, "good.db")
	if _, err := d.Backup(ctx, good); err != nil {
		t.Fatal(err)
	}
	write(t, d, `INSERT INTO item (id, name) VALUES (2, 'b')`)
	file := func(name string, change func([]byte) []byte) string {
		text, err := os.ReadFile(good)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, change(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	same := func(b []byte) []byte { return b }
	foreign := filepath.Join(dir, "foreign.db")
	f, err := db.Connect(ctx, "sqlite:"+foreign)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, `CREATE TABLE item (id BIGINT PRIMARY KEY)`)
	f.Close()
	newer := filepath.Join(dir, "newer.db")
	n := open(t, newer)
	write(t, n, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`)
	write(t, n, `UPDATE schema_floor SET version = 9999`)
	n.Close()
	inUse := file("in-use.db", same)
	file("in-use.db-wal", same)
	refuse := func(backup string, replace bool, want string) {
		t.Helper()
		if _, err := db.Restore(ctx, dsn, backup, replace, nothing); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", filepath.Base(backup), err, want)
		}
		if left, err := filepath.Glob(path + ".part*"); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v", filepath.Base(backup), left)
		}
	}
	refuse(good, false, "exists already")
	refuse(good, true, "is in use: stop the server first")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	refuse(good, false, "exists already")
	refuse(filepath.Join(dir, "typo.db"), true, "typo.db")
	refuse(file("garbage.db", func([]byte) []byte { return []byte(strings.Repeat("no database ", 500)) }), true, "garbage.db")
	refuse(file("cut.db", func(b []byte) []byte { return b[:len(b)/2] }), true, "cut.db")
	refuse(foreign, true, "not a database of Tocsin")
	refuse(newer, true, "written by a newer version")
	refuse(inUse, true, "not a backup")
	expect(t, open(t, path), "a", "b")
}

// A restored database is the backup's, prepared. The log of the database that was there is not replayed into it.
func TestRestoreReplaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "test.db")
	d := open(t, path)
	write(t, d, `CREATE TABLE item (id BIGINT PRIMARY KEY, name TEXT NOT NULL)`)
	write(t, d, `INSERT INTO item (id, name) VALUES (1, 'a')`)
	backup := filepath.Join(dir, "backup.db")
	if _, err := d.Backup(ctx, backup); err != nil {
		t.Fatal(err)
	}
	write(t, d, `DELETE FROM item`)
	d.Close()
	if err := os.WriteFile(path, []byte(strings.Repeat("broken", 1000)), 0o600); err != nil { // the reason for the restore
		t.Fatal(err)
	}
	if err := os.WriteFile(path+"-wal", []byte("the log of another database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Restore(ctx, "sqlite:"+path, backup, true, func(d *db.DB) error {
		return d.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec(`INSERT INTO item (id, name) VALUES (2, 'prepared')`)
			return err
		})
	}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	restored := open(t, path)
	expect(t, restored, "a", "prepared")
	if err := restored.Close(); err != nil {
		t.Error(err)
	}
	elsewhere := filepath.Join(dir, "new", "folder", "test.db")
	if _, err := db.Restore(ctx, "sqlite:"+elsewhere, backup, false, nothing); err != nil {
		t.Fatal(err)
	}
	expect(t, open(t, elsewhere), "a")
}
