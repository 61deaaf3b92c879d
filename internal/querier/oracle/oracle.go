//go:build oracle

// Package oracle asks Oracle Database. It is in programs that are built with the tag oracle, and has not been tried against a
// server: its driver and the form of its guard are all that tests know.
//
// It must never send a query but as a table of another one.
package oracle

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

	ora "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/network"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
	"tocsin/internal/querier/sqldb"
)

// block is the block of oracle in a payload. The options are those of the driver; SERVICE NAME or SID names the database.
type block struct {
	sqldb.Block
	Options map[string]string `json:"options"`
}

// permitted are the options that lead to no file and no other host.
var permitted = []string{"SERVICE NAME", "SID", "SSL", "SSL VERIFY", "CLIENT CHARSET", "LOB FETCH", "PREFETCH_ROWS"}

// Open returns the querier of a datasource.
func Open(d querier.Datasource, out *egress.Client) (querier.Querier, *evaluate.Failure) {
	var b block
	if _, failed := sqldb.Parse(d, &b, func() (*tls.Config, error) { return nil, nil }); failed != nil {
		return nil, failed
	}
	options, service := map[string]string{}, ""
	for name, value := range b.Options {
		name = strings.ToUpper(strings.ReplaceAll(name, "_", " "))
		if !slices.Contains(permitted, name) {
			return nil, querier.Unsupported("option %.40q of oracle is not supported; there are %s", name, strings.Join(permitted, ", "))
		}
		if name == "SERVICE NAME" {
			service = value
		} else {
			options[name] = value
		}
	}
	host, text, _ := net.SplitHostPort(d.Address)
	port, err := strconv.Atoi(text)
	connector, is := ora.NewConnector(ora.BuildUrl(host, port, service, b.Username, b.Password, options)).(*ora.OracleConnector)
	if err != nil || !is {
		return nil, &evaluate.Failure{Kind: evaluate.Unreachable, Phase: querier.PhaseResolve, Message: "the address is not host:port"}
	}
	connector.Dialer(sqldb.Dialer{Client: out})
	return sqldb.Open(sqldb.Database{
		Block: b.Block, Address: d.Address, Out: out, DB: sql.OpenDB(connector), Probe: "SELECT 1 FROM dual",
		Select: selects, End: "ROLLBACK", Refused: refused, Rights: rights,
	}), nil
}

func selects(ctx context.Context, c *sql.Conn, query string, limit int, _ time.Duration) (*sql.Rows, error) {
	if _, err := c.ExecContext(ctx, "SET TRANSACTION READ ONLY"); err != nil {
		return nil, err
	}
	return c.QueryContext(ctx, fmt.Sprintf("SELECT * FROM (%s\n) WHERE ROWNUM <= %d", query, limit))
}

// kinds are the errors that are not those of a query, but those of the network.
var kinds = map[evaluate.Kind][]int{
	evaluate.Denied:      {1017, 1045, 28000, 28001},
	evaluate.Timeout:     {1013}, // cancelled
	evaluate.Unreachable: {1033, 1034, 1089, 3113, 3114},
}

func refused(err error) *evaluate.Failure {
	var e *network.OracleError
	switch {
	case !errors.As(err, &e):
		return nil
	case e.ErrCode >= 12100 && e.ErrCode < 12700:
		return &evaluate.Failure{Kind: evaluate.Unreachable, Message: e.Error()}
	}
	return sqldb.Refused(kinds, e.ErrCode, e.Error())
}

// rights returns the first privilege of the session that is more than reading.
func rights(ctx context.Context, c *sql.Conn) (string, error) {
	var right string
	err := c.QueryRowContext(ctx, `SELECT privilege FROM session_privs WHERE privilege NOT IN ('CREATE SESSION', 'SELECT ANY TABLE',
		'READ ANY TABLE', 'SELECT ANY DICTIONARY') AND ROWNUM = 1`).Scan(&right)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil
	case err != nil:
		return "", err
	}
	return "this role has the right " + right, nil
}
