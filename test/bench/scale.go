package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tocsin/test/pgserver"
)

// scale measures what grows with the number of accounts: on the embedded engine, then on PostgreSQL. Each account has the
// same small configuration. The node, PostgreSQL and the client share the processors of this machine.
func scale(binary, dir string) error {
	fmt.Printf("| database, accounts | bytes an account | start | resident | with load | idle, a minute: node | database | statements | rows | with open incidents: node | database | statements | one event p50 | p99 | who is on call p50 | p99 |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	var all []priced
	var model costs
	for _, embedded := range []bool{true, false} {
		c := &scaleBed{binary: binary, dir: filepath.Join(dir, fmt.Sprint("scale-", embedded)), title: "PostgreSQL"}
		if embedded {
			c.title = "embedded"
		} else {
			var err error
			c.server, err = pgserver.Start(pgserver.Options{Durable: true, Settings: map[string]string{
				"shared_buffers": "512MB", "shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.track_utility": "off"}})
			if errors.Is(err, pgserver.ErrMissing) {
				fmt.Printf("\nPostgreSQL was not measured: %v\n", err)
				break
			}
			if err != nil {
				return err
			}
		}
		each, err := c.levels()
		if c.server != nil {
			err = errors.Join(err, c.server.Close())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.title, err)
		}
		all = append(all, each...)
		if c.server != nil && len(each) > 0 {
			model = c.model(each)
		}
	}
	if len(all) == 0 {
		return nil // no level has costs
	}
	fmt.Printf("\n| at %d accounts, for each | processor of the node | of the database | statements | log written | bytes stored |\n|---|---|---|---|---|---|\n", costLevel)
	for _, p := range all {
		database := ""
		if p.statements > 0 {
			database = fmt.Sprint(p.database.Round(time.Microsecond), " | ", p.statements)
		}
		fmt.Printf("| %s: %s | %s | %s | %d | %d |\n", p.engine, p.title, p.node.Round(time.Microsecond), cmp.Or(database, " | "), p.log, p.size)
	}
	if model.account > 0 {
		fmt.Printf("\nComputed from these costs:\n\n")
		models(model)
	}
	return nil
}

// scaleBed is a database with more and more accounts while it is measured.
type scaleBed struct {
	title, binary, dir string
	server             *pgserver.Server // nil: the embedded engine
	dsn, sealKey       string
	*meter

	phones  *httptest.Server // takes notifications
	first   []pattern        // the first account
	size    int              // accounts
	idle    reading          // in a second
	bytes   int64            // of an account
	sent    int              // events so far
	waiting int              // the event from which on alerts are open
}

// levels measures the numbers of accounts one after the other. It returns the lines of the second table.
func (c *scaleBed) levels() (each []priced, err error) {
	if err := c.create(); err != nil {
		return nil, err
	}
	defer func() { c.phones.Close(); err = errors.Join(err, c.meter.close()) }()
	for text := range strings.SplitSeq(*accounts, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		if err := c.grow(n); err != nil {
			return nil, err
		}
		if err := c.start(); err != nil {
			return nil, err
		}
		err = c.level()
		if err == nil && n == costLevel {
			each, err = c.costs()
		}
		err = errors.Join(err, c.node.stop())
		if err != nil {
			return nil, fmt.Errorf("%d accounts: %w", n, err)
		}
		c.node = nil
	}
	return each, nil
}

// create makes the database with one account. A server runs on it until it has derived what depends on the configuration:
// the copies then have it too.
func (c *scaleBed) create() (err error) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	c.dsn = "sqlite:" + filepath.Join(c.dir, "tocsin.db")
	c.sealKey = filepath.Join(c.dir, "seal.key")
	c.size = 1
	if c.server != nil {
		if err := c.server.SQL("postgres", `CREATE DATABASE scale TEMPLATE template0`); err != nil {
			return err
		}
		c.dsn = c.server.DSN("scale")
	}
	if err := populate(c.dsn, c.sealKey); err != nil {
		return err
	}
	c.meter, err = meterOf(c.dsn, c.server)
	if err != nil {
		return err
	}
	c.phones = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if err := c.start(); err != nil {
		return err
	}
	time.Sleep(4 * time.Second)
	if err := c.node.stop(); err != nil {
		return err
	}
	c.first, err = patterns(c.dsn)
	return err
}

// grow adds accounts, and measures the bytes that each takes.
func (c *scaleBed) grow(to int) error {
	if to <= c.size {
		return nil
	}
	used, err := c.during(func() error {
		if err := multiply(c.dsn, c.first, c.size, to); err != nil || c.server == nil {
			return err
		}
		return c.cleaned()
	})
	c.bytes, c.size = used.size/int64(to-c.size), to
	return err
}

// cleaned does what the autovacuum does within a minute.
func (c *scaleBed) cleaned() error {
	_, err := c.sql.Exec(context.Background(), `VACUUM ANALYZE`).ReadAll()
	return err
}

func (c *scaleBed) start() (err error) {
	c.node, err = start(c.binary, "serve", "--listen", "127.0.0.1:0", "--db", c.dsn, "--seal-key-file", c.sealKey, "--log-level", "error",
		"--limit-per-second", "0", "--limit-per-minute", "0", "--push-per-second", "0", "--push-per-minute", "0",
		"--gateway", c.phones.URL, "--outbound-allow", "127.0.0.1/32")
	return err
}

// level measures a number of accounts and prints a line of the table.
func (c *scaleBed) level() error {
	pause := func() error { time.Sleep(*idleFor); return nil }
	c.node.settle() // what a start sets off
	quiet, err := c.during(pause)
	if err != nil {
		return err
	}
	c.idle = quiet.share(float64(*idleFor) / float64(time.Second))
	resident := c.node.resident()
	c.waiting = c.sent
	events, err := c.events(1, openEvents, openEvery, "Critical")
	if err != nil {
		return err
	}
	if err := c.finished(); err != nil {
		return err
	}
	open, err := c.during(pause)
	if err != nil {
		return err
	}
	reads, err := c.reads(1)
	if err != nil {
		return err
	}
	if _, err := c.reads(clients); err != nil {
		return err
	}
	loaded := c.node.resident()
	if err := c.recover(); err != nil {
		return err
	}
	minute := func(r reading) reading { return r.share(float64(*idleFor) / float64(time.Minute)) }
	q, o := minute(quiet), minute(open)
	short := func(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
	fmt.Printf("| %s, %d | %d | %s | %.0f MB | %.0f MB | %.1f s | %s | %s | %s | %.1f s | %s | %s | %s | %s | %s | %s |\n", c.title, c.size, c.bytes,
		c.node.took.Round(10*time.Millisecond), resident, loaded, q.node.Seconds(), c.seconds(q), c.count(q.statements), c.count(q.rows),
		o.node.Seconds(), c.seconds(o), c.count(o.statements), short(events.p50), short(events.p99), short(reads.p50), short(reads.p99))
	return nil
}

func (c *scaleBed) seconds(r reading) string {
	if c.server == nil {
		return ""
	}
	return fmt.Sprintf("%.1f s", r.database.Seconds())
}

func (c *scaleBed) count(n int64) string {
	if c.server == nil {
		return ""
	}
	return fmt.Sprint(n)
}

// The events that open incidents at each level: so many, and so long from one to the next.
const (
	openEvents = 600
	openEvery  = 5 * time.Millisecond
)
