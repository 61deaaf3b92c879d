package failover

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"tocsin/internal/platform/db"
	"tocsin/test/pgserver"
)

// proxy passes connections on to a server, until it does something else with them.
type proxy struct {
	net.Listener
	to string

	mu   sync.Mutex
	mode func(net.Conn) // what happens to a new connection; nil: it is passed on
	open map[net.Conn]bool
	dark chan struct{} // closed while bytes are passed on
}

func startProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &proxy{Listener: l, to: to, open: map[net.Conn]bool{}, dark: make(chan struct{})}
	close(p.dark)
	t.Cleanup(func() { l.Close(); p.heal(); p.cut() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

func (p *proxy) serve(c net.Conn) {
	p.mu.Lock()
	mode, to := p.mode, p.to
	p.open[c] = true
	p.mu.Unlock()
	if mode != nil {
		mode(c)
		return
	}
	server, err := net.Dial("tcp", to)
	if err != nil {
		c.Close()
		return
	}
	p.mu.Lock()
	p.open[server] = true
	p.mu.Unlock()
	go p.pass(server, c)
	p.pass(c, server)
}

// pass copies bytes; in the dark it keeps them.
func (p *proxy) pass(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		p.mu.Lock()
		dark := p.dark
		p.mu.Unlock()
		<-dark
		if err != nil {
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// swallow lets nothing through: connections stay open, new ones too.
func (p *proxy) swallow() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dark = make(chan struct{})
	p.mode = func(net.Conn) {}
	return nil
}

// refuse breaks all connections, new ones too.
func (p *proxy) refuse() error {
	p.mu.Lock()
	p.mode = func(c net.Conn) { c.Close() }
	p.mu.Unlock()
	p.cut()
	return nil
}

// lead passes new connections on to another server, and breaks those that are open.
func (p *proxy) lead(to string) {
	p.mu.Lock()
	p.to = to
	p.mu.Unlock()
	p.cut()
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // the other side sees a reset
		}
		c.Close()
	}
	clear(p.open)
}

// heal passes everything on again, also what was kept.
func (p *proxy) heal() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = nil
	select {
	case <-p.dark:
	default:
		close(p.dark)
	}
	return nil
}

// through returns the address of a database by way of a proxy.
func (p *proxy) through(database string) string {
	return "postgres://postgres@" + p.Addr().String() + "/" + database + "?sslmode=disable"
}

// TestNetworkFails: connections that are reset, and ones on which nothing arrives any more.
func TestNetworkFails(t *testing.T) {
	for name, make := range map[string]func(p *proxy) failure{
		"reset":     func(p *proxy) failure { return failure{begin: p.refuse, end: p.heal} },
		"swallowed": func(p *proxy) failure { return failure{begin: p.swallow, end: p.heal} },
		"swallowed and then reset": func(p *proxy) failure {
			return failure{begin: p.swallow, end: func() error { return errors.Join(p.refuse(), p.heal()) }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, pgserver.Options{})
			must(t, s.SQL("postgres", "CREATE DATABASE tocsin"))
			p := startProxy(t, address(s))
			make(p).try(t, p.through("tocsin"))
		})
	}
}

// address returns HOST:PORT of a server.
func address(s *pgserver.Server) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(s.DSN(""), "postgres://postgres@"), "/")
	return host
}

// TestUnknownOutcomeIsError: a write whose COMMIT arrives, and whose answer does not, returns an error; it is there.
func TestUnknownOutcomeIsError(t *testing.T) {
	t.Parallel()
	s := startServer(t, pgserver.Options{})
	must(t, s.SQL("postgres", "CREATE DATABASE tocsin"))
	p := startProxy(t, address(s))
	d := open(t, p.through("tocsin"))
	must(t, d.Write(t.Context(), func(tx *db.Tx) error { _, err := tx.Exec(`CREATE TABLE kept (n BIGINT)`); return err }))
	must(t, s.SQL("tocsin", `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1); RETURN NULL; END';
		CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON kept DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()`))
	outcome := make(chan error, 1)
	go func() {
		outcome <- d.Write(context.Background(), func(tx *db.Tx) error {
			_, err := tx.Exec(`INSERT INTO kept VALUES (1)`)
			return err
		})
	}()
	for { // until COMMIT runs
		if err := s.SQL("tocsin", `SELECT 1 / count(*) FROM pg_stat_activity WHERE query = 'COMMIT' AND state = 'active'`); err == nil {
			break
		}
	}
	must(t, p.swallow())
	unavailable(t, <-outcome)
	must(t, p.heal())
	read(t, d, `SELECT count(*) FROM kept`, 1)
}

// TestPoolerIsRefused: what stands between drops the settings of connections.
func TestPoolerIsRefused(t *testing.T) {
	t.Parallel()
	s := startServer(t, pgserver.Options{})
	p := startProxy(t, address(s))
	p.mu.Lock()
	p.mode = func(c net.Conn) {
		defer c.Close()
		start, err := pgproto3.NewBackend(c, c).ReceiveStartupMessage()
		m, ok := start.(*pgproto3.StartupMessage)
		if err != nil || !ok {
			return
		}
		m.Parameters = map[string]string{"user": m.Parameters["user"], "database": m.Parameters["database"]}
		text, err := m.Encode(nil)
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.to)
		if err != nil {
			return
		}
		defer server.Close()
		if _, err := server.Write(text); err != nil {
			return
		}
		go io.Copy(server, c)
		io.Copy(c, server)
	}
	p.mu.Unlock()
	d, err := db.Connect(t.Context(), p.through("postgres"))
	if err == nil {
		d.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "not through a connection pooler") || !strings.Contains(err.Error(), "docs/postgresql.md") {
		t.Error(err)
	}
}

// open connects to a database until the test ends.
func open(t *testing.T, dsn string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), dsn)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

// read compares the number that a query selects, once the database answers.
func read(t *testing.T, d *db.DB, query string, want int64) {
	t.Helper()
	var n int64
	var err error
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		err = d.Read(t.Context(), func(tx *db.Tx) (err error) {
			n, _, err = db.One(tx, db.Column[int64], query)
			return err
		})
		if err == nil {
			break
		}
	}
	if err != nil || n != want {
		t.Errorf("%s: %d, want %d; %v", query, n, want, err)
	}
}
