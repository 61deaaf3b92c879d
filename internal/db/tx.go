package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"tocsin/internal/fault"
)

// conn is one connection with the statements it has prepared. Preparing costs more than most of our
// queries do, so a statement is prepared once per connection and kept: the number of distinct SQL
// texts in the program bounds the map, which is why rooms must not build SQL out of values.
type conn struct {
	raw   *sql.Conn
	stmts map[string]*sql.Stmt
}

// close finalises the statements first: the engine keeps a connection, and its lock on the file, for as
// long as it has one.
func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// Tx is one unit of work on one connection; see DB.Read, DB.Snapshot and DB.Write for what it promises.
// It must not be used by two goroutines at once nor after the function it was given to has returned.
//
// Statements are not bound to the request's context: they are short by design, and the driver starts a
// goroutine for each statement whose context can end.
type Tx struct{ conn *conn }

func (t *Tx) prepare(query string) (*sql.Stmt, error) {
	if s, ok := t.conn.stmts[query]; ok {
		return s, nil
	}
	s, err := t.conn.raw.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, failed(query, err)
	}
	t.conn.stmts[query] = s
	return s, nil
}

// failed says which statement failed. When the storage is at fault and not the statement, callers are told
// that trying again may help.
func failed(query string, err error) error {
	err = fmt.Errorf("%s: %w", query, err)
	if storageFails(err) {
		return &fault.Error{Kind: fault.Unavailable, Message: "the database cannot be read or written just now", Cause: err}
	}
	return err
}

// Exec runs a statement and tells how many rows it changed.
func (t *Tx) Exec(query string, args ...any) (int64, error) {
	s, err := t.prepare(query)
	if err != nil {
		return 0, err
	}
	r, err := s.Exec(args...)
	if err != nil {
		return 0, failed(query, err)
	}
	return r.RowsAffected()
}

// Scan reads the columns of the current row, as sql.Rows.Scan does.
type Scan func(dest ...any) error

// All reads every row of a query; no rows give an empty, non-nil slice.
func All[T any](t *Tx, row func(Scan) (T, error), query string, args ...any) ([]T, error) {
	s, err := t.prepare(query)
	if err != nil {
		return nil, err
	}
	rows, err := s.Query(args...)
	if err != nil {
		return nil, failed(query, err)
	}
	defer rows.Close()
	all := []T{}
	for rows.Next() {
		v, err := row(rows.Scan)
		if err != nil {
			return nil, failed(query, err)
		}
		all = append(all, v)
	}
	if err := rows.Err(); err != nil {
		return nil, failed(query, err)
	}
	return all, nil
}

// One reads the first row of a query; found is false when there is none.
func One[T any](t *Tx, row func(Scan) (T, error), query string, args ...any) (v T, found bool, err error) {
	s, err := t.prepare(query)
	if err != nil {
		return v, false, err
	}
	v, err = row(s.QueryRow(args...).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return v, false, nil
	}
	if err != nil {
		return v, false, failed(query, err)
	}
	return v, true, nil
}

// Column reads a row of one column, for queries such as SELECT count(*).
func Column[T any](scan Scan) (v T, err error) {
	err = scan(&v)
	return v, err
}
