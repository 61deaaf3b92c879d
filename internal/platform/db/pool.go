package db

import (
	"context"
	"slices"
	"sync"
	"time"

	"tocsin/internal/platform/db/driver"
	"tocsin/internal/platform/fault"
)

// pool lends connections that read, each to one user at a time. A connection that becomes free goes to the account that
// holds the fewest, and no account may hold all of them: an account whose reads take long makes its own reads wait.
type pool struct {
	most int // that one account may hold
	mu   sync.Mutex
	size int // connections, free or lent
	free []driver.Conn
	held map[int64]int // by account
	wait []*borrower   // in order of arrival
}

// borrower waits for a connection.
type borrower struct {
	account int64
	conn    chan driver.Conn // capacity 1
}

func newPool() *pool { return &pool{held: map[int64]int{}} }

// add adds a connection. Of all, one in four is left to other accounts, one at least.
func (p *pool) add(c driver.Conn) {
	p.size++
	p.most = max(1, p.size-max(1, p.size/4))
	p.free = append(p.free, c)
}

// may reports whether an account may borrow another connection. The program's own work is not limited.
func (p *pool) may(account int64) bool { return account == NoAccount || p.held[account] < p.most }

// ask lends a connection at once, or returns a borrower that waits.
func (p *pool) ask(account int64) (driver.Conn, *borrower) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free) - 1; n >= 0 && p.may(account) {
		c := p.free[n]
		p.free = p.free[:n]
		p.held[account]++
		return c, nil
	}
	b := &borrower{account, make(chan driver.Conn, 1)}
	p.wait = append(p.wait, b)
	return nil, b
}

// put takes a connection back from an account, and lends it to the next.
func (p *pool) put(account int64, c driver.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[account]--; p.held[account] == 0 {
		delete(p.held, account)
	}
	next := -1
	for i, b := range p.wait {
		if p.may(b.account) && (next < 0 || p.held[b.account] < p.held[p.wait[next].account]) {
			next = i
		}
	}
	if next < 0 {
		p.free = append(p.free, c)
		return
	}
	b := p.wait[next]
	p.wait = slices.Delete(p.wait, next, next+1)
	p.held[b.account]++
	b.conn <- c
}

// leave removes a borrower that waits no more, and reports whether it was there. If not, a connection was lent to it.
func (p *pool) leave(b *borrower) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.wait)
	p.wait = slices.DeleteFunc(p.wait, func(other *borrower) bool { return other == b })
	return len(p.wait) < n
}

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
		d.readers.put(of, c)
		return nil, nil, err
	}
	return c, func() { d.readers.put(of, c) }, nil
}

func (d *DB) borrow(ctx context.Context, of int64) (driver.Conn, error) {
	select {
	case <-d.closed:
		return nil, ErrClosed
	default:
	}
	c, b := d.readers.ask(of)
	if b == nil {
		return c, nil
	}
	over, stop := d.patience()
	defer stop()
	var err error
	select {
	case c := <-b.conn:
		return c, nil
	case <-over:
		err = errBusy
	case <-d.closed:
		err = ErrClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	if d.readers.leave(b) {
		return nil, err
	}
	return <-b.conn, nil // it was lent meanwhile
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
