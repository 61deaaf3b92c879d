package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"tocsin/internal/platform/fault"
)

// postgresEngine is PostgreSQL, which several processes share.
type postgresEngine struct {
	dsn     string
	config  *pgconn.Config
	reached bool // the server has answered once
	outage  outage
	watch   *watchers

	migrating atomic.Int64 // the timeline on which the schema is brought up to date; 0: not known
}

// Limits of a connection, which the address may replace, as in ?statement_timeout=60s. A process that hangs inside a
// transaction holds the lock that writers wait for, so the server ends it. Those who wait for the lock wait longer than
// that, and go on. A statement of this program takes milliseconds.
const (
	dialTimeout      = 3 * time.Second // for each address
	keepAlive        = 5 * time.Second
	idleTimeout      = "4s" // inside a transaction
	lockTimeout      = "5s"
	statementTimeout = "6s"
	// A migration waits less than the statements that wait behind it: it is tried again, they are not. It also waits less than
	// the second after which the server looks for deadlocks: of two that wait for each other it is the migration that ends.
	migrationLockTimeout = "400ms"
	tcpTimeout           = "6s" // until the server drops a connection whose other side does not read
)

// postgresReaders is how many connections read: more than processors, because most of a read is a wait for the network.
// One account may use six. postgresVersionReaders is how many read versions: one is underway while the next callers gather.
const (
	postgresReaders        = 8
	postgresVersionReaders = 2
)

func newPostgres(dsn string) (*postgresEngine, error) {
	c, err := pgconn.ParseConfig(dsn)
	if err != nil { // it may hold the password
		return nil, fmt.Errorf("database %s: the address cannot be read (want postgres://USER@HOST:PORT/NAME)", Name(dsn))
	}
	if err := acceptOptions(c); err != nil {
		return nil, fmt.Errorf("database %s: %w", Name(dsn), err)
	}
	c.DialFunc = (&net.Dialer{Timeout: c.ConnectTimeout, KeepAlive: keepAlive}).DialContext
	for name, value := range map[string]string{
		"application_name": "tocsin", "statement_timeout": statementTimeout, "lock_timeout": lockTimeout,
		"idle_in_transaction_session_timeout": idleTimeout, "tcp_user_timeout": tcpTimeout, "timezone": "UTC",
		// The statements are short, and a plan is judged by the rows that it may read, not by those that it does: compiling
		// one that steps along an index took a third of a second.
		"jit":  "off",
		marker: "on",
	} {
		if c.RuntimeParams[name] == "" {
			c.RuntimeParams[name] = value
		}
	}
	c.AfterNetConnect = watch
	return &postgresEngine{dsn: dsn, config: c, watch: newWatchers(hostsOf(c))}, nil
}

// Name returns a DSN without its password, for logs and messages.
func Name(dsn string) string {
	if !strings.HasPrefix(dsn, "postgres") {
		return dsn
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return scheme(dsn)
	}
	at := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.User != nil {
		at.User = url.User(u.User.Username())
	}
	return at.String()
}

// connect opens the first connection at once, which shows whether the address is right; the others are opened when they
// are first used.
func (e *postgresEngine) connect(ctx context.Context, to purpose) (conn, error) {
	c := &postgresConn{engine: e, config: e.config.Copy(), raw: noConn(), generation: -1} // of no generation: it is not one that was lost
	c.config.OnNotice = c.noticed
	switch to {
	case reading:
		c.config.RuntimeParams["default_transaction_read_only"] = "on" // a read that writes is a mistake
	case appending:
		c.config.RuntimeParams["plan_cache_mode"] = "force_generic_plan" // its plans do not depend on the rows
	}
	if e.reached {
		return c, nil
	}
	e.watch.since(e, time.Now()) // a process that starts while a former primary still runs must find the right one
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	e.reached = true
	if len(e.watch.hosts) > 1 {
		go e.watch.run(e)
	}
	return c, nil
}

