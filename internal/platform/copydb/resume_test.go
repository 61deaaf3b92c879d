package copydb_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"tocsin/internal/platform/copydb"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// The variables that make this program one that copies and stops at a moment of the copy, to be killed there.
const copyFrom, copyTo, copyUntil = "TOCSIN_COPY_FROM", "TOCSIN_COPY_TO", "TOCSIN_COPY_UNTIL"

func TestMain(m *testing.M) {
	if os.Getenv(copyFrom) == "" {
		os.Exit(m.Run())
	}
	copydb.InSmallSteps()
	until, err := strconv.Atoi(os.Getenv(copyUntil))
	if err == nil {
		n := 0
		_, err = copydb.Copy{From: os.Getenv(copyFrom), To: os.Getenv(copyTo), Now: start, Progress: func(copydb.Progress) {
			if n++; n == until {
				fmt.Println("stopped")
				select {} // in the middle of a transaction, most times
			}
		}}.Run(ctx)
	}
	fmt.Println("ended", err)
}

// kill copies in another process, which is killed at a moment. It returns false when the copy ended before.
func kill(t *testing.T, from, to string, until int) bool {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), copyFrom+"="+from, copyTo+"="+to, copyUntil+"="+strconv.Itoa(until))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	_ = c.Process.Kill() // which may have ended
	_ = c.Wait()
	if line != "stopped\n" && line != "ended <nil>\n" {
		t.Fatalf("the process that copies: %q", line)
	}
	return line == "stopped\n"
}

// ways calls fn for a copy to another engine and for one back.
func ways(t *testing.T, fn func(t *testing.T, from, to string, other func() string)) {
	t.Run("there", func(t *testing.T) { fn(t, dbtest.Migrated(t), other(t), func() string { return other(t) }) })
	t.Run("back", func(t *testing.T) { fn(t, embedded(t), dbtest.New(t), func() string { return dbtest.New(t) }) })
}

// small makes a database with some dozen rows of tables that refer to each other.
func small(t *testing.T, dsn string) {
	t.Helper()
	d := open(t, dsn)
	for account := range 4 {
		insertAccount(t, d, account)
		for team := range 5 {
			write(t, d, `INSERT INTO team (account_id, team_id, team_name) VALUES ($1, $2, 'SRE')`, account, team)
		}
	}
}

func insertAccount(t *testing.T, d *db.DB, account int) {
	t.Helper()
	write(t, d, `INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES ($1, 'Acme', 'UTC', 1, 1)`, account)
}

// A copy whose process is killed again and again, a little later each time, ends as one that was made in one go. No server
// starts on it before.
func TestKilled(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, from, to string, other func() string) {
		small(t, from)
		whole := sums(run(t, from, other()))
		kills := 0
		for until := 1; kill(t, from, to, until); until += 47 {
			kills++
			_, err := db.Open(ctx, to)
			if kills > 1 && (err == nil || !strings.Contains(err.Error(), "is not finished: continue it with: tocsin copy --from "+db.Name(from))) {
				t.Fatalf("killed at %d: a server starts: %v", until, err)
			}
		}
		if kills < 5 {
			t.Errorf("%d kills", kills)
		}
		// The last one was not killed: it ended, which a further copy of its target shows.
		if got := sums(run(t, to, other())); got != whole {
			t.Errorf("killed %d times:\n%s\nin one go:\n%s", kills, got, whole)
		}
	})
}

// stopped copies and stops at a moment.
func stopped(t *testing.T, from, to string, at func(copydb.Progress) bool) {
	t.Helper()
	interrupted, stop := context.WithCancel(ctx)
	defer stop()
	_, err := copydb.Copy{From: from, To: to, Now: start, Progress: func(p copydb.Progress) {
		if at(p) {
			stop()
		}
	}}.Run(interrupted)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "run the command again") {
		t.Fatalf("interrupted: %v", err)
	}
}

// checking is when a copy is complete, and none of it read again.
func checking(p copydb.Progress) bool { return p.Checking && p.Total > 0 }

// A copy goes on where it stopped: rows that were copied are not copied again.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, from, to string, _ func() string) {
		little(t, from)
		stopped(t, from, to, checking)
		copied := 0
		at := copydb.Progress{}
		_, err := copydb.Copy{From: from, To: to, Now: start, Progress: func(p copydb.Progress) {
			if !p.Checking && p.Table == at.Table && p.Rows != at.Rows {
				copied++
			}
			at = p
		}}.Run(ctx)
		if err != nil || copied > 0 {
			t.Errorf("rows copied again %d times, %v", copied, err)
		}
	})
}

