package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"zombiezen.com/go/sqlite" // the embedded engine, without cgo

	"tocsin/internal/platform/db/driver"
)

// conn is a connection to the embedded engine with its prepared statements.
type conn struct {
	path    string
	pragmas []string
	raw     *sqlite.Conn // nil: the connection was not used yet
	stmts   map[string]*statement
	texts   map[rowStatement]rowText
	copier  *copier // of a lane
}

// statement is a prepared statement.
type statement struct {
	*sqlite.Stmt
	args []int // the index of the argument of each parameter, in the engine's order
}

func newConn(raw *sqlite.Conn) *conn {
	return &conn{raw: raw, stmts: map[string]*statement{}, texts: map[rowStatement]rowText{}}
}

// later returns a connection that is opened when it is first used: opening reads the whole schema, and a server with
// little to do never uses most of its readers.
func later(path string, extra ...string) *conn {
	c := newConn(nil)
	c.path, c.pragmas = path, slices.Concat(pragmas, extra)
	return c
}

// Revive opens the connection. A file is not lost later.
func (c *conn) Revive() error {
	if c.raw != nil {
		return nil
	}
	raw, err := sqlite.OpenConn(c.path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	raw.SetBusyTimeout(timeout)
	c.raw = raw
	for _, pragma := range c.pragmas {
		if _, err := driver.Exec(driver.Session{Conn: c}, "PRAGMA "+pragma); err != nil {
			clear(c.stmts)
			c.raw = nil
			return errors.Join(err, raw.Close())
		}
	}
	return nil
}

// Close closes the connection with its statements. The last connection of a database copies the log, so the copier's is not.
func (c *conn) Close() error {
	var err error
	if c.copier != nil {
		err = c.copier.close()
	}
	if c.raw != nil {
		err = errors.Join(err, c.raw.Close())
	}
	return err
}

func (c *conn) Committed() { c.copier.committed() }

// Unavailable reports whether the storage failed and not the statement: a full or broken disk, or another process that
// keeps the database locked.
func (c *conn) Unavailable(err error) bool {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull, sqlite.ResultIOErr, sqlite.ResultBusy, sqlite.ResultReadOnly, sqlite.ResultCantOpen:
		return true
	}
	return false
}

// prepare returns the connection's statement for a query, prepared once.
func (c *conn) prepare(query string) (*statement, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	raw, err := c.raw.Prepare(query)
	if err != nil {
		return nil, err
	}
	s := &statement{Stmt: raw}
	for i := range raw.BindParamCount() {
		name := raw.BindParamName(i + 1) // the engine numbers $1, $2, ... by first appearance, not by name
		n, err := strconv.Atoi(name[min(1, len(name)):])
		if err != nil || n < 1 {
			return nil, fmt.Errorf("parameter %q must be $1, $2 or so", name)
		}
		s.args = append(s.args, n-1)
	}
	c.stmts[query] = s
	return s, nil
}

func (c *conn) Run(query string, args []any, row driver.OnRow) (changed int64, err error) {
	s, err := c.prepare(query)
	if err != nil {
		return 0, err
	}
	// Until it is reset, a statement keeps the state of the database that it reads, and the log grows.
	defer func() {
		if e := s.Reset(); e != nil && err == nil {
			err = e
		}
	}()
	for i, n := range s.args {
		if n >= len(args) {
			return 0, fmt.Errorf("%d arguments, want $%d", len(args), n+1)
		}
		if err := s.bind(i+1, args[n]); err != nil {
			return 0, err
		}
	}
	for {
		found, err := s.Step()
		if err != nil || !found {
			return int64(c.raw.Changes()), err
		}
		if more, err := row(s.scan); err != nil || !more {
			return int64(c.raw.Changes()), err
		}
	}
}

func (c *conn) Flush() error { return nil }

func (c *conn) Rollback() {
	_ = c.Send("ROLLBACK", nil, nil) // fails only when the engine has rolled back already
}

func (c *conn) Send(query string, args []any, row driver.OnRow) error {
	if query == beginWriting {
		return c.begin()
	}
	if row == nil {
		row = driver.AllRows
	}
	_, err := c.Run(query, args, row)
	return err
}

const beginWriting = "BEGIN IMMEDIATE"

// begin begins a transaction that writes. It tries each millisecond: the engine itself waits for up to a tenth of a second
// between two tries, and a server that writes one transaction after the other had the lock at each of them for ten seconds.
func (c *conn) begin() error {
	c.raw.SetBusyTimeout(0)
	defer c.raw.SetBusyTimeout(timeout)
	for until := time.Now().Add(timeout); ; time.Sleep(time.Millisecond) {
		_, err := c.Run(beginWriting, nil, driver.AllRows)
		if sqlite.ErrCode(err).ToPrimary() != sqlite.ResultBusy || time.Now().After(until) {
			return err
		}
	}
}

func (c *conn) Insert(r driver.Rows) error {
	return c.each(r, c.rowText(rowStatement{table: r.Table}, r.Columns, func() string {
		return r.InsertText("VALUES (" + driver.Placeholders(len(r.Columns)) + ")")
	}))
}

func (c *conn) Update(keys int, r driver.Rows) error {
	return c.each(r, c.rowText(rowStatement{table: r.Table, keys: keys}, r.Columns, func() string {
		return r.UpdateText(keys, "", driver.Placeholder)
	}))
}

func (c *conn) Upsert(keys int, r driver.Rows, set string) error {
	return c.each(r, c.rowText(rowStatement{table: r.Table, keys: keys, set: set}, r.Columns, func() string {
		return r.InsertText("VALUES ("+driver.Placeholders(len(r.Columns))+")") + r.OnConflict(keys, set)
	}))
}

// rowStatement is the kind of a statement for rows of a table: an insert has no keys, an update has no set.
type rowStatement struct {
	table string
	keys  int
	set   string
}

// rowText is the text of a statement for rows with these columns.
type rowText struct {
	columns []string
	text    string
}

// rowText returns the text of a statement. It is built once, because that costs as much as a step of the engine: again only
// when rows of the table come with other columns than the last ones.
func (c *conn) rowText(of rowStatement, columns []string, build func() string) string {
	known, ok := c.texts[of]
	if !ok || !slices.Equal(known.columns, columns) {
		known = rowText{columns, build()}
		c.texts[of] = known
	}
	return known.text
}

// each runs a statement for each row.
func (c *conn) each(r driver.Rows, query string) error {
	for _, row := range r.Values {
		if err := c.Send(query, row, nil); err != nil {
			return err
		}
	}
	return nil
}
