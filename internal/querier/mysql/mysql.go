// Package mysql asks MySQL and MariaDB. A query must parse alone, as one statement, and as a table of another query: what
// writes does not parse inside, and what closes the bracket does not parse alone. SHOW has its own way.
//
// It must never leave a query to the server without a bound of its time: a query whose caller has gone goes on there.
package mysql

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
	"tocsin/internal/querier/sqldb"
)

// block is the block of mysql in a payload.
type block struct {
	sqldb.Block
	TLSMode string `json:"tls_mode"`
	querier.TLS
}

// Open returns the querier of a datasource. Queries name their database.
func Open(d querier.Datasource, out *egress.Client) (querier.Querier, *evaluate.Failure) {
	var b block
	config, failed := sqldb.Parse(d, &b, func() (*tls.Config, error) { return b.Mode(b.TLSMode) })
	if failed != nil {
		return nil, failed
	}
	c := mysql.NewConfig()
	c.Net, c.Addr = "tcp", d.Address
	c.User, c.Passwd = b.Username, b.Password
	c.TLS, c.ParseTime = config, true
	c.Params = map[string]string{"time_zone": "'+00:00'"}
	c.DialFunc = sqldb.Dialer{Client: out}.DialContext
	c.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, &evaluate.Failure{Kind: evaluate.Unreachable, Phase: querier.PhaseResolve, Message: "the address is not host:port"}
	}
	return sqldb.Open(sqldb.Database{
		Block: b.Block, Address: d.Address, Out: out, TLS: config, DB: sql.OpenDB(connector), Probe: "SELECT 1",
		Select: selects, End: "ROLLBACK", Refused: refused, Rights: rights,
	}), nil
}

func selects(ctx context.Context, c *sql.Conn, query string, limit int, wait time.Duration) (*sql.Rows, error) {
	var version string
	if err := c.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return nil, err
	}
	bound := fmt.Sprintf("SET SESSION max_execution_time = %d", wait.Milliseconds())
	if strings.Contains(strings.ToLower(version), "mariadb") {
		bound = fmt.Sprintf("SET SESSION max_statement_time = %.3f", wait.Seconds())
	}
	for _, statement := range []string{bound, "START TRANSACTION READ ONLY"} {
		if _, err := c.ExecContext(ctx, statement); err != nil {
			return nil, err
		}
	}
	alone, err := c.PrepareContext(ctx, query)
	if err == nil {
		err = alone.Close()
	}
	if err != nil {
		return nil, err
	}
	word := strings.Fields(query)[0] // it has parsed
	if !strings.EqualFold(word, "SHOW") {
		query = fmt.Sprintf("SELECT * FROM (%s\n) AS t LIMIT %d", query, limit)
	}
	return c.QueryContext(ctx, query) // the driver permits one statement
}

// kinds are the errors that are not those of a query.
var kinds = map[evaluate.Kind][]uint16{
	evaluate.Denied:      {1044, 1045, 1130, 1698, 3118, 4151},
	evaluate.Timeout:     {1205, 1317, 1969, 3024},
	evaluate.Unreachable: {1040, 1053, 1129, 1203, 1226},
}

func refused(err error) *evaluate.Failure {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return nil
	}
	return sqldb.Refused(kinds, e.Number, e.Message)
}

// reading are the rights that change nothing.
var reading = []string{
	"USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES", "PROCESS", "REPLICATION CLIENT", "BINLOG MONITOR", "SLAVE MONITOR", "REPLICA MONITOR",
}

// rights returns the first right of the account that is more than reading.
func rights(ctx context.Context, c *sql.Conn) (string, error) {
	grants, err := c.QueryContext(ctx, "SHOW GRANTS")
	if err != nil {
		return "", err
	}
	return sqldb.Granted(grants, func(right string) bool { return slices.Contains(reading, right) })
}
