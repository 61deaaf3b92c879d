package db

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// outage is what the connections of a process know together about whether the database can be reached.
type outage struct {
	mu         sync.Mutex
	generation int           // of connections; see lost
	err        error         // of the last attempt to connect; nil: it succeeded
	wait       time.Duration // from that attempt to the next
	next       time.Time
	trying     bool
}

// The pause between attempts to connect doubles from the first of these to the second.
const (
	minRedial = 100 * time.Millisecond
	maxRedial = 2 * time.Second
)

// dial connects with open. While the database is known to be down one caller at a time tries; the others fail at once,
// so that they need not wait for the timeout of an attempt each.
func (o *outage) dial(open func() error) error {
	o.mu.Lock()
	down := o.err != nil
	if down && (o.trying || time.Now().Before(o.next)) {
		defer o.mu.Unlock()
		return o.err
	}
	o.trying = down
	o.mu.Unlock()
	err := open()
	o.mu.Lock()
	defer o.mu.Unlock()
	if down {
		o.trying = false
	}
	if err == nil {
		o.err, o.wait = nil, 0
		return nil
	}
	if !down && o.err != nil { // of many who found out together the first counts
		return err
	}
	o.err = err
	o.wait = min(max(2*o.wait, minRedial), maxRedial)
	o.next = time.Now().Add(time.Duration(float64(o.wait) * (0.75 + rand.Float64()/2))) //nolint:gosec // spreads the attempts of processes
	return err
}

// current returns the generation of new connections.
func (o *outage) current() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.generation
}

// lost reports that a connection of a generation is lost. The others of that generation are probably lost too: they are
// replaced before they are used, because each would cost a caller an error, or a wait if the server does not even refuse.
func (o *outage) lost(generation int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.generation == generation {
		o.generation++
	}
}

// revive connects again when the connection is lost.
func (c *postgresConn) revive() error {
	o := &c.engine.outage
	closed := c.raw.IsClosed()
	if closed {
		o.lost(c.generation)
	}
	if !closed && c.generation == o.current() {
		return nil
	}
	if !closed {
		go c.leave(c.raw)
		c.raw = noConn()
	}
	return failedToConnect(o.dial(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), c.engine.connectTimeout())
		defer cancel()
		return c.open(ctx)
	}))
}

// noConn stands for a connection that could not be made: it is closed, and what is sent to it fails.
func noConn() *pgconn.PgConn { return &pgconn.PgConn{} }

func failedToConnect(err error) error {
	if err == nil {
		return nil
	}
	return failed("connect", err, true)
}

// leave closes a connection that the server may not answer on any more.
func (c *postgresConn) leave(raw *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	_ = raw.Close(ctx) // it is not used again, whatever happens
}

// connectTimeout is how long an attempt to connect may take: one dialTimeout for each address.
func (e *postgresEngine) connectTimeout() time.Duration {
	addresses := map[string]bool{fmt.Sprint(e.config.Host, e.config.Port): true}
	for _, f := range e.config.Fallbacks { // the same address is in it twice: with TLS and without
		addresses[fmt.Sprint(f.Host, f.Port)] = true
	}
	return time.Duration(min(len(addresses), 3)) * dialTimeout
}

// marker is a setting of every connection. A server that does not know it later has not received the settings.
const marker = "tocsin.session"

