// Package clickhouse asks ClickHouse by its native protocol. The setting readonly of each query lets the server refuse what
// writes.
//
// It must never let the settings of a profile return a part of an answer as the whole.
package clickhouse

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

	"github.com/ClickHouse/clickhouse-go/v2"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
	"tocsin/internal/querier/sqldb"
)

// block is the block of clickhouse in a payload.
type block struct {
	Database string `json:"database"`
	sqldb.Block
	MaxExecutionSeconds int64 `json:"max_execution_seconds"`
	DialTimeoutMills    int64 `json:"dial_timeout_mills"`
	TLSEnabled          bool  `json:"tls_enabled"`
	querier.TLS
}

// Open returns the querier of a datasource, whose address is that of the native protocol, or several with commas.
func Open(d querier.Datasource, out *egress.Client) (querier.Querier, *evaluate.Failure) {
	var b block
	config, failed := sqldb.Parse(d, &b, func() (*tls.Config, error) {
		if !b.TLSEnabled {
			return nil, nil
		}
		return b.Config()
	})
	if failed != nil {
		return nil, failed
	}
	var nodes []string
	for node := range strings.SplitSeq(d.Address, ",") {
		nodes = append(nodes, strings.TrimSpace(node))
	}
	dial := sqldb.Dialer{Client: out}
	db := clickhouse.OpenDB(&clickhouse.Options{
		Addr: nodes, Auth: clickhouse.Auth{Database: b.Database, Username: b.Username, Password: b.Password},
		DialTimeout: time.Duration(min(b.DialTimeoutMills, 60_000)) * time.Millisecond, ReadTimeout: querier.MaxTimeout,
		DialContext: func(ctx context.Context, address string) (net.Conn, error) {
			if b.DialTimeoutMills > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, time.Duration(b.DialTimeoutMills)*time.Millisecond)
				defer cancel()
			}
			conn, err := dial.DialContext(ctx, "tcp", address)
			if err != nil || config == nil {
				return conn, err
			}
			return handshake(ctx, conn, config, address)
		},
	})
	longest := time.Duration(min(b.MaxExecutionSeconds, 60)) * time.Second
	return sqldb.Open(sqldb.Database{
		Block: b.Block, Address: d.Address, Out: out, TLS: config, DB: db, Probe: "SELECT 1", Refused: refused, Rights: rights,
		Select: func(ctx context.Context, c *sql.Conn, query string, limit int, wait time.Duration) (*sql.Rows, error) {
			if longest > 0 {
				wait = min(wait, longest)
			}
			return selects(ctx, c, query, limit, wait)
		},
	}), nil
}

// handshake begins TLS, which the driver leaves to a dialler.
func handshake(ctx context.Context, conn net.Conn, config *tls.Config, address string) (net.Conn, error) {
	own := config.Clone()
	if own.ServerName == "" {
		own.ServerName, _, _ = net.SplitHostPort(address) //nolint:errcheck // it has been dialled
	}
	secure := tls.Client(conn, own)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}

// endless hides the deadline of a context: the driver would make it a setting, which read-only profiles refuse.
type endless struct{ context.Context }

// Deadline reports that there is none.
func (endless) Deadline() (time.Time, bool) { return time.Time{}, false }

// maxMemory bounds the memory of a query in the server, in bytes.
const maxMemory = 1 << 30

// profile is what the profile of a user permits.
type profile struct {
	readonly string // 0 may write, 1 may only read, 2 may change settings besides
	memory   uint64 // of a query, in bytes; 0: without bound
}

// profileOf returns the profile of the user. One that returns a part of an answer as the whole is an error. Old servers have no such
// setting for a query.
func profileOf(ctx context.Context, c *sql.Conn) (p profile, err error) {
	settings, err := c.QueryContext(endless{ctx}, `SELECT name, value FROM system.settings WHERE name IN ('readonly', 'max_memory_usage')
		OR name LIKE '%overflow_mode' AND value IN ('break', 'any') OR name = 'skip_unavailable_shards' AND value = '1'`)
	if err != nil {
		return p, err
	}
	defer settings.Close() //nolint:errcheck // its error is that of Err
	for settings.Next() {
		var name, value string
		if err := settings.Scan(&name, &value); err != nil {
			return p, err
		}
		switch name {
		case "readonly":
			p.readonly = value
		case "max_memory_usage":
			p.memory, err = strconv.ParseUint(value, 10, 64)
			if err != nil {
				return p, err
			}
		default:
			return p, &evaluate.Failure{Kind: evaluate.Partial, Phase: querier.PhaseQuery, Message: fmt.Sprintf(
				"the profile of the user has %s = %s, with which a part of an answer looks like the whole", name, value)}
		}
	}
	return p, settings.Err()
}

// verbs begin what reads. KILL is permitted to readers.
var verbs = []string{"SELECT", "WITH", "SHOW", "DESC", "EXISTS", "EXPLAIN"}

func selects(ctx context.Context, c *sql.Conn, query string, limit int, wait time.Duration) (*sql.Rows, error) {
	p, err := profileOf(ctx, c)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(verbs, func(verb string) bool { return strings.HasPrefix(strings.ToUpper(query), verb) }) {
		return nil, &evaluate.Failure{
			Kind: evaluate.BadQuery, Phase: querier.PhaseQuery, Message: "a query must begin with " + strings.Join(verbs, ", "),
		}
	}
	settings := clickhouse.Settings{}
	if p.readonly != "1" { // else no setting can be changed
		if p.memory == 0 || p.memory > maxMemory {
			settings["max_memory_usage"] = maxMemory
		}
		settings["max_result_rows"] = limit
		settings["max_execution_time"] = int((wait + time.Second - 1) / time.Second)
	}
	if p.readonly == "0" {
		settings["readonly"] = 1
	}
	return c.QueryContext(clickhouse.Context(endless{ctx}, clickhouse.WithSettings(settings)), query)
}

// kinds are the errors that are not those of a query.
var kinds = map[evaluate.Kind][]int32{
	evaluate.Denied:      {192, 193, 194, 195, 516},
	evaluate.Timeout:     {159, 160, 209},
	evaluate.TooMuch:     {158, 241, 307, 396},
	evaluate.Partial:     {279, 519},
	evaluate.Unreachable: {202, 210, 236, 242},
}

func refused(err error) *evaluate.Failure {
	var e *clickhouse.Exception
	if !errors.As(err, &e) {
		return nil
	}
	text, _, _ := strings.Cut(e.Message, ", e.what()") // of old servers
	return sqldb.Refused(kinds, e.Code, text)
}

// rights returns what the user may do besides reading. Servers without SHOW GRANTS know the profile alone.
func rights(ctx context.Context, c *sql.Conn) (string, error) {
	p, err := profileOf(ctx, c)
	if err != nil || p.readonly != "0" {
		return "", err
	}
	grants, err := c.QueryContext(endless{ctx}, "SHOW GRANTS")
	if err != nil {
		return "this role has a profile without readonly", nil //nolint:nilerr // an old server
	}
	return sqldb.Granted(grants, func(right string) bool { return right == "SELECT" || strings.HasPrefix(right, "SHOW") })
}
