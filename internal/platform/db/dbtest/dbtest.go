// Package dbtest makes the databases of tests: files of the embedded engine, or databases of the PostgreSQL server that
// TOCSIN_TEST_POSTGRES names (postgres://USER@HOST:PORT/postgres). Each test has one of its own, a copy of one that is
// made once. The program must never use it.
package dbtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/migrations"
)

// Server is the PostgreSQL server of this run; empty: tests use the embedded engine.
var Server = os.Getenv(variable)

const variable = "TOCSIN_TEST_POSTGRES"

// depends makes go test keep the results of each engine by itself: it records what a test reads of the environment, but
// not what is read before the test begins, as Server is.
func depends() { os.Getenv(variable) }

// New returns the DSN of a database without a schema, which is gone with the test.
func New(t testing.TB) string {
	t.Helper()
	depends()
	if Server != "" {
		return newPostgres(t, "template0")
	}
	return "sqlite:" + filepath.Join(t.TempDir(), "tocsin.db")
}

// Migrated returns the DSN of an empty database with the schema.
func Migrated(t testing.TB) string {
	t.Helper()
	return empty.Copy(t)
}

var empty Template

// Embedded returns the path of the file of a DSN. Tests of what only the embedded engine has, such as copies of its file,
// are skipped on PostgreSQL: ./test.sh names them.
func Embedded(t testing.TB, dsn string) string {
	t.Helper()
	path, ok := strings.CutPrefix(dsn, "sqlite:")
	if !ok {
		t.Skip("only for the embedded engine")
	}
	return path
}

// Template is a database that tests copy.
type Template struct {
	Fill func(*db.Tx) error // writes what every copy holds; nil: nothing

	once sync.Once
	file []byte // of the embedded engine
	name string // of the database of PostgreSQL
	err  error
}

// Copy returns the DSN of a copy that belongs to the test.
func (p *Template) Copy(t testing.TB) string {
	t.Helper()
	depends()
	p.once.Do(func() {
		if Server != "" {
			p.name, p.err = p.makePostgres()
		} else {
			p.file, p.err = p.makeFile()
		}
	})
	if p.err != nil {
		t.Fatal(p.err)
	}
	if Server != "" {
		return newPostgres(t, p.name)
	}
	path := filepath.Join(t.TempDir(), "tocsin.db")
	if err := os.WriteFile(path, p.file, 0o600); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path
}

// makeFile returns the bytes of a new database file.
func (p *Template) makeFile() (file []byte, err error) {
	if p.Fill == nil {
		return schema()
	}
	file, err = schema()
	if err != nil {
		return nil, err
	}
	return contents(func(path string) error {
		return errors.Join(os.WriteFile(path, file, 0o600), p.fill("sqlite:"+path))
	})
}

// schema returns the bytes of a file that has the schema alone. The first test of the machine to need it makes it, because a
// hundred migrations cost more than the tests of many packages.
var schema = sync.OnceValues(func() ([]byte, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	kept := filepath.Join(cache, "tocsin-test", migrations.Digest()+".db")
	if file, err := os.ReadFile(kept); err == nil {
		return file, nil
	}
	file, err := contents(func(path string) error { return new(Template).fill("sqlite:" + path) })
	if err == nil {
		keep(kept, file)
	}
	return file, err
})

// keep stores a file for later tests, whole or not at all. A test does not fail without it.
func keep(path string, file []byte) {
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), "new")
	if err != nil {
		return
	}
	_, err = temporary.Write(file)
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temporary.Name()) // it may be gone
	}
}

// contents returns the bytes of a file that fill makes.
func contents(fill func(path string) error) ([]byte, error) {
	dir, err := os.MkdirTemp("", "dbtest")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // of the system's temporary files
	path := filepath.Join(dir, "tocsin.db")
	if err := fill(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// fill writes the schema and what every copy holds.
func (p *Template) fill(dsn string) error {
	d, err := db.Open(context.Background(), dsn)
	if err != nil {
		return err
	}
	if p.Fill != nil {
		err = d.Write(context.Background(), p.Fill)
	}
	return errors.Join(err, d.Close())
}