// verify accepts a new connection if its server takes writes and has received the settings. Reads need such a server too:
// a standby is behind, and a reader would not find what it has just written. A commit waits for the disk, also where the
// server's own setting is off; only the address may change that.
func (e *postgresEngine) verify(ctx context.Context, raw *pgconn.PgConn) error {
	query := `SELECT pg_is_in_recovery(), coalesce(current_setting('` + marker + `', true), ''),
		(SELECT setting FROM pg_settings WHERE name = 'statement_timeout')`
	if e.config.RuntimeParams["synchronous_commit"] == "" {
		query += `, CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', FALSE) END`
	}
	results, err := raw.Exec(ctx, query).ReadAll()
	if err != nil {
		return err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 {
		return errors.New("the server did not answer about its settings")
	}
	row := results[0].Rows[0]
	switch {
	case string(row[0]) == "t":
		return errors.New("the server is a standby, which takes no writes")
	case string(row[1]) == "":
		return errPooled
	}
	limit, err := strconv.ParseInt(string(row[2]), 10, 64)
	if w, ok := raw.Conn().(*watchedConn); ok && err == nil && limit > 0 {
		w.limit.Store(int64(time.Duration(limit)*time.Millisecond + answerMargin))
	}
	return nil
}

// errPooled is the error of a connection that loses its settings or its prepared statements.
var errPooled = errors.New("the connection does not keep its settings or statements: connect to PostgreSQL itself, " +
	"not through a connection pooler; see docs/postgresql.md")

// answerMargin is how much longer than the server's own limit a connection waits for the answer to a statement.
const answerMargin = time.Second

// watchedConn is a network connection that fails when the server is silent for longer than a statement may take. The
// network itself notices only after minutes that the other side is gone, and never that it hangs.
type watchedConn struct {
	net.Conn
	limit atomic.Int64 // a time.Duration; 0: none, as long as the connection is being made
}

func watch(_ context.Context, _ *pgconn.Config, c net.Conn) (net.Conn, error) {
	return &watchedConn{Conn: c}, nil
}

func (w *watchedConn) Read(b []byte) (int, error) {
	limit := time.Duration(w.limit.Load())
	if limit > 0 {
		_ = w.SetReadDeadline(time.Now().Add(limit)) // fails when it is closed, as Read then does
	}
	n, err := w.Conn.Read(b)
	return n, silent(err, limit)
}

func (w *watchedConn) Write(b []byte) (int, error) {
	limit := time.Duration(w.limit.Load())
	if limit > 0 {
		_ = w.SetWriteDeadline(time.Now().Add(limit))
	}
	n, err := w.Conn.Write(b)
	return n, silent(err, limit)
}

// silent hides that an error is a timeout: the driver keeps a connection after a timeout.
func silent(err error, limit time.Duration) error {
	var timeout net.Error
	if limit > 0 && errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("the database did not answer within %s", limit)
	}
	return err
}

// unavailable reports whether the server or the way to it failed and not the statement.
func (c *postgresConn) unavailable(err error) bool {
	if c.raw.IsClosed() || errors.Is(err, errUnconfirmed) {
		return true
	}
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return pgconn.Timeout(err)
	}
	switch refused.Code {
	case "25006", // the server only reads
		"25P03", "25P04", // the transaction did nothing for too long, or took too long
		"40001", "40P01", // another transaction was in the way
		"55P03", "57014": // a lock or the statement took too long
		return true
	}
	switch refused.Code[:2] {
	case "08", "53", "57", "58": // connection, resources, an operator's action, the system
		return true
	}
	return false
}

// noticed keeps what the server reports beside a result: a commit whose wait for the standby was canceled succeeds with a
// warning, although its change is lost if the standby takes over now.
func (c *postgresConn) noticed(_ *pgconn.PgConn, n *pgconn.Notice) {
	if n.Routine == "SyncRepWaitForLSN" {
		c.unconfirmed = true
	}
}

var (
	errUnconfirmed = errors.New("the standby has not confirmed the change")
	errRolledBack  = errors.New("COMMIT rolled back, because a statement of the transaction had failed")
)

// outcome returns the error of statements that ended with err: also of a COMMIT that reports none and that only the primary
// has.
func (c *postgresConn) outcome(err error) error {
	unconfirmed := c.unconfirmed
	c.unconfirmed = false
	switch {
	case err != nil:
		return c.replaced(err)
	case unconfirmed:
		return errUnconfirmed
	}
	return nil
}

// replaced closes a connection whose prepared statements do not work any more: the tables have changed, or a pooler has
// passed them to another server process. The next one prepares them again.
func (c *postgresConn) replaced(err error) error {
	var refused *pgconn.PgError
	switch {
	case stale(err):
	case errors.As(err, &refused) && (refused.Code == "26000" || refused.Code == "42P05"):
		err = errors.Join(errPooled, err)
	default:
		return err
	}
	c.leave(c.raw)
	return err
}

// stale reports whether a statement was prepared for a table that is another one now: its result has other types.
func stale(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "0A000" && refused.Routine == "RevalidateCachedQuery"
}
