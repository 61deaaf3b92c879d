package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// marker is a setting of every connection. A server that does not know it later has not received the settings.
const marker = "tocsin.session"

// received reads settings of a connection.
const received = `SELECT coalesce(current_setting('` + marker + `', true), ''),
	(SELECT setting FROM pg_settings WHERE name = 'statement_timeout'), current_setting('synchronous_commit')`

// verify accepts a new connection if its server is the primary and has received the settings. Reads need the primary too:
// a standby is behind, and a reader would not find what it has just written. A commit waits for the disk, also where the
// server's own setting is off; only the address may change that.
func (e *Engine) verify(ctx context.Context, raw *pgconn.PgConn, host string) error {
	timeline, err := e.primary(ctx, raw, host)
	if err != nil {
		return err
	}
	row, err := oneRow(ctx, raw, received)
	if err == nil && e.config.RuntimeParams["synchronous_commit"] == "" && string(row[2]) == "off" {
		_, err = oneRow(ctx, raw, "SELECT set_config('synchronous_commit', 'on', FALSE)")
	}
	if err != nil {
		return err
	}
	if string(row[0]) == "" {
		return errPooled
	}
	limit, err := strconv.ParseInt(string(row[1]), 10, 64)
	if w, ok := raw.Conn().(*watchedConn); ok {
		w.timeline = timeline
		if err == nil && limit > 0 {
			w.limit.Store(int64(time.Duration(limit)*time.Millisecond + answerMargin))
		}
	}
	return nil
}

// primary returns the timeline of a server that takes writes, or an error: it is a standby or a former primary. The timeline
// is 0 on an engine that has none.
func (e *Engine) primary(ctx context.Context, raw *pgconn.PgConn, host string) (timeline int64, err error) {
	row, err := oneRow(ctx, raw, "SELECT "+timelineOf)
	var lacks *pgconn.PgError
	if errors.As(err, &lacks) && (lacks.Code == "42883" || lacks.Code == "0A000") {
		row, err = oneRow(ctx, raw, "SELECT CASE WHEN pg_is_in_recovery() THEN '' ELSE '0' END")
		if err == nil && len(row[0]) > 0 {
			return 0, nil
		}
	}
	if err != nil {
		return 0, err
	}
	if len(row[0]) == 0 {
		return 0, errStandby
	}
	timeline, err = parseTimeline(row[0])
	if err != nil {
		return 0, err
	}
	return timeline, e.outage.seen(host, timeline)
}

// errStandby is the error of a connection to a standby.
var errStandby = errors.New("the server is a standby, which takes no writes")

// oneRow returns the only row of a query.
func oneRow(ctx context.Context, raw *pgconn.PgConn, query string) ([][]byte, error) {
	results, err := raw.Exec(ctx, query).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 {
		return nil, errNoSettings
	}
	return results[0].Rows[0], nil
}

// errNoSettings is the error of a server that answers with something else.
var errNoSettings = errors.New("the server did not answer about its settings")

// errPooled is the error of a connection that loses its settings or its prepared statements.
var errPooled = errors.New("the connection does not keep its settings or statements: connect to PostgreSQL itself, " +
	"not through a connection pooler; see docs/postgresql.md")

// answerMargin is how much longer than the server's own limit a connection waits for the answer to a statement.
const answerMargin = time.Second

// watchedConn is a network connection that fails when the server is silent for longer than a statement may take. The
// network itself notices only after minutes that the other side is gone, and never that it hangs.
type watchedConn struct {
	net.Conn
	limit    atomic.Int64 // a time.Duration; 0: none, as long as the connection is being made
	timeline int64        // of the server when the connection was made; 0: not known
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
