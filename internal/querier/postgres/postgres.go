// Package postgres asks PostgreSQL. A query is the body of a cursor in a read-only transaction, sent by the extended protocol:
// what is no single SELECT, VALUES or WITH that only reads does not parse there.
//
// It must never send the text of a query in another place, or read the environment of libpq.
package postgres

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/stdlib"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
	"tocsin/internal/querier/sqldb"
)

// block is the block of postgres in a payload.
type block struct {
	sqldb.Block
	SSLMode  string `json:"ssl_mode"`
	Database string `json:"database"`
	querier.TLS
}

// Open returns the querier of a datasource. Without a database its name is that of the user, as PostgreSQL has it.
func Open(d querier.Datasource, out *egress.Client) (querier.Querier, *evaluate.Failure) {
	var b block
	config, failed := sqldb.Parse(d, &b, func() (*tls.Config, error) { return b.Mode(b.SSLMode) })
	if failed != nil {
		return nil, failed
	}
	host, text, _ := net.SplitHostPort(d.Address)
	port, err := strconv.ParseUint(text, 10, 16)
	c, parsed := pgx.ParseConfig("host=localhost sslmode=disable") // everything that matters is set below
	if err != nil || parsed != nil {
		return nil, &evaluate.Failure{Kind: evaluate.Unreachable, Phase: querier.PhaseResolve, Message: "the address is not host:port"}
	}
	c.Host, c.Port = host, uint16(port)
	c.User, c.Password = b.Username, b.Password
	c.Database, c.Fallbacks = b.Database, nil
	c.TLSConfig = config
	if config != nil && config.ServerName == "" {
		config.ServerName = host
	}
	if config == nil && b.SSLMode == "" { // as libpq prefers it
		c.Fallbacks = []*pgconn.FallbackConfig{{Host: host, Port: c.Port}}
		c.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}
	}
	c.RuntimeParams = map[string]string{"application_name": "tocsin", "timezone": "UTC", "datestyle": "ISO", "jit": "off"}
	c.DialFunc = sqldb.Dialer{Client: out}.DialContext
	c.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil } // egress resolves it
	c.AfterConnect = func(_ context.Context, conn *pgconn.PgConn) error {
		conn.Frontend().SetMaxBodyLen(querier.MaxBytes)
		return nil
	}
	c.DefaultQueryExecMode = pgx.QueryExecModeExec // nothing stays prepared
	return sqldb.Open(sqldb.Database{
		Block: b.Block, Address: d.Address, Out: out, TLS: config, DB: stdlib.OpenDB(*c), Probe: "SELECT 1",
		Select: selects, End: "ROLLBACK", Refused: refused, Rights: rights,
	}), nil
}

func selects(ctx context.Context, c *sql.Conn, query string, limit int, wait time.Duration) (*sql.Rows, error) {
	begin := fmt.Sprintf("BEGIN READ ONLY; SET LOCAL statement_timeout = %d; SET LOCAL cursor_tuple_fraction = 1", wait.Milliseconds())
	if _, err := c.ExecContext(ctx, begin); err != nil {
		return nil, err
	}
	declared, err := c.QueryContext(ctx, "DECLARE rows NO SCROLL CURSOR FOR "+query) // Exec would use the simple protocol
	if err != nil {
		return nil, err
	}
	if err := errors.Join(declared.Err(), declared.Close()); err != nil {
		return nil, err
	}
	return c.QueryContext(ctx, fmt.Sprintf("FETCH FORWARD %d FROM rows", limit))
}

// refused sorts errors by the classes of their codes.
func refused(err error) *evaluate.Failure {
	var e *pgconn.PgError
	var large *pgproto3.ExceededMaxBodyLenErr
	switch {
	case errors.As(err, &large):
		return &evaluate.Failure{Kind: evaluate.TooMuch, Message: "the query returns a row that is too large"}
	case !errors.As(err, &e):
		return nil
	case e.Code == "57014": // query_canceled
		return &evaluate.Failure{Kind: evaluate.Timeout, Message: e.Message}
	case strings.HasPrefix(e.Code, "28"):
		return &evaluate.Failure{Kind: evaluate.Denied, Message: e.Message}
	case slices.Contains([]string{"53", "57", "58", "XX"}, e.Code[:2]):
		return &evaluate.Failure{Kind: evaluate.Unreachable, Message: e.Message}
	}
	return &evaluate.Failure{Kind: evaluate.BadQuery, Message: e.Message}
}

// rights returns the first right of the role that is more than reading.
func rights(ctx context.Context, c *sql.Conn) (string, error) {
	var text sql.NullString
	err := c.QueryRowContext(ctx, `SELECT 'this role ' || CASE
		WHEN r.rolsuper THEN 'is a superuser'
		WHEN EXISTS (SELECT FROM pg_roles g WHERE g.rolname IN ('pg_write_all_data', 'pg_execute_server_program', 'pg_write_server_files',
			'pg_read_server_files') AND pg_has_role(r.oid, g.oid, 'MEMBER')) THEN 'may read or write more than tables of its own'
		WHEN r.rolcreaterole OR r.rolcreatedb OR r.rolreplication THEN 'may make roles or databases, or replicate'
		ELSE (SELECT 'may write the table ' || c.oid::regclass FROM pg_class c WHERE c.relkind IN ('r', 'p') AND c.oid >= 16384
			AND has_table_privilege(r.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') LIMIT 1)
		END FROM pg_roles r WHERE r.rolname = current_user`).Scan(&text)
	return text.String, err
}