func (e *postgresEngine) close() { e.watch.stop() }

func (e *postgresEngine) onChange(report func(Found)) {
	e.outage.mu.Lock()
	defer e.outage.mu.Unlock()
	e.outage.report = report
}

func (e *postgresEngine) lost() bool {
	e.outage.mu.Lock()
	defer e.outage.mu.Unlock()
	return e.outage.err != nil
}

func (e *postgresEngine) readers() int        { return postgresReaders }
func (e *postgresEngine) versionReaders() int { return postgresVersionReaders }

// maxWait bounds how long callers wait while the connections wait for a server that hangs: as long as for a lock.
func (e *postgresEngine) maxWait() time.Duration {
	if limit, err := time.ParseDuration(e.config.RuntimeParams["lock_timeout"]); err == nil {
		return limit
	}
	return 5 * time.Second // an address may name the limit in another form
}

func (e *postgresEngine) snapshot() string { return "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" }

// lanes: a transaction waits for its commit and for the network more than it computes, and those of an account come one after
// the other. So there are more than processors, and accounts that write at the same time are usually in different lanes.
//
// One appends for all. Of what an append costs the server, most is for the commit and not for its rows: with two lanes, each would
// commit half as many rows, and a single event costs twice as much.
func (e *postgresEngine) lanes() (writers, claimers int, appends bool) { return 4, 1, true }

func (e *postgresEngine) begin() string { return "BEGIN ISOLATION LEVEL READ COMMITTED" }

// lock locks the shards of the accounts that are written: the program reads before it writes in many places and relies
// on nothing happening in between, in any process. The locks are of rows, which compatible engines have too. READ
// COMMITTED makes what is read after a lock newer than the lock; a snapshot would be older.
func (e *postgresEngine) lock(of []int64, free bool) (s statement, needed bool) {
	switch {
	case free:
		return statement{"SELECT shard FROM writer WHERE shard = ANY($1) ORDER BY shard FOR NO KEY UPDATE SKIP LOCKED", []any{of}}, true
	case len(of) == 1:
		return statement{"SELECT shard FROM writer WHERE shard = $1 FOR NO KEY UPDATE", []any{of[0]}}, true
	}
	return statement{"SELECT shard FROM writer WHERE shard < $1 ORDER BY shard FOR NO KEY UPDATE", []any{shards}}, true
}

// permitted asks in each transaction that writes, and after it has the lock: a newer program may have raised the floor
// while this one runs.
func (e *postgresEngine) permitted(tx *Tx) error {
	why, err := belowFloor(tx)
	if err != nil || why == nil {
		return err
	}
	return &fault.Error{Kind: fault.Unavailable, Message: "this server is older than the database schema: use another server",
		Cause: fmt.Errorf("%s %w", Name(e.dsn), why)}
}

// exists: the server returns an error when it is asked for a database that it lacks.
func (e *postgresEngine) exists() error { return nil }

func (e *postgresEngine) shared() bool { return true }
func (e *postgresEngine) free() int64  { return -1 } // of another machine's disk

// identity returns the number that the server's files have had since they were made, and that of the database. A standby
// has both from its primary. A dump that is restored elsewhere has others.
func (e *postgresEngine) identity(ctx context.Context, d *DB) (f FileID, err error) {
	err = d.Read(ctx, func(tx *Tx) error {
		may, _, err := One(tx, Column[bool], `SELECT has_function_privilege('pg_control_system()', 'EXECUTE')`)
		if err != nil || !may {
			return err
		}
		f, _, err = One(tx, func(scan Scan) (f FileID, err error) { return f, scan(&f.Inode, &f.Born) },
			`SELECT s.system_identifier, CAST(d.oid AS BIGINT) FROM pg_control_system() s, pg_database d WHERE d.datname = current_database()`)
		return err
	})
	return f, err
}

