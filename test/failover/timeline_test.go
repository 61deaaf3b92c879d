package failover

import (
	"context"
	"strings"
	"testing"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/test/pgserver"
)

// pair is a primary and its standby, both with the database tocsin and the table kept. The address names the primary first.
type pair struct {
	old, next *pgserver.Server
	dsn       string
}

func startPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{old: startServer(t, pgserver.Options{})}
	must(t, p.old.SQL("postgres", "CREATE DATABASE tocsin"))
	var err error
	p.next, err = p.old.Standby()
	must(t, err)
	t.Cleanup(func() { must(t, p.next.Close()) })
	p.dsn = "postgres://postgres@" + address(p.old) + "," + address(p.next) + "/tocsin?sslmode=disable"
	return p
}

// promote promotes the standby once it has the number 1.
func (p *pair) promote(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !has(p.next, "1"); {
		if time.Now().After(end) {
			t.Fatal("the standby does not follow")
		}
	}
	must(t, p.next.Promote())
}

// keep stores a number.
func keep(d *db.DB, n int64) error {
	return d.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO kept VALUES ($1)`, n)
		return err
	})
}

// has reports whether a server has a number.
func has(s *pgserver.Server, n string) bool {
	return s.SQL("tocsin", `SELECT 1 / count(*) FROM kept WHERE n = `+n) == nil
}

// TestFormerPrimaryIsLeft: the standby is promoted while the old primary runs on and takes writes, first in the address. Every
// open connection moves to the new primary, and a program that starts now begins there.
func TestFormerPrimaryIsLeft(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	d := open(t, p.dsn)
	changes := make(chan db.Found, 10)
	d.OnChange(func(f db.Found) { changes <- f })
	must(t, p.old.SQL("tocsin", `CREATE TABLE kept (n BIGINT)`))
	must(t, keep(d, 1))
	p.promote(t)
	promoted := time.Now()
	for n := int64(100); !has(p.next, "9") && time.Since(promoted) < time.Minute; n++ {
		if time.Since(promoted) > 5*time.Second {
			n = 9 // from now on everything goes to the new primary
		}
		_ = keep(d, n) // some are refused while connections are replaced
	}
	if !has(p.next, "9") || has(p.old, "9") {
		t.Error("5 seconds after a promotion the former primary is written")
	}
	if f := <-changes; f.Host != address(p.next) || f.Timeline != 2 {
		t.Errorf("%+v is reported, want host %s with timeline 2", f, address(p.next))
	}
	if len(changes) > 0 {
		t.Errorf("reported once more: %+v", <-changes)
	}
	started := open(t, p.dsn)
	must(t, keep(started, 10))
	if !has(p.next, "10") || has(p.old, "10") {
		t.Error("a program that starts writes to the former primary")
	}
	if err := p.next.Kill(); err != nil {
		t.Fatal(err)
	}
	unavailable(t, keep(d, 11))
	unavailable(t, keep(d, 12))
	if has(p.old, "11") || has(p.old, "12") {
		t.Error("with the new primary away the former one is written")
	}
	f := <-changes
	for _, of := range []string{address(p.old) + ": the server is a former primary: its timeline is 1", address(p.next) + ": "} {
		if f.Err == nil || f.Host != "" || !strings.Contains(f.Err.Error(), of) {
			t.Errorf("%+v is reported, want %q", f, of)
		}
	}
	must(t, p.next.Run())
	read(t, d, `SELECT count(*) FROM kept WHERE n = 9`, 1)
	if f := <-changes; f.Host != address(p.next) || f.Away == 0 {
		t.Errorf("%+v is reported, want that host %s is found", f, address(p.next))
	}
}

// TestCommitOfFormerPrimaryIsError: a commit waits for the standby, which is promoted. The operator of the former primary
// then ends the wait: its server reports that the commit succeeded, and only the former primary has it.
func TestCommitOfFormerPrimaryIsError(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	d := open(t, p.dsn)
	must(t, p.old.SQL("tocsin", `CREATE TABLE kept (n BIGINT)`))
	must(t, statements(p.old, "postgres", `ALTER SYSTEM SET synchronous_standby_names = 'standby'`, `SELECT pg_reload_conf()`)())
	must(t, keep(d, 1))
	p.promote(t)
	outcome := make(chan error, 1)
	go func() { outcome <- keep(d, 2) }()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); { // until it waits, or was sent to the new primary
		if p.old.SQL("tocsin", `SELECT 1 / count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'
			AND clock_timestamp() - query_start > '400ms'`) == nil || len(outcome) > 0 {
			break
		}
	}
	must(t, statements(p.old, "postgres", `ALTER SYSTEM RESET synchronous_standby_names`, `SELECT pg_reload_conf()`)())
	if err := <-outcome; err == nil && !has(p.next, "2") {
		t.Error("a commit is acknowledged that only the former primary has")
	}
}

// TestClusterThatGoesBackIsFollowed: behind one address, the former primary leads again. That may be a mistake of the proxy for a
// moment; when it lasts, the database must not stay away for ever.
func TestClusterThatGoesBackIsFollowed(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	way := startProxy(t, address(p.old))
	d := open(t, way.through("tocsin"))
	must(t, p.old.SQL("tocsin", `CREATE TABLE kept (n BIGINT)`))
	must(t, keep(d, 1))
	p.promote(t)
	way.lead(address(p.next))
	read(t, d, `SELECT count(*) FROM kept`, 1)
	must(t, keep(d, 2))
	way.lead(address(p.old))
	began := time.Now()
	for keep(d, 3) != nil && time.Since(began) < 2*time.Minute {
		time.Sleep(100 * time.Millisecond)
	}
	if took := time.Since(began); !has(p.old, "3") || took < 20*time.Second {
		t.Errorf("the former primary is written after %s, want after about 30 seconds", took)
	}
}

// TestAddressesThatCannotWorkAreRefused with the reason.
func TestAddressesThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		"keepalives_idle=10":        "option keepalives_idle=10 cannot be set: the program sends keepalives every 5 seconds",
		"load_balance_hosts=random": "the program reads and writes on the primary alone",
		"gssencmode=require":        "use sslmode",
		"connect_timeout=60":        "option connect_timeout=60 is more than 10 seconds",
	} {
		d, err := db.Connect(t.Context(), "postgres://tocsin@127.0.0.1:1/tocsin?"+options)
		if err == nil {
			_ = d.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", options, err, want)
		}
	}
	s := startServer(t, pgserver.Options{})
	d, err := db.Connect(t.Context(), s.DSN("postgres")+"?gssencmode=disable&keepalives=1&load_balance_hosts=disable&connect_timeout=2")
	must(t, err)
	must(t, d.Close())
}
