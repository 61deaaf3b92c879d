package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tocsin/internal/platform/db/driver"
)

// conn is a connection to PostgreSQL with its prepared statements.
type conn struct {
	engine *Engine
	config *pgconn.Config
	raw    *pgconn.PgConn
	stmts  map[string][]*statement
	made   int // statements, for their names
	unsent []unsent
	kept   []keptRows // after those

	generation  int  // see outage.lost
	unconfirmed bool // see noticed
}

// unsent is a statement that is sent with the next one; see conn.send.
type unsent struct {
	query string
	*statement
	values [][]byte
	row    driver.OnRow // nil: its rows are not needed
}

// maxUnsent bounds the statements that are kept in memory.
const maxUnsent = 500

// statement is a statement that was prepared for arguments of these types.
type statement struct {
	name  string
	types []uint32
	*pgconn.StatementDescription
}

func (c *conn) open(ctx context.Context) (err error) {
	c.generation = c.engine.outage.current()
	c.raw, err = c.engine.dialHosts(ctx, c.config)
	if err != nil {
		c.raw = noConn()
		return err
	}
	c.stmts = map[string][]*statement{}
	c.unsent = nil
	c.kept = nil
	return nil
}

// lastLine returns the last line of a text.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

func (c *conn) Close() error {
	if c.raw.IsClosed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	return c.raw.Close(ctx)
}

// prepare returns the connection's statement for a query and the types of its arguments, prepared once.
func (c *conn) prepare(query string, types []uint32) (*statement, error) {
	for _, s := range c.stmts[query] {
		if slices.Equal(s.types, types) {
			return s, nil
		}
	}
	if err := c.Flush(); err != nil { // if it cannot be prepared, only what comes after the statements before it fails
		return nil, err
	}
	c.made++
	s := &statement{name: "s" + strconv.Itoa(c.made), types: slices.Clone(types)}
	var err error
	s.StatementDescription, err = c.raw.Prepare(context.Background(), s.name, query, types)
	if err != nil {
		return nil, err
	}
	c.stmts[query] = append(c.stmts[query], s)
	return s, nil
}

// bind returns the statement of a query, prepared for the types of its arguments, and their values.
func (c *conn) bind(query string, args []any) (s unsent, err error) {
	types, values := make([]uint32, len(args)), make([][]byte, len(args))
	for i, arg := range args {
		types[i], values[i], err = valueOf(arg)
		if err != nil {
			return s, fmt.Errorf("$%d: %w", i+1, err)
		}
	}
	stmt, err := c.prepare(query, types)
	if err != nil {
		return s, c.replaced(err)
	}
	if len(stmt.ParamOIDs) != len(args) {
		return s, fmt.Errorf("%d arguments, want %d", len(args), len(stmt.ParamOIDs))
	}
	return unsent{query: query, statement: stmt, values: values}, nil
}

func (c *conn) Run(query string, args []any, row driver.OnRow) (changed int64, err error) {
	s, err := c.ready(query, args, row)
	if err != nil {
		return 0, err
	}
	c.unsent = append(c.unsent, s)
	return c.exchange()
}

func (c *conn) Send(query string, args []any, row driver.OnRow) error {
	s, err := c.ready(query, args, row)
	if err != nil {
		return err
	}
	return c.later(s)
}

// ready returns a statement that follows those that are not sent yet.
func (c *conn) ready(query string, args []any, row driver.OnRow) (s unsent, err error) {
	if err := c.releaseFor(query); err != nil {
		return s, err
	}
	s, err = c.bind(query, args)
	s.row = row
	return s, err
}

// later adds a statement to those that are sent with the next one.
func (c *conn) later(s unsent) error {
	c.unsent = append(c.unsent, s)
	if len(c.unsent) < maxUnsent {
		return nil
	}
	return c.Flush()
}

func (c *conn) Flush() error {
	if err := c.release(); err != nil || len(c.unsent) == 0 {
		return err
	}
	_, err := c.exchange()
	return err
}