func (e *postgresEngine) time(ctx context.Context, d *DB) (at time.Time, err error) {
	err = d.Read(ctx, func(tx *Tx) error {
		micros, _, err := One(tx, Column[int64], `SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)`)
		at = time.UnixMicro(micros)
		return err
	})
	return at, err
}

func (e *postgresEngine) size(ctx context.Context, d *DB) (file, _ int64, err error) {
	err = d.Read(ctx, func(tx *Tx) (err error) {
		file, _, err = One(tx, Column[int64], `SELECT pg_database_size(current_database())`)
		return err
	})
	return file, 0, err
}

// others: everything that the server counts grows with this process's own changes too. Nodes write what pages must know.
func (e *postgresEngine) others(context.Context, *DB) (version int64, err error) { return 0, nil }

// migrations takes a lock for as long as it works, so that processes that start together do not migrate twice.
func (e *postgresEngine) migrations(ctx context.Context) (p *goose.Provider, end func(), err error) {
	c, err := pgx.ParseConfig(e.dsn)
	if err != nil {
		return nil, nil, errors.New("the address cannot be read")
	}
	if err := acceptOptions(&c.Config); err != nil {
		return nil, nil, err
	}
	c.DialFunc = e.config.DialFunc
	if c.RuntimeParams["lock_timeout"] == "" {
		c.RuntimeParams["lock_timeout"] = migrationLockTimeout
	}
	c.RuntimeParams["application_name"] = asMigration
	c.ValidateConnect = func(ctx context.Context, raw *pgconn.PgConn) error {
		timeline, err := e.primary(ctx, raw, "")
		e.migrating.Store(timeline)
		return err
	}
	h := stdlib.OpenDB(*c)
	if err := prepareSchema(ctx, h); err != nil {
		return nil, nil, errors.Join(err, h.Close())
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithUnlockTimeout(1, 3)) // a lock ends with its connection anyway
	if err == nil {
		p, err = goose.NewProvider(goose.DialectPostgres, h, postgresSchema{}, inAnyOrder, goose.WithSessionLocker(locker))
	}
	if err != nil {
		return nil, nil, errors.Join(err, h.Close())
	}
	return p, func() { _ = h.Close() }, nil // every migration is committed by then
}

// unknown: a table, a column, a function, or a column that must have a value.
func (e *postgresEngine) unknown(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && slices.Contains([]string{"42P01", "42703", "42883", "23502"}, refused.Code)
}

func (e *postgresEngine) inTheWay(err error) bool { return inTheWay(err) }

// inTheWay reports whether a statement failed because of the lock of another session, or of a deadlock.
func inTheWay(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && (refused.Code == "55P03" || refused.Code == "40P01")
}

// names is how many rows of table writer stand for names that are locked, after those of the shards: names that share one
// cannot be locked at once.
const names = 64

// tryLock locks the row of a name unless another transaction has locked it.
func (c *postgresConn) tryLock(name string) (ok bool, err error) {
	h := fnv.New32a()
	h.Write([]byte(name))
	_, err = c.run("SELECT shard FROM writer WHERE shard = $1 FOR NO KEY UPDATE SKIP LOCKED", []any{shards + int64(h.Sum32()%names)},
		func(Scan) (bool, error) { ok = true; return true, nil })
	return ok, err
}

// prepareSchema makes the rows that writers lock; see lock and tryLock. The lock is for processes that start together: of two that
// create a table at once one fails, even where it is created if it does not exist.
func prepareSchema(ctx context.Context, h *sql.DB) error {
	tx, err := h.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, query := range []string{
		`SELECT pg_advisory_xact_lock(7428305)`,
		`CREATE TABLE IF NOT EXISTS writer (shard BIGINT PRIMARY KEY)`,
		fmt.Sprintf(`INSERT INTO writer (shard) SELECT generate_series(0, %d) ON CONFLICT DO NOTHING`, shards+names-1),
	} {
		if _, err := tx.ExecContext(ctx, query); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}
