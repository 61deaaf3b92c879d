package db

import (
	"context"
	"time"

	"tocsin/internal/platform/db/driver"
	"tocsin/internal/platform/fault"
)

// accountOf is the key of the account in a context.
type accountOf struct{}

// Strangers stands for the account of callers who are not authenticated yet. They take turns with the accounts.
const Strangers = -1

// For returns a context for work of one account. Where accounts wait for connections they take turns: an account with
// much work does not delay the others. Work without an account is the program's own.
func For(ctx context.Context, account int64) context.Context {
	return context.WithValue(ctx, accountOf{}, account)
}

// account returns the account in ctx, or NoAccount.
func account(ctx context.Context) int64 {
	n, ok := ctx.Value(accountOf{}).(int64)
	if !ok {
		return NoAccount
	}
	return n
}

// take waits until a reader is free, ctx ends or the database is closed, and connects again if it was lost. The caller
// must call back afterwards.
func (d *DB) take(ctx context.Context) (c driver.Conn, back func(), err error) {
	of := account(ctx)
	c, err = d.borrow(ctx, of)
	if err != nil {
		return nil, nil, err
	}
	if err := c.Revive(); err != nil {
		d.readers.Put(of, c)
		return nil, nil, err
	}
	return c, func() { d.readers.Put(of, c) }, nil
}

func (d *DB) borrow(ctx context.Context, of int64) (driver.Conn, error) {
	select {
	case <-d.closed:
		return nil, ErrClosed
	default:
	}
	c, b := d.readers.Ask(of)
	if b == nil {
		return c, nil
	}
	over, stop := d.patience()
	defer stop()
	var err error
	select {
	case c := <-b.Conn:
		return c, nil
	case <-over:
		err = errBusy
	case <-d.closed:
		err = ErrClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	if d.readers.Leave(b) {
		return nil, err
	}
	return <-b.Conn, nil // it was lent meanwhile
}

// errBusy is the error of a caller that has waited for a connection for as long as the engine lets it.
var errBusy = fault.New(fault.Unavailable, "all connections to the database are busy")

// patience returns a channel that receives when a caller that begins to wait for a connection must give up.
func (d *DB) patience() (over <-chan time.Time, stop func()) {
	limit := d.traits.MaxWait
	if limit == 0 {
		return nil, func() {}
	}
	t := time.NewTimer(limit)
	return t.C, func() { t.Stop() }
}
