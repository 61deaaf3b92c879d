package pgserver_test

import (
	"errors"
	"testing"

	"tocsin/test/pgserver"
)

// TestStandbyTakesOver starts a server and a standby, kills the first, promotes the other and finds the rows there.
func TestStandbyTakesOver(t *testing.T) {
	s, err := pgserver.Start(pgserver.Options{})
	if errors.Is(err, pgserver.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b, err := s.Standby()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, text := range []string{
		`ALTER SYSTEM SET synchronous_standby_names = 'standby'`, `ALTER SYSTEM SET synchronous_commit = 'on'`, `SELECT pg_reload_conf()`,
		`CREATE TABLE kept (n BIGINT)`, `INSERT INTO kept VALUES (1)`,
	} {
		if err := s.SQL("postgres", text); err != nil {
			t.Fatal(text, err)
		}
	}
	if err := errors.Join(s.Kill(), b.Promote(), b.SQL("postgres", `INSERT INTO kept VALUES (2); SELECT 1 / (count(*) - 1) FROM kept`)); err != nil {
		t.Error(err)
	}
}
