// Package postgres is PostgreSQL, which several processes on several machines use. It must not know what any table means but
// those of its own: the locks of writers, and which tables are kept in parts.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"tocsin/internal/platform/db/driver"
	"tocsin/internal/platform/db/migrations"
)

// Engine is PostgreSQL, which several processes share.
type Engine struct {
	dsn     string
	name    string // the DSN without its password
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

// readers is how many connections read: more than processors, because most of a read is a wait for the network.
// One account may use six. versionReaders is how many read versions: one is underway while the next callers gather.
const (
	readers        = 8
	versionReaders = 2
)

// New returns the engine of a DSN. name is the DSN without its password, for messages.
func New(dsn, name string) (*Engine, error) {
	c, err := pgconn.ParseConfig(dsn)
	if err != nil { // it may hold the password
		return nil, fmt.Errorf("database %s: the address cannot be read (want postgres://USER@HOST:PORT/NAME)", name)
	}
	if err := acceptOptions(c); err != nil {
		return nil, fmt.Errorf("database %s: %w", name, err)
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
	return &Engine{dsn: dsn, name: name, config: c, watch: newWatchers(hostsOf(c))}, nil
}

// Connect opens the first connection at once, which shows whether the address is right; the others are opened when they
// are first used.
func (e *Engine) Connect(ctx context.Context, to driver.Purpose) (driver.Conn, error) {
	c := &conn{engine: e, config: e.config.Copy(), raw: noConn(), generation: -1} // of no generation: it is not one that was lost
	c.config.OnNotice = c.noticed
	switch to {
	case driver.Reading:
		c.config.RuntimeParams["default_transaction_read_only"] = "on" // a read that writes is a mistake
	case driver.Appending:
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

// Close ends what watches the hosts.
func (e *Engine) Close() { e.watch.stop() }

// OnChange calls a function when the database is lost, found again, or on another host.
func (e *Engine) OnChange(report func(driver.Found)) {
	e.outage.mu.Lock()
	defer e.outage.mu.Unlock()
	e.outage.report = report
}

// Lost reports whether the last attempt to connect has failed.
func (e *Engine) Lost() bool {
	e.outage.mu.Lock()
	defer e.outage.mu.Unlock()
	return e.outage.err != nil
}

// Traits of the engine.
//
// A transaction waits for its commit and for the network more than it computes, and those of an account come one after
// the other. So more of them write than there are processors, and accounts that write at the same time are usually in
// different lanes.
//
// One appends for all. Of what an append costs the server, most is for the commit and not for its rows: with two lanes, each would
// commit half as many rows, and a single event costs twice as much.
func (e *Engine) Traits() driver.Traits {
	return driver.Traits{
		Readers: readers, VersionReaders: versionReaders, Writers: 4, Claimers: 1, Appends: true, MaxWait: e.maxWait(),
		Begin: "BEGIN ISOLATION LEVEL READ COMMITTED", Snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
		HasTable: "SELECT 1 FROM pg_class WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relname = $1",
		// Rows that are inserted beside the lock of writers take a weaker lock on the row that they refer to, which waits for this one.
		LockRow: " WHERE account_id = $1 FOR UPDATE",
		Unhurried: []string{ // and tables are read from their begin
			"SET LOCAL statement_timeout = 0", "SET LOCAL idle_in_transaction_session_timeout = 0", "SET LOCAL synchronize_seqscans = off",
			"SET LOCAL tcp_user_timeout = 0", // it ends a connection whose reader waits, too
		},
		Filled: []string{"ANALYZE"}, // else the first plans are made for empty tables
	}
}

// maxWait bounds how long callers wait while the connections wait for a server that hangs: as long as for a lock.
func (e *Engine) maxWait() time.Duration {
	if limit, err := time.ParseDuration(e.config.RuntimeParams["lock_timeout"]); err == nil {
		return limit
	}
	return 5 * time.Second // an address may name the limit in another form
}

// Lock locks the shards of the accounts that are written: the program reads before it writes in many places and relies
// on nothing happening in between, in any process. The locks are of rows, which compatible engines have too. READ
// COMMITTED makes what is read after a lock newer than the lock; a snapshot would be older.
func (e *Engine) Lock(of []int64, free bool) driver.Statement {
	query, args := "SELECT shard FROM writer WHERE shard < $1 ORDER BY shard FOR NO KEY UPDATE", []any{driver.Shards}
	switch {
	case free:
		query, args = "SELECT shard FROM writer WHERE shard = ANY($1) ORDER BY shard FOR NO KEY UPDATE SKIP LOCKED", []any{of}
	case len(of) == 1:
		query, args = "SELECT shard FROM writer WHERE shard = $1 FOR NO KEY UPDATE", []any{of[0]}
	}
	return driver.Statement{Query: query, Args: args}
}

// LockSoon locks a shard, or fails after a tenth of a second. The function of the server catches the error of its own
// statement, which would otherwise be in the server's log several times a second.
func (e *Engine) LockSoon(shard int64) driver.Statement {
	return driver.Statement{Query: "SELECT lock_soon($1)", Args: []any{shard}}
}

// Exists returns nil: the server returns an error when it is asked for a database that it lacks.
func (e *Engine) Exists() error { return nil }

// Identity returns the number that the server's files have had since they were made, and that of the database. A standby
// has both from its primary. A dump that is restored elsewhere has others.
func (e *Engine) Identity(ctx context.Context, read driver.Read) (f driver.FileID, err error) {
	err = read(ctx, func(q driver.Queries) error {
		may, _, err := driver.One(q, driver.Column[bool], `SELECT has_function_privilege('pg_control_system()', 'EXECUTE')`)
		if err != nil || !may {
			return err
		}
		f, _, err = driver.One(q, func(scan driver.Scan) (f driver.FileID, err error) { return f, scan(&f.Inode, &f.Born) },
			`SELECT s.system_identifier, CAST(d.oid AS BIGINT) FROM pg_control_system() s, pg_database d WHERE d.datname = current_database()`)
		return err
	})
	return f, err
}

// Time returns what the clock of the server shows.
func (e *Engine) Time(ctx context.Context, read driver.Read) (at time.Time, err error) {
	err = read(ctx, func(q driver.Queries) error {
		micros, _, err := driver.One(q, driver.Column[int64], `SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)`)
		at = time.UnixMicro(micros)
		return err
	})
	return at, err
}

// Size returns the size of the database.
func (e *Engine) Size(ctx context.Context, read driver.Read) (file, _ int64, err error) {
	err = read(ctx, func(q driver.Queries) (err error) {
		file, _, err = driver.One(q, driver.Column[int64], `SELECT pg_database_size(current_database())`)
		return err
	})
	return file, 0, err
}

// Migrations takes a lock for as long as it works, so that processes that start together do not migrate twice.
func (e *Engine) Migrations(ctx context.Context) (p *goose.Provider, end func(), err error) {
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
		p, err = goose.NewProvider(goose.DialectPostgres, h, schema{}, migrations.InAnyOrder, goose.WithSessionLocker(locker))
	}
	if err != nil {
		return nil, nil, errors.Join(err, h.Close())
	}
	return p, func() { _ = h.Close() }, nil // every migration is committed by then
}

// Unknown reports whether the schema lacks something: a table, a column, a function, or a column that must have a value.
func (e *Engine) Unknown(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && slices.Contains([]string{"42P01", "42703", "42883", "23502"}, refused.Code)
}

// InTheWay reports whether a migration failed because it waited for another session.
func (e *Engine) InTheWay(err error) bool { return inTheWay(err) }

// inTheWay reports whether a statement failed because of the lock of another session, or of a deadlock.
func inTheWay(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && (refused.Code == "55P03" || refused.Code == "40P01")
}

// names is how many rows of table writer stand for names that are locked, after those of the shards: names that share one
// cannot be locked at once.
const names = 64

// TryLock locks the row of a name unless another transaction has locked it.
func (c *conn) TryLock(name string) (ok bool, err error) {
	h := fnv.New32a()
	h.Write([]byte(name))
	_, err = c.Run("SELECT shard FROM writer WHERE shard = $1 FOR NO KEY UPDATE SKIP LOCKED", []any{driver.Shards + int64(h.Sum32()%names)},
		func(driver.Scan) (bool, error) { ok = true; return true, nil })
	return ok, err
}

// prepareSchema makes the rows that writers lock; see Lock and TryLock. The lock is for processes that start together: of two that
// create a table at once one fails, even where it is created if it does not exist.
func prepareSchema(ctx context.Context, h *sql.DB) error {
	tx, err := h.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, query := range []string{
		`SELECT pg_advisory_xact_lock(7428305)`,
		`CREATE TABLE IF NOT EXISTS writer (shard BIGINT PRIMARY KEY)`,
		fmt.Sprintf(`INSERT INTO writer (shard) SELECT generate_series(0, %d) ON CONFLICT DO NOTHING`, driver.Shards+names-1),
	} {
		if _, err := tx.ExecContext(ctx, query); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}
