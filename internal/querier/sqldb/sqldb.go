// Package sqldb is what the queriers of SQL databases have in common: the pool of connections, the rows of an answer, and the
// failures. What a query must not do is refused by the database's own parser: see the packages of the types.
//
// It must never use a connection again after an error, return a part of an answer as the whole, or dial but through
// platform/egress.
package sqldb

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
)

// Block is what the blocks of SQL databases in a payload have in common.
type Block struct {
	Username        string `json:"username"`
	Password        string `json:"password"`
	OpenConns       int    `json:"open_conns"`
	IdleConns       int    `json:"idle_conns"`
	LifetimeSeconds int64  `json:"lifetime_seconds"`
	TimeoutMills    int64  `json:"timeout_mills"`
}

// Database is a SQL database of a type.
type Database struct {
	Block
	Address string // host:port, or several with commas
	Out     *egress.Client
	TLS     *tls.Config // nil: none
	DB      *sql.DB
	Probe   string // a query that any of its type answers
	// Select sends a query, guarded so that it cannot write, and returns its rows, of which it need not return more than limit.
	// The server must end the query after wait.
	Select func(ctx context.Context, c *sql.Conn, query string, limit int, wait time.Duration) (*sql.Rows, error)
	End    string // ends the transaction that Select began; empty: it begins none
	// Refused returns the failure of an error that the server sent; nil: it is another error.
	Refused func(error) *evaluate.Failure
	// Rights returns what the role may do besides reading; empty: nothing that is known.
	Rights func(ctx context.Context, c *sql.Conn) (string, error)
}

// Open returns the querier of a database.
func Open(d Database) querier.Querier {
	bound := func(n, otherwise int) int {
		if n <= 0 {
			return otherwise
		}
		return min(n, 100)
	}
	d.DB.SetMaxOpenConns(bound(d.OpenConns, 32))
	d.DB.SetMaxIdleConns(bound(d.IdleConns, 4))
	d.DB.SetConnMaxLifetime(10 * time.Minute)
	if d.LifetimeSeconds > 0 {
		d.DB.SetConnMaxLifetime(time.Duration(min(d.LifetimeSeconds, 86400)) * time.Second)
	}
	return &d
}

// Close closes the connections.
func (d *Database) Close() error { return d.DB.Close() }

// Query sends a query, and reads its rows.
func (d *Database) Query(ctx context.Context, a querier.Ask) ([]evaluate.Row, *evaluate.Failure) {
	text := strings.TrimLeft(strings.TrimRight(a.Expr, "; \t\r\n"), " \t\r\n")
	wait := a.WaitOf(d.TimeoutMills)
	var rows []evaluate.Row
	err := d.on(ctx, wait, func(ctx context.Context, c *sql.Conn) error {
		found, err := d.Select(ctx, c, text, a.Rows()+1, wait-min(wait/10, time.Second/2)) // the server's error is better than none
		if err == nil {
			rows, err = read(a, found)
		}
		if err == nil && d.End != "" {
			_, err = c.ExecContext(ctx, d.End)
		}
		return err
	})
	if err != nil {
		return nil, d.failure(err, text, wait)
	}
	return rows, nil
}

// errConnect is the error of a connection that could not be made.
type errConnect struct{ error }

func (e errConnect) Unwrap() error { return e.error }

// on does something on a connection. After an error the connection is closed: a query may go on in it, and drivers lose step.
func (d *Database) on(ctx context.Context, wait time.Duration, do func(context.Context, *sql.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	c, err := d.DB.Conn(ctx)
	if err != nil {
		return errConnect{err}
	}
	defer c.Close() //nolint:errcheck // the rows are read
	err = do(ctx, c)
	if err != nil {
		cancel()
		_ = c.Raw(func(any) error { return driver.ErrBadConn })
	}
	return err
}

// failure returns the failure of an error.
func (d *Database) failure(err error, text string, wait time.Duration) *evaluate.Failure {
	host := d.Address
	connect := errors.As(err, &errConnect{})
	f := &evaluate.Failure{Kind: evaluate.Unreachable, Phase: querier.PhaseQuery}
	if connect {
		f.Phase = querier.PhaseSignIn
	}
	var dial *egress.Failure
	refused := d.Refused(err)
	known := new(evaluate.Failure)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &dial):
		return querier.FailureOf(dial)
	case refused != nil:
		if connect && refused.Kind != evaluate.Denied {
			refused.Kind = evaluate.Unreachable
		}
		refused.Phase = f.Phase
		f = refused
	case errors.Is(err, errTooLarge):
		f.Kind, f.Message = evaluate.TooMuch, err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		f.Kind, f.Message = evaluate.Timeout, fmt.Sprintf("did not answer in %s", wait)
	case connect && strings.Contains(err.Error(), "TLS") || isTLS(err):
		f.Phase, f.Message = querier.PhaseTLS, "TLS: "+err.Error()
	default:
		f.Message = err.Error()
	}
	f.Message = querier.Message(host, f.Message, text, []string{d.Password})
	return f
}

