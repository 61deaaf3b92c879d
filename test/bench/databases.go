package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/test/pgserver"
)

// setting is a database, and the nodes on it.
type setting struct {
	title    string
	embedded bool
	nodes    int
	delay    time.Duration // of each direction of the way to the database
}

var settings = []setting{
	{"embedded, one node", true, 1, 0},
	{"PostgreSQL, one node", false, 1, 0},
	{"PostgreSQL, three nodes", false, 3, 0},
	{"PostgreSQL, one node, a round trip of 2.4 ms more", false, 1, 1200 * time.Microsecond},
}

// databases measures the same work on each engine. The client, the nodes and PostgreSQL share the processors of this
// machine; a commit waits for the disk, as in production.
func databases(binary, dir string) error {
	s, err := pgserver.Start(pgserver.Options{Durable: true, Settings: map[string]string{"shared_buffers": "512MB"}})
	if errors.Is(err, pgserver.ErrMissing) {
		fmt.Printf("PostgreSQL was not measured: %v\n\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Printf("| %d clients | events/s, one by one | p50 | p99 | events/s, 8 clients, 100 in each | p99 | decided/s, opening incidents | with what follows | decided/s, repeated | reads/s | p50 |\n|---|---|---|---|---|---|---|---|---|---|---|\n", clients)
	for n, at := range settings {
		b := &bed{setting: at, binary: binary, dir: filepath.Join(dir, fmt.Sprint("databases-", n)), server: s}
		if err := b.measure(); err != nil {
			return fmt.Errorf("%s: %w", at.title, err)
		}
	}
	fmt.Println()
	return nil
}

// bed is a setting while it is measured.
type bed struct {
	setting
	binary, dir string
	server      *pgserver.Server
	made        int // databases
}

// measure prints a line of the table, of the medians of its rounds.
func (b *bed) measure() error {
	var single, batches, reads []figures
	var opens, follows, repeats []float64
	for range *rounds {
		for _, part := range []struct {
			into           *[]figures
			clients, batch int
		}{{&single, clients, 1}, {&batches, 8, 100}} {
			f, err := b.loaded(part.clients, func(client int) func() []byte { return pushes(client, part.batch) })
			if err != nil {
				return err
			}
			*part.into = append(*part.into, f)
		}
		rates, err := b.deciding()
		if err != nil {
			return err
		}
		opens = append(opens, rates[0].decided)
		follows = append(follows, rates[0].followed)
		repeats = append(repeats, rates[1].decided)
		f, err := b.reading()
		if err != nil {
			return err
		}
		reads = append(reads, f)
	}
	one := middle(single)
	many := middle(batches)
	read := middle(reads)
	short := func(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
	fmt.Printf("| %s | %.0f | %s | %s | %.0f | %s | %.0f | %.0f | %.0f | %.0f | %s |\n", b.title, one.perSecond, short(one.p50), short(one.p99),
		100*many.perSecond, short(many.p99), median(opens), median(follows), median(repeats), read.perSecond, short(read.p50))
	return nil
}

// database creates a database with the accounts of these figures, and returns its address and the file of the seal key.
func (b *bed) database() (dsn, sealKey string, err error) {
	b.made++
	dir := filepath.Join(b.dir, fmt.Sprint(b.made))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", "", err
	}
	dsn, sealKey = "sqlite:"+filepath.Join(dir, "tocsin.db"), filepath.Join(dir, "seal.key")
	if !b.embedded {
		name := strings.NewReplacer("/", "_", "-", "_").Replace(strings.TrimPrefix(dir, os.TempDir()+"/"))
		if err := b.server.SQL("postgres", `CREATE DATABASE "`+name+`" TEMPLATE template0`); err != nil {
			return "", "", err
		}
		dsn = b.server.DSN(name)
	}
	sections, err := json.Marshal(eventAccountOf(0, false))
	if err != nil {
		return "", "", err
	}
	for n := range decidingAccounts {
		file, err := accountfile.Read(strings.NewReader(of(n).Replace(string(sections))))
		if err != nil {
			return "", "", err
		}
		if err := imported(app.Config{DB: dsn, SealKeyFile: sealKey, Clock: clock.System}, file); err != nil {
			return "", "", err
		}
	}
	return dsn, sealKey, nil
}

// decidingAccounts is how many accounts have events that wait: the events of one are decided one after the other.
const decidingAccounts = 8

// of makes the ids and keys of the account of these figures those of another account; 0: the same.
func of(account int) *strings.Replacer {
	return strings.NewReplacer("7000000000", fmt.Sprint(7_000_000_000+account), eventKey[:8], fmt.Sprintf("%08d", 112233+account))
}

// start starts the nodes on a database. The function that is returned stops them.
func (b *bed) start(dsn, sealKey string) (nodes []*process, stop func() error, err error) {
	ends := []func() error{}
	stop = func() error {
		var errs []error
		for _, end := range ends {
			errs = append(errs, end())
		}
		return errors.Join(errs...)
	}
	if b.delay > 0 {
		link, err := delayed(fmt.Sprintf("127.0.0.1:%d", b.server.Port), b.delay)
		if err != nil {
			return nil, stop, err
		}
		dsn = strings.Replace(dsn, fmt.Sprintf("127.0.0.1:%d", b.server.Port), link.Addr().String(), 1)
		defer func() { ends = append(ends, link.Close) }() // after the nodes
	}
	for range b.nodes {
		p, err := start(b.binary, "serve", "--listen", "127.0.0.1:0", "--db", dsn, "--seal-key-file", sealKey, "--log-level", "error",
			"--limit-per-second", "0", "--limit-per-minute", "0", "--push-per-second", "0", "--push-per-minute", "0")
		if err != nil {
			return nil, stop, errors.Join(err, stop())
		}
		nodes, ends = append(nodes, p), append(ends, p.stop)
	}
	return nodes, stop, nil
}

// loaded sends events to nodes on a new database, each client to one of them.
func (b *bed) loaded(clients int, requests func(client int) func() []byte) (f figures, err error) {
	dsn, sealKey, err := b.database()
	if err != nil {
		return f, err
	}
	nodes, stop, err := b.start(dsn, sealKey)
	if err != nil {
		return f, err
	}
	f, err = loadNodes(nodes, requests, clients)
	return f, errors.Join(err, stop())
}

// loadNodes divides clients among nodes.
func loadNodes(nodes []*process, requests func(client int) func() []byte, clients int) (f figures, err error) {
	type result struct {
		f   figures
		err error
	}
	results := make(chan result, len(nodes))
	for n, p := range nodes {
		share := clients/len(nodes) + min(1, max(0, clients%len(nodes)-n))
		go func() {
			f, err := loadEach(p.address, func(client int) func() []byte { return requests(n + client*len(nodes)) }, share, *span)
			results <- result{f, err}
		}()
	}
	for range nodes {
		r := <-results
		err = errors.Join(err, r.err)
		f.perSecond += r.f.perSecond
		f.p50, f.p99 = max(f.p50, r.f.p50), max(f.p99, r.f.p99)
		f.longest = max(f.longest, r.f.longest)
	}
	return f, err
}

// rate is how many events a second were accepted and decided, and with all that follows of them: escalations, follow-ups and
// the fallback.
type rate struct{ decided, followed float64 }

// deciding returns the rates for events of decidingAccounts that come faster than they are decided: those that open
// incidents, and the same once more. The nodes have done what each start does.
func (b *bed) deciding() (rates [2]rate, err error) {
	dsn, sealKey, err := b.database()
	if err != nil {
		return rates, err
	}
	for i := range rates {
		_, stop, err := b.start(dsn, sealKey)
		if err != nil {
			return rates, err
		}
		time.Sleep(4 * time.Second)
		began := time.Now()
		err = b.accept(dsn, sealKey)
		if err == nil {
			rates[i], err = b.decided(dsn, began)
		}
		err = errors.Join(err, stop())
		if err != nil {
			return rates, err
		}
	}
	return rates, nil
}

// accept stores events, and decides none.
func (b *bed) accept(dsn, sealKey string) error {
	c := config(dsn, app.Senders{})
	c.SealKeyFile = sealKey
	a, err := app.New(context.Background(), c)
	if err != nil {
		return err
	}
	defer a.Close()
	handler, err := a.Handler()
	if err != nil {
		return err
	}
	const batch = 100
	for n := 0; n < *events; n += batch {
		account := of(n / batch % decidingAccounts)
		list := make([]string, batch)
		for i := range list {
			list[i] = strings.ReplaceAll(eventText, numbered, fmt.Sprintf("%0*d", len(numbered), n+i))
		}
		reply := httptest.NewRecorder()
		handler.ServeHTTP(reply, httptest.NewRequest(http.MethodPost, account.Replace(eventPath), strings.NewReader("["+strings.Join(list, ",")+"]")))
		if reply.Code != http.StatusOK {
			return fmt.Errorf("%d %s", reply.Code, reply.Body)
		}
	}
	return nil
}

// decided waits until no event waits, and until nothing that follows does. The events were accepted from began on.
func (b *bed) decided(dsn string, began time.Time) (r rate, err error) {
	d, err := db.Connect(context.Background(), dsn)
	if err != nil {
		return r, err
	}
	defer d.Close()
	if err := none(d, `SELECT count(*) FROM event_waiting WHERE received_at <= $1`, time.Now().UnixNano()); err != nil {
		return r, err
	}
	r.decided = float64(*events) / time.Since(began).Seconds()
	err = none(d, `SELECT (SELECT count(*) FROM escalation WHERE next_at > 0 AND next_at <= $1)
		+ (SELECT count(*) FROM follow_up WHERE next_at > 0 AND next_at <= $1)
		+ (SELECT count(*) FROM untold WHERE next_at > 0 AND next_at <= $1)`, time.Now().Unix())
	r.followed = float64(*events) / time.Since(began).Seconds()
	return r, err
}

// none waits until a query counts none. It counts seldom: that takes time of the server.
func none(d *db.DB, query string, arg int64) error {
	for n := int64(-1); n != 0; time.Sleep(50 * time.Millisecond) {
		if err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
			n, _, err = db.One(tx, db.Column[int64], query, arg)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// reading calls a simple read operation.
func (b *bed) reading() (f figures, err error) {
	dsn, sealKey, err := b.database()
	if err != nil {
		return f, err
	}
	out, err := exec.Command(b.binary, "key", "create", "--db", dsn, "--seal-key-file", sealKey, "--account", fmt.Sprint(eventAccount)).Output()
	if err != nil {
		return f, err
	}
	body := fmt.Sprintf(`{"channel_id":%d}`, eventChannel)
	request := fmt.Appendf(nil, "POST /channel/info?app_key=%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		strings.TrimSpace(string(out)), len(body), body)
	nodes, stop, err := b.start(dsn, sealKey)
	if err != nil {
		return f, err
	}
	f, err = loadNodes(nodes, func(int) func() []byte { return func() []byte { return request } }, clients)
	return f, errors.Join(err, stop())
}

// delayed listens on a port of its own and passes connections on to an address, what is sent either way a while later.
func delayed(address string, by time.Duration) (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return // it is closed
			}
			out, err := net.Dial("tcp", address)
			if err != nil {
				in.Close()
				continue
			}
			go late(in, out, by)
			go late(out, in, by)
		}
	}()
	return l, nil
}

// late copies what comes from one connection to another, each piece after a while, until either ends.
func late(from, to net.Conn, by time.Duration) {
	type piece struct {
		text []byte
		due  time.Time
	}
	pieces := make(chan piece, 1024)
	go func() {
		defer close(pieces)
		for {
			text := make([]byte, 32<<10)
			n, err := from.Read(text)
			if n > 0 {
				pieces <- piece{text[:n], time.Now().Add(by)}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.text); err != nil {
			from.Close()
		}
	}
	to.Close()
}
