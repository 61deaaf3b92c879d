package failover

import (
	"context"
	"strings"
	"testing"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/test/pgserver"
)

// A claim of an account that another process writes asks for its lock ten times a second. None of that is in the server's
// log, where a lock that others wait for in vain is.
func TestClaimOfHeldAccountIsNotInLogOfServer(t *testing.T) {
	t.Parallel()
	const account = 1
	s := startServer(t, pgserver.Options{})
	must(t, s.SQL("postgres", "CREATE DATABASE tocsin"))
	d, err := db.Open(t.Context(), s.DSN("tocsin"))
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	other, err := db.Connect(t.Context(), s.DSN("tocsin"))
	must(t, err)
	t.Cleanup(func() { must(t, other.Close()) })
	claimed := 0
	claim := func(*db.Tx) error { claimed++; return nil }
	must(t, d.WriteOf(t.Context(), account, func(*db.Tx) error {
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := other.ClaimOf(short, account, claim); err == nil || claimed > 0 {
			t.Error("an account that is being written was claimed")
		}
		if err := s.SQL("tocsin", `SET lock_timeout = '10ms'; SELECT 1 FROM writer WHERE shard = 1 FOR UPDATE`); err == nil {
			t.Error("the account is not locked")
		}
		return nil
	}))
	must(t, other.ClaimOf(t.Context(), account, claim))
	text, err := s.Log()
	must(t, err)
	if n := strings.Count(text, "canceling statement due to lock timeout"); n != 1 || claimed == 0 {
		t.Errorf("%d lock timeouts in the log, want that of the test alone:\n%s", n, text)
	}
}