// Rollback closes a connection that cannot roll back: the next transaction must not become part of this one.
func (c *conn) Rollback() {
	c.unsent, c.kept = nil, nil
	if !c.raw.IsClosed() && c.Send("ROLLBACK", nil, nil) == nil && c.Flush() == nil {
		return
	}
	_ = c.Close() // the server rolls back what it had
}

// exchange sends all statements that wait and reads their results. Where they are all that has been sent of a transaction,
// and their tables have changed since they were prepared, it does so once more. changed is of the last one.
func (c *conn) exchange() (changed int64, err error) {
	all, whole := c.unsent, c.raw.TxStatus() == 'I'
	c.unsent = nil
	sent := time.Now()
	changed, err = c.pipeline(all)
	if whole && stale(err) {
		if again, failed := c.again(all); failed == nil {
			changed, err = c.pipeline(again)
		}
	}
	return changed, c.outcome(err, sent)
}

// again connects again, which rolls back, and prepares statements there. The other connections do the same before they are
// used, so that none of them fails within a transaction.
func (c *conn) again(all []unsent) (again []unsent, err error) {
	c.engine.outage.lost(c.generation)
	c.leave(c.raw)
	if err := c.Revive(); err != nil {
		return nil, err
	}
	for _, s := range all {
		stmt, err := c.prepare(s.query, s.types)
		if err != nil {
			return nil, err
		}
		again = append(again, unsent{s.query, stmt, s.values, s.row})
	}
	return again, nil
}

// pipeline sends statements and then reads their results. After a statement that fails the server skips the others.
func (c *conn) pipeline(all []unsent) (changed int64, err error) {
	if len(all) == 1 && all[0].row != nil {
		return read(c.raw.ExecStatement(context.Background(), all[0].StatementDescription, all[0].values, inBinary, inBinary), all[0])
	}
	p := c.raw.StartPipeline(context.Background())
	for _, s := range all {
		p.SendQueryStatement(s.StatementDescription, s.values, inBinary, inBinary)
	}
	err = p.Sync()
	for i, s := range all {
		if err != nil {
			break
		}
		var result any
		result, err = p.GetResults()
		if err != nil {
			err = fmt.Errorf("%s: %w", s.query, err)
			break
		}
		rows, ok := result.(*pgconn.ResultReader)
		if !ok {
			err = fmt.Errorf("%s: the server answered with %T", s.query, result)
			break
		}
		changed, err = read(rows, s)
		if err != nil && (i < len(all)-1 || s.row == nil) {
			err = fmt.Errorf("%s: %w", s.query, err)
		}
	}
	return changed, errors.Join(err, p.Close())
}

// read reads the result of a statement.
func read(rows *pgconn.ResultReader, s unsent) (changed int64, err error) {
	r := rowOf{fields: s.Fields}
	for more := s.row != nil; more && rows.NextRow(); {
		r.values = rows.Values()
		more, err = s.row(r.scan)
		if err != nil {
			break
		}
	}
	tag, failure := rows.Close()
	if failure != nil {
		err = failure
	}
	if err == nil && s.query == "COMMIT" && tag.String() != "COMMIT" {
		err = errRolledBack
	}
	return tag.RowsAffected(), err
}

// Append sends the statements without BEGIN: those of one pipeline are one transaction. A row for which a part of its table
// is being made is refused by the part that it would have been in before; the next attempt finds the new one.
func (c *conn) Append(batches []driver.Rows) error {
	err := c.appendOnce(batches)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "23514" && strings.HasSuffix(refused.TableName, "_default") {
		err = c.appendOnce(batches)
	}
	return err
}

func (c *conn) appendOnce(batches []driver.Rows) error {
	all, checked := make([]unsent, len(batches)), map[any]bool{}
	for i, r := range batches {
		var err error
		all[i], err = c.bindInsert(r, "", checked)
		if err != nil {
			return c.replaced(err)
		}
	}
	c.unsent = all // none before all are prepared: that would send, and so commit, a part of them
	return c.Flush()
}

// inBinary is the format of all values that are sent and received.
var inBinary = []int16{1}
