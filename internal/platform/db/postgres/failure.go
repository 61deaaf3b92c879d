package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tocsin/internal/platform/db/driver"
)

// outage is what the connections of a process know together about whether the database can be reached.
type outage struct {
	mu         sync.Mutex
	generation int           // of connections; see lost
	err        error         // of the last attempt to connect; nil: it succeeded
	wait       time.Duration // from that attempt to the next
	next       time.Time
	trying     bool

	timeline atomic.Int64       // the highest that a host that takes writes has had; 0: none was seen
	host     string             // the last that was seen as the primary
	former   int64              // the highest of the hosts that were refused in the last attempt to connect
	since    time.Time          // since when every host answers and none has the highest timeline; zero: that is not so
	reached  bool               // an attempt to connect has ended
	known    driver.Found       // what was found out last
	lostAt   time.Time          // zero: the database is not lost
	report   func(driver.Found) // see DB.OnChange; nil: no one wants to know
}

// changed reports what was found out, if it is news. The caller has the lock.
func (o *outage) changed(f driver.Found) {
	if o.known.Host == f.Host && o.known.Timeline == f.Timeline {
		return
	}
	first := !o.reached
	o.known, o.reached = driver.Found{Host: f.Host, Timeline: f.Timeline}, true
	if o.report != nil && !first {
		o.report(f)
	}
}

// connected notes that a connection to a host was opened.
func (o *outage) connected(host string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := driver.Found{Host: host, Timeline: o.timeline.Load()}
	if !o.lostAt.IsZero() {
		f.Away = time.Since(o.lostAt)
	}
	o.host = host
	o.lostAt, o.since = time.Time{}, time.Time{}
	o.changed(f)
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
	if !down {
		o.lostAt = time.Now()
	}
	o.changed(driver.Found{Err: err})
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

// Revive connects again when the connection is lost.
func (c *conn) Revive() error {
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
	return driver.Failed("connect", err, true)
}

// leave closes a connection that the server may not answer on any more.
func (c *conn) leave(raw *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	_ = raw.Close(ctx) // it is not used again, whatever happens
}

// connectTimeout is how long an attempt to connect may take: of several hosts, which are tried one after the other, the limit
// of two. The one that was seen as the primary comes first.
func (e *Engine) connectTimeout() time.Duration {
	return time.Duration(min(len(e.watch.hosts), 2)) * e.config.ConnectTimeout
}

// Unavailable reports whether the server or the way to it failed and not the statement.
func (c *conn) Unavailable(err error) bool {
	if c.raw.IsClosed() || errors.Is(err, errUnconfirmed) || errors.Is(err, driver.ErrFormer) {
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
func (c *conn) noticed(_ *pgconn.PgConn, n *pgconn.Notice) {
	if n.Routine == "SyncRepWaitForLSN" {
		c.unconfirmed = true
	}
}

var (
	errUnconfirmed = errors.New("the standby has not confirmed the change")
	errRolledBack  = errors.New("COMMIT rolled back, because a statement of the transaction had failed")
)

// outcome returns the error of statements that were sent at a time and ended with err: also of a COMMIT that reports none and
// that only the primary has, and of all that a former primary has answered.
func (c *conn) outcome(err error, sent time.Time) error {
	unconfirmed := c.unconfirmed
	c.unconfirmed = false
	switch {
	case err != nil:
		return c.replaced(err)
	case unconfirmed:
		return errUnconfirmed
	}
	c.engine.watch.fresh(c.engine, sent)
	if c.timeline() < c.engine.outage.timeline.Load() {
		go c.leave(c.raw)
		c.raw = noConn()
		return driver.ErrFormer
	}
	return nil
}

// timeline returns the timeline of the server when the connection was made.
func (c *conn) timeline() int64 {
	w, ok := c.raw.Conn().(*watchedConn)
	if !ok {
		return 0
	}
	return w.timeline
}

// replaced closes a connection whose prepared statements do not work any more: the tables have changed, or a pooler has
// passed them to another server process. The next one prepares them again.
func (c *conn) replaced(err error) error {
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
