package failover

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/test/pgserver"
)

// unavailable fails the test unless an error means that the database was not there.
func unavailable(t *testing.T, err error) {
	t.Helper()
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v, want that the database is unavailable", err)
	}
}

// TestDatabaseFails has failures of one database: of its disk, and of what others do in it.
func TestDatabaseFails(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, s *pgserver.Server) failure{
		"full disk": func(_ *testing.T, s *pgserver.Server) failure {
			return failure{
				begin: statements(s, "tocsin", `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
					$$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`,
					`CREATE TRIGGER full_event BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION full_disk()`,
					`CREATE TRIGGER full_verdict BEFORE INSERT ON verdict FOR EACH ROW EXECUTE FUNCTION full_disk()`,
					`CREATE TRIGGER full_channel BEFORE INSERT ON channel FOR EACH ROW EXECUTE FUNCTION full_disk()`,
					`CREATE TRIGGER full_writer BEFORE UPDATE ON writer FOR EACH ROW EXECUTE FUNCTION full_disk()`),
				// Replaced, not dropped with its triggers: that locks four tables, and writes that lock them in another order deadlock.
				end: statements(s, "tocsin", `CREATE OR REPLACE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
					$$ BEGIN RETURN NEW; END $$`),
				reads: true, some: true,
			}
		},
		"locked by others": func(t *testing.T, s *pgserver.Server) failure {
			var c *pgconn.PgConn
			return failure{begin: func() (err error) {
				c, err = pgconn.Connect(context.Background(), s.DSN("tocsin"))
				if err != nil {
					return err
				}
				_, err = c.Exec(context.Background(), `BEGIN; SELECT count(*) FROM (SELECT 1 FROM writer FOR UPDATE) AS x;
					LOCK TABLE event, channel, app_key IN ACCESS EXCLUSIVE MODE`).ReadAll()
				return err
			}, end: func() error { return c.Close(context.Background()) }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, pgserver.Options{})
			must(t, s.SQL("postgres", "CREATE DATABASE tocsin"))
			make(t, s).try(t, s.DSN("tocsin"))
		})
	}
}

// heldDSN names the database in which a second process of this test holds a transaction open.
const heldDSN = "TOCSIN_FAILOVER_HELD"

func TestMain(m *testing.M) {
	if dsn := os.Getenv(heldDSN); dsn != "" {
		hold(dsn)
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // they wait, more than they compute
		panic(err)
	}
	os.Exit(m.Run())
}

// hold begins to write, prints that, and does not go on.
func hold(dsn string) {
	d, err := db.Connect(context.Background(), dsn)
	if err == nil {
		err = d.Write(context.Background(), func(tx *db.Tx) error {
			if _, err := tx.Exec(`INSERT INTO kept VALUES (1)`); err != nil {
				return err
			}
			fmt.Println("writes")
			time.Sleep(20 * time.Second)
			_, err := tx.Exec(`INSERT INTO kept VALUES (2)`)
			return err
		})
	}
	fmt.Println(fault.KindOf(err) == fault.Unavailable, err)
	os.Exit(0)
}

// TestFrozenNodeIsLeftBehind freezes a process that writes. Another goes on within ten seconds, and the frozen one is
// refused when it comes back.
func TestFrozenNodeIsLeftBehind(t *testing.T) {
	t.Parallel()
	s := startServer(t, pgserver.Options{})
	must(t, s.SQL("postgres", "CREATE DATABASE tocsin"))
	d := open(t, s.DSN("tocsin"))
	must(t, s.SQL("tocsin", `CREATE TABLE kept (n BIGINT)`))
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), heldDSN+"="+s.DSN("tocsin"))
	out, err := other.StdoutPipe()
	must(t, err)
	must(t, other.Start())
	t.Cleanup(func() {
		_ = other.Process.Kill() // it has ended, unless the test failed
		_ = other.Wait()
	})
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "writes" {
		t.Fatal("the other process does not write: ", lines.Text())
	}
	must(t, other.Process.Signal(syscall.SIGSTOP))
	began := time.Now()
	err = fault.New(fault.Unavailable, "not tried")
	for fault.KindOf(err) == fault.Unavailable && time.Since(began) < time.Minute {
		err = d.Write(t.Context(), func(tx *db.Tx) error { _, err := tx.Exec(`INSERT INTO kept VALUES (3)`); return err })
	}
	must(t, err)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("written after %s", took)
	} else {
		t.Logf("written after %s", took.Round(time.Millisecond))
	}
	must(t, other.Process.Signal(syscall.SIGCONT))
	if !lines.Scan() || lines.Text()[:4] != "true" {
		t.Errorf("the frozen process came back: %q, want that the database is unavailable", lines.Text())
	}
	read(t, d, `SELECT coalesce(sum(n), 0) FROM kept`, 3)
}

// TestOnlyPrimaryHasIt: the standby does not confirm a commit, and an operator cancels the wait. The server then reports
// success with a warning, and the caller an error: the standby may take over without the change.
func TestOnlyPrimaryHasIt(t *testing.T) {
	t.Parallel()
	s := startServer(t, pgserver.Options{})
	must(t, s.SQL("postgres", "CREATE DATABASE tocsin"))
	d := open(t, s.DSN("tocsin"))
	must(t, s.SQL("tocsin", `CREATE TABLE kept (n BIGINT)`))
	must(t, statements(s, "postgres", `ALTER SYSTEM SET synchronous_standby_names = 'standby'`, `SELECT pg_reload_conf()`)())
	outcome := make(chan error, 1)
	go func() {
		for { // until the server has read its new settings
			err := d.Write(context.Background(), func(tx *db.Tx) error { return tx.Do(`INSERT INTO kept VALUES (1)`) })
			if err != nil {
				outcome <- err
				return
			}
		}
	}()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); { // until it waits
		if s.SQL("postgres", `SELECT pg_cancel_backend(pid), 1 / (count(*) OVER ()) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`) == nil &&
			len(outcome) > 0 {
			break
		}
	}
	unavailable(t, <-outcome)
}

// TestCommitThatRollsBackIsError: a function that ignores the error of a statement does not succeed.
func TestCommitThatRollsBackIsError(t *testing.T) {
	t.Parallel()
	s := startServer(t, pgserver.Options{})
	d := open(t, s.DSN("postgres"))
	err := d.Write(t.Context(), func(tx *db.Tx) error {
		_, _ = tx.Exec(`INSERT INTO goose_db_version (version_id) VALUES (NULL)`) // the error that is ignored
		return nil
	})
	if err == nil {
		t.Error("a transaction that was rolled back succeeded")
	}
}

// TestCommitWaitsForDisk, also where the server's own setting is off.
func TestCommitWaitsForDisk(t *testing.T) {
	t.Parallel()
	s := startServer(t, pgserver.Options{})
	must(t, statements(s, "postgres", `ALTER SYSTEM SET synchronous_commit = off`, `SELECT pg_reload_conf()`)())
	must(t, open(t, s.DSN("postgres")).Write(t.Context(), func(tx *db.Tx) error {
		v, _, err := db.One(tx, db.Column[string], `SELECT current_setting('synchronous_commit')`)
		if v != "on" {
			t.Errorf("synchronous_commit is %s", v)
		}
		return err
	}))
}