// Refused returns the failure of an error that a server sent with a code. kinds lists the codes that are not those of a query.
func Refused[N comparable](kinds map[evaluate.Kind][]N, code N, message string) *evaluate.Failure {
	for kind, codes := range kinds {
		if slices.Contains(codes, code) {
			return &evaluate.Failure{Kind: kind, Message: message}
		}
	}
	return &evaluate.Failure{Kind: evaluate.BadQuery, Message: message}
}

// Granted returns the first right of SHOW GRANTS that is not one of reading. Lines without ON are of roles, whose own rights have
// lines of their own.
func Granted(grants *sql.Rows, reads func(right string) bool) (string, error) {
	defer grants.Close() //nolint:errcheck // its error is that of Err
	for grants.Next() {
		var grant string
		if err := grants.Scan(&grant); err != nil {
			return "", err
		}
		list, _, on := strings.Cut(strings.TrimPrefix(grant, "GRANT "), " ON ")
		for right := range strings.SplitSeq(list, ",") {
			right, _, _ = strings.Cut(strings.TrimSpace(right), "(") // of columns
			right = strings.TrimSpace(right)
			if on && !reads(right) && !strings.HasSuffix(right, ")") {
				return "this role has the right " + right, nil
			}
		}
	}
	return "", grants.Err()
}

// isTLS reports whether an error is that of a TLS handshake.
func isTLS(err error) bool {
	return errors.As(err, new(*tls.CertificateVerificationError)) || errors.As(err, new(tls.RecordHeaderError)) ||
		strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "x509: ")
}

// Test returns the phases of a connection, the probe, and what the role may do.
func (d *Database) Test(ctx context.Context) []querier.Phase {
	address, _, _ := strings.Cut(d.Address, ",")
	phases, ok := querier.Connect(ctx, d.Out, strings.TrimSpace(address), nil)
	if !ok {
		return phases
	}
	step := func(name string, do func(context.Context, *sql.Conn) (string, error)) bool {
		began := time.Now()
		p := querier.Phase{Name: name, OK: true}
		err := d.on(ctx, querier.DefaultTimeout, func(ctx context.Context, c *sql.Conn) (err error) {
			p.Message, err = do(ctx, c)
			return err
		})
		p.TookMS = time.Since(began).Milliseconds()
		if err != nil {
			p = querier.Failed(d.failure(err, "", querier.DefaultTimeout), time.Since(began))
			if name == querier.PhaseRights { // it is no failure of the datasource
				p = querier.Phase{Name: name, OK: true, Message: "what the role may do is not known: " + p.Message}
			}
		}
		if p.OK && p.Name == querier.PhaseSignIn && d.TLS != nil {
			phases = append(phases, querier.Phase{Name: querier.PhaseTLS, OK: true})
		}
		phases = append(phases, p)
		return p.OK
	}
	if !step(querier.PhaseSignIn, func(context.Context, *sql.Conn) (string, error) { return "", nil }) {
		return phases
	}
	began := time.Now()
	_, failed := d.Query(ctx, querier.Ask{Expr: d.Probe})
	if failed != nil {
		return append(phases, querier.Failed(failed, time.Since(began)))
	}
	phases = append(phases, querier.Phase{Name: querier.PhaseQuery, OK: true, TookMS: time.Since(began).Milliseconds()})
	step(querier.PhaseRights, d.Rights)
	if last := &phases[len(phases)-1]; strings.HasPrefix(last.Message, "this role ") {
		last.OK = false
		last.Message += ": give it one that may only SELECT"
	}
	return phases
}
