package nodes

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	_ "tocsin/internal/cli" // so that go test does not use cached results when the program has changed
	"tocsin/test/pgserver"
)

var (
	server *pgserver.Server // nil: PostgreSQL is not installed
	binary string
	made   atomic.Int64 // databases
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "nodes")
	if err == nil {
		binary, err = Build(dir)
	}
	if err == nil {
		server, err = pgserver.Start(pgserver.Options{})
	}
	if err != nil && !errors.Is(err, pgserver.ErrMissing) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if server != nil {
		server.Close()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// database makes a database and returns its DSN.
func database(t *testing.T) string {
	t.Helper()
	if server == nil {
		t.Skip(pgserver.ErrMissing)
	}
	name := fmt.Sprint("nodes", made.Add(1))
	must(t, server.SQL("postgres", "CREATE DATABASE "+name))
	t.Cleanup(func() { must(t, server.SQL("postgres", "DROP DATABASE "+name+" WITH (FORCE)")) })
	return server.DSN(name)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// begin starts three nodes, each with a link of its own to the database.
func begin(t *testing.T) (*Cluster, []*Link) {
	t.Helper()
	dsn := database(t)
	c, err := New(binary, t.TempDir(), dsn)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	var links []*Link
	for range 3 {
		link, err := NewLink(fmt.Sprint("127.0.0.1:", server.Port))
		must(t, err)
		t.Cleanup(link.Close)
		links = append(links, link)
		_, err = c.Start(through(t, dsn, link))
		must(t, err)
	}
	return c, links
}

// through returns a DSN whose server is reached through a link.
func through(t *testing.T, dsn string, link *Link) string {
	t.Helper()
	u, err := url.Parse(dsn)
	must(t, err)
	u.Host = link.Address
	return u.String()
}

// end finishes the load and wants nothing lost, and no other lines in the logs than those expected. A receiver may have
// taken a message once more for each time that a node was disturbed.
func end(t *testing.T, c *Cluster, l *Load, disturbed int, expected ...string) (r Report) {
	t.Helper()
	r, err := c.Finish(l)
	must(t, err)
	t.Log(r)
	for _, problem := range r.Problems {
		t.Error(problem)
	}
	if r.Lost != 0 || r.Most > 1+disturbed {
		t.Errorf("%d lost; a message was taken %d times, want %d at most", r.Lost, r.Most, 1+disturbed)
	}
	if r.Acknowledged < 100 || r.Notified < 10 || r.Delivered < 50 {
		t.Error("there was too little load")
	}
	for _, n := range c.Nodes {
		usual := []string{
			"it answered 503", "notification not sent", // receivers refuse some
			"the attempt before left no result",                                                                   // of a node that has ended
			"a migration waits", "all connections to the database are busy", "the database did not answer within", // on a machine with other work
		}
		for _, line := range n.Logged(slices.Concat(expected, usual, n.expected)...) {
			t.Error(line)
		}
	}
	return r
}

// away are in the log lines of what waits for the database in vain and is tried again, or comes late.
var away = []string{
	"the database cannot be read or written just now", "the database is lost", "the database is found",
	"terminating connection due to idle-in-transaction timeout", "after its lease",
}

// What three nodes do when nothing disturbs them, and that one after the other may be stopped and started: nothing is
// sent twice.
func TestRollingRestart(t *testing.T) {
	c, _ := begin(t)
	l := StartLoad(c.URLs, 4, 40*time.Millisecond)
	for _, n := range c.Nodes {
		time.Sleep(time.Second)
		must(t, n.Stop())
		time.Sleep(time.Second / 2)
		must(t, n.Start())
	}
	time.Sleep(time.Second)
	end(t, c, l, 0)
}

// TOCSIN_NODES_ROUNDS is how often a node is killed: ten times in each database, which is then checked.
func TestNodeIsKilled(t *testing.T) {
	const each = 10
	var sum Report
	rounds, began := apitest.Setting(t, "TOCSIN_NODES_ROUNDS", 2), time.Now()
	for done := 0; done < rounds; {
		n := min(each, rounds-done)
		good := t.Run(fmt.Sprint("from ", done+1), func(t *testing.T) { sum.add(killed(t, n)) })
		done += n
		t.Logf("%d of %d kills after %s: %s", done, rounds, time.Since(began).Round(time.Second), sum)
		if !good {
			return
		}
	}
}

// killed kills one node after the other, and starts it again.
func killed(t *testing.T, rounds int) Report {
	c, _ := begin(t)
	l := StartLoad(c.URLs, 4, 60*time.Millisecond)
	for round := range rounds {
		time.Sleep(400*time.Millisecond + time.Duration(rand.IntN(600))*time.Millisecond) // its work is at another point each time
		n := c.Nodes[round%3]
		n.Kill()
		time.Sleep(300 * time.Millisecond)
		must(t, n.Start())
		if err := c.ExpireLeases(2 * time.Second); err != nil { // of those that were killed before; or in the next round
			t.Log(err)
		}
	}
	return end(t, c, l, rounds, away...)
}

// A node is frozen in the midst of its work until its leases have passed to others, and comes back.
func TestNodeIsFrozen(t *testing.T) {
	c, _ := begin(t)
	l := StartLoad(c.URLs, 4, 40*time.Millisecond)
	time.Sleep(2 * time.Second)
	frozen := time.Now()
	must(t, c.Nodes[0].Freeze())
	c.Nodes[0].expected = []string{" did not answer in "} // by its clock: it was frozen while receivers answered
	time.Sleep(10 * time.Second)                          // longer than a transaction may be idle
	t.Logf("the longest time without an acknowledgement: %s", l.Gap(frozen, time.Now()))
	must(t, c.ExpireLeases(6*time.Second))
	time.Sleep(2 * time.Second)
	must(t, c.Nodes[0].Thaw())
	time.Sleep(2 * time.Second)
	end(t, c, l, 1, away...)
}

// A node loses the database: nothing passes for a while, then connections are reset, then it is back.
func TestNodeIsCutOff(t *testing.T) {
	c, links := begin(t)
	l := StartLoad(c.URLs, 4, 40*time.Millisecond)
	time.Sleep(2 * time.Second)
	cut := time.Now()
	links[0].Silence()
	time.Sleep(10 * time.Second)
	t.Logf("the longest time without an acknowledgement: %s", l.Gap(cut, time.Now()))
	must(t, c.ExpireLeases(6*time.Second))
	links[0].Reset()
	time.Sleep(3 * time.Second)
	links[0].Repair()
	time.Sleep(3 * time.Second)
	end(t, c, l, 1, away...)
}