// Between two runs the source goes on, and the target is damaged: the copy is what the source has in the end.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, from, to string, other func() string) {
		small(t, from)
		stopped(t, from, to, checking)
		for _, change := range []struct {
			name  string
			inTo  bool
			query string
		}{
			{"row added", false, `INSERT INTO seal_key (key_id, lost) VALUES ('b', FALSE)`},
			{"row changed", false, `UPDATE account SET account_name = 'New' WHERE account_id = 2`},
			{"row deleted", false, `DELETE FROM team WHERE account_id = 1 AND team_id = 1`},
			{"copy damaged", true, `UPDATE team SET team_name = 'x' WHERE account_id = 1 AND team_id = 2`},
			{"row lost", true, `DELETE FROM team WHERE account_id = 1 AND team_id = 2`},
			{"row too many", true, `INSERT INTO app_key (key_hash, account_id, key_id, key_name, person_id, permissions, status, expires_at, created_at, last_used_at)
				VALUES ('x', 1, 2, '', 1, '', 'enabled', 0, 0, 0)`},
		} {
			d, err := db.Connect(ctx, map[bool]string{false: from, true: to}[change.inTo])
			if err != nil {
				t.Fatal(err)
			}
			write(t, d, change.query)
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			stopped(t, from, to, func(p copydb.Progress) bool { return checking(p) && p.Number == p.Count })
			if got, want := contents(t, to), contents(t, from); got != want {
				t.Errorf("%s: the copy has\n%s\nthe source\n%s", change.name, got, want)
			}
		}
		if got, want := sums(run(t, from, to)), sums(run(t, from, other())); got != want {
			t.Errorf("continued:\n%s\nin one go:\n%s", got, want)
		}
	})
}

// contents returns the rows of the tables that the tests write.
func contents(t *testing.T, dsn string) string {
	t.Helper()
	d, err := db.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var b strings.Builder
	err = d.Read(ctx, func(tx *db.Tx) error {
		for _, query := range []string{
			`SELECT key_id FROM seal_key ORDER BY key_id`, `SELECT account_name FROM account ORDER BY account_id`,
			`SELECT team_name FROM team ORDER BY account_id, team_id`, `SELECT key_hash FROM app_key`,
		} {
			rows, err := db.All(tx, db.Column[string], query)
			if err != nil {
				return err
			}
			fmt.Fprintln(&b, rows)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A copy that was begun from one database is not continued from another, nor from another schema, nor when someone has the
// target open.
func TestContinueRefused(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, from, to string, other func() string) {
		little(t, from)
		stopped(t, from, to, checking)
		refused := func(from, to, want string) {
			t.Helper()
			if _, err := (copydb.Copy{From: from, To: to}).Run(ctx); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
		second := dbtest.Migrated(t)
		little(t, second)
		refused(second, to, "is a copy of "+db.Name(from)+" that is not finished, and "+db.Name(second)+" is another database")
		refused(to, other(), "is not finished: continue it with: tocsin copy")
		begun, err := db.Connect(ctx, to)
		if err != nil {
			t.Fatal(err)
		}
		refused(from, to, "in use")
		write(t, begun, `UPDATE copy_origin SET schema = schema - 1`)
		if err := begun.Close(); err != nil {
			t.Fatal(err)
		}
		refused(from, to, "was begun with schema")
	})
}

// A connection that is cut in the middle ends the copy with an error, and the next one continues it.
func TestCutConnection(t *testing.T) {
	t.Parallel()
	from := embedded(t)
	small(t, from)
	whole := sums(run(t, from, other(t)))
	if dbtest.Server == "" { // no connection but that to the file
		return
	}
	for _, back := range []bool{false, true} {
		to, result := dbtest.New(t), other(t)
		l := newLink(t, to)
		a, b := from, l.dsn
		if back {
			run(t, from, to)
			a, b = l.dsn, result
		}
		cuts := 0
		for at := 3; ; at += 10 {
			n := 0
			got, err := copydb.Copy{From: a, To: b, Now: start, Progress: func(copydb.Progress) {
				if n++; n == at {
					l.cut()
				}
			}}.Run(ctx)
			if err == nil {
				if sums(got) != whole {
					t.Errorf("cut %d times:\n%s\nin one go:\n%s", cuts, sums(got), whole)
				}
				break
			}
			cuts++
		}
		if cuts < 3 {
			t.Errorf("%d cuts", cuts)
		}
	}
}

// link passes bytes to the server of a database until it is cut.
type link struct {
	dsn string

	mu   sync.Mutex
	open []net.Conn
}

func newLink(t *testing.T, dsn string) *link {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	server := u.Host
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	u.Host = listener.Addr().String()
	l := &link{dsn: u.String()}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				near.Close()
				continue
			}
			l.mu.Lock()
			l.open = append(l.open, near, far)
			l.mu.Unlock()
			go pass(near, far)
			go pass(far, near)
		}
	}()
	return l
}

func pass(from, to net.Conn) {
	_, _ = io.Copy(to, from)
	to.Close()
}

// cut closes what is open.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.open {
		c.Close()
	}
	l.open = nil
}
