package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/platform/db"
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

// priced is what one of something uses.
type priced struct {
	engine, title string
	reading
}

// model returns the costs of PostgreSQL for the model.
func (c *scaleBed) model(each []priced) costs {
	of := func(p ...priced) (u unit) {
		for _, p := range p {
			u.node = u.node + p.node
			u.database = u.database + p.database
			u.log = u.log + float64(p.log)
			u.stored = u.stored + float64(p.size)
		}
		return u
	}
	minute := c.idle.share(float64(time.Second) / float64(time.Minute)).share(float64(c.size))
	return costs{event: of(each[0], each[2]), repeat: of(each[1]), read: of(each[3]), idle: minute.node, idleDatabase: minute.database, account: float64(c.bytes)}
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

// costLevel is the number of accounts at which the cost of one event is measured.
const costLevel = 1000

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

// events sends events of new alerts, each of an account by chance, over some connections.
func (c *scaleBed) events(clients, count int, every time.Duration, status string) (figures, error) {
	first := c.sent
	c.sent += count
	return paced(c.node.address, clients, count, every, func(n int) []byte { return c.event(first+n, status) })
}

// event returns the request with an event of an alert. Its account depends on its number.
func (c *scaleBed) event(n int, status string) []byte {
	chance := rand.New(rand.NewPCG(uint64(n), 1))
	account, channel := chance.IntN(c.size), chance.IntN(channelsOfAccount)
	body := strings.Replace(strings.ReplaceAll(eventText, numbered, fmt.Sprintf("%0*d", len(numbered), n)), `"Info"`, strconv.Quote(status), 1)
	return fmt.Appendf(nil, "POST /event/push/alert/standard?integration_key=%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		scaleSource(account, channel), len(body), body)
}

// recover ends the alerts of the level, so that no incident is open at the next one.
func (c *scaleBed) recover() error {
	first := c.waiting
	if _, err := paced(c.node.address, 8, c.sent-first, 0, func(n int) []byte { return c.event(first+n, "Ok") }); err != nil {
		return err
	}
	return c.finished()
}

// finished waits until the events are decided and what follows from them is done, two minutes at most.
func (c *scaleBed) finished() error {
	d, err := db.Connect(context.Background(), c.dsn)
	if err != nil {
		return err
	}
	defer d.Close()
	for range 1200 {
		left := int64(0)
		if err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
			left, _, err = db.One(tx, db.Column[int64], `SELECT (SELECT count(*) FROM (SELECT 1 FROM event_waiting LIMIT 1) AS e)
				+ (SELECT count(*) FROM (SELECT 1 FROM webhook_event LIMIT 1) AS w)
				+ (SELECT count(*) FROM escalation WHERE next_at > 0 AND next_at <= $1)
				+ (SELECT count(*) FROM notice WHERE settled_at = 0 AND due_at <= $2)`, time.Now().Unix(), time.Now().UnixMilli())
			return err
		}); err != nil || left == 0 {
			time.Sleep(time.Second)
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("the work does not end")
}

// reads asks who is on call, in an account by chance.
func (c *scaleBed) reads(clients int) (figures, error) {
	return loadEach(c.node.address, func(int) func() []byte {
		return func() []byte {
			account := rand.IntN(c.size)
			return post("/schedule/info", scaleAppKey(account), fmt.Sprintf(`{"schedule_id": %d}`, scaleID(account, ofSchedule)))
		}
	}, clients, *span)
}

// costs measures what one event and one read use.
func (c *scaleBed) costs() (each []priced, err error) {
	const count = 1000
	c.waiting = c.sent
	for _, part := range []struct {
		title, status string
		again         bool
	}{
		{"an event that opens an incident, with its page", "Critical", false},
		{"the same event again", "Critical", true},
		{"the end of an alert and its incident", "Ok", true},
	} {
		if part.again {
			c.sent -= count
		}
		p, err := c.price(part.title, func() (int, error) {
			if _, err := c.events(8, count, 0, part.status); err != nil {
				return 0, err
			}
			return count, c.finished()
		})
		if err != nil {
			return nil, err
		}
		each = append(each, p)
	}
	p, err := c.price("who is on call", func() (int, error) {
		f, err := c.reads(clients)
		return f.calls, err
	})
	return append(each, p), err
}

// price measures what each of a number of things uses, beside what the node does anyway.
func (c *scaleBed) price(title string, run func() (count int, err error)) (priced, error) {
	before, err := c.kept()
	if err != nil {
		return priced{}, err
	}
	count, began := 0, time.Now()
	used, err := c.during(func() (err error) {
		count, err = run()
		return err
	})
	if err != nil {
		return priced{}, err
	}
	used = used.without(c.idle.share(1 / time.Since(began).Seconds()))
	after, err := c.kept()
	used.size = after - before
	return priced{c.title, title, used.share(float64(count))}, err
}

// kept returns the bytes on disk without the rows that were deleted.
func (c *scaleBed) kept() (int64, error) {
	if c.server != nil {
		if err := c.cleaned(); err != nil {
			return 0, err
		}
	}
	r, err := c.read()
	return r.size, err
}

// share divides a reading.
func (r reading) share(by float64) reading {
	d := func(n int64) int64 { return int64(float64(n) / by) }
	return reading{node: time.Duration(d(int64(r.node))), database: time.Duration(d(int64(r.database))), statements: d(r.statements), rows: d(r.rows), log: d(r.log), size: d(r.size)}
}

// without returns what remains of a reading without another; the size on disk stays, because idling takes none.
func (r reading) without(o reading) reading {
	less := func(a, b int64) int64 { return max(0, a-b) }
	return reading{node: time.Duration(less(int64(r.node), int64(o.node))), database: time.Duration(less(int64(r.database), int64(o.database))),
		statements: less(r.statements, o.statements), rows: less(r.rows, o.rows), log: less(r.log, o.log), size: r.size}
}
