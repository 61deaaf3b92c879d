package driver

import (
	"errors"
	"fmt"

	"tocsin/internal/platform/fault"
)

// Scan reads the columns of the current row into pointers: to integers, text, bytes, booleans, floats, to
// types made of these, and to pointers to them, which become nil for NULL.
type Scan func(dest ...any) error

// OnRow is called for each row of a result, until it returns false or an error.
type OnRow func(Scan) (more bool, err error)

// AllRows reads no row.
func AllRows(Scan) (bool, error) { return true, nil }

// Queries runs statements, as Conn.Run.
type Queries interface {
	Run(query string, args []any, row OnRow) (changed int64, err error)
}

// Session runs statements on a connection of its own, outside of the transactions of package db. Its errors name them.
type Session struct{ Conn }

// Run runs a statement.
func (s Session) Run(query string, args []any, row OnRow) (changed int64, err error) {
	changed, err = s.Conn.Run(query, args, row)
	if err != nil {
		err = Failed(query, err, s.Unavailable(err))
	}
	return changed, err
}

// Failed adds the statement to an error. When the database failed and not the statement, the error is
// fault.Unavailable: a retry may help.
func Failed(query string, err error, unavailable bool) error {
	err = fmt.Errorf("%s: %w", query, err)
	if unavailable {
		return &fault.Error{Kind: fault.Unavailable, Message: "the database cannot be read or written just now", Cause: err}
	}
	return err
}

// ofRow is the error of a function that reads a row.
type ofRow struct{ error }

// Unwrap returns the error of the function.
func (e ofRow) Unwrap() error { return e.error }

// OfRow returns the error of a function that reads a row as one. The statement itself has not failed.
func OfRow(err error) error {
	if err == nil {
		return nil
	}
	return ofRow{err}
}

// IsOfRow reports whether an error is one of OfRow.
func IsOfRow(err error) bool { return errors.As(err, new(ofRow)) }

// Exec runs a statement and returns how many rows it changed.
func Exec(q Queries, query string, args ...any) (int64, error) { return q.Run(query, args, AllRows) }

// All reads every row of a query. Without rows the slice is empty, not nil.
func All[T any](q Queries, row func(Scan) (T, error), query string, args ...any) ([]T, error) {
	all := []T{}
	_, err := q.Run(query, args, func(scan Scan) (bool, error) {
		v, err := row(scan)
		all = append(all, v)
		return true, OfRow(err)
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// One reads the first row of a query; found is false when there is none.
func One[T any](q Queries, row func(Scan) (T, error), query string, args ...any) (v T, found bool, err error) {
	_, err = q.Run(query, args, func(scan Scan) (bool, error) {
		found = true
		var failed error
		v, failed = row(scan)
		return false, OfRow(failed)
	})
	return v, found && err == nil, err
}

// Column reads a row of one column, for queries such as SELECT count(*).
func Column[T any](scan Scan) (v T, err error) {
	err = scan(&v)
	return v, err
}
