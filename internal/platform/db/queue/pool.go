package queue

import (
	"slices"
	"sync"
)

// Pool lends connections that read, each to one user at a time. A connection that becomes free goes to the account that
// holds the fewest, and no account may hold all of them: an account whose reads take long makes its own reads wait.
type Pool[C any] struct {
	most int // that one account may hold
	mu   sync.Mutex
	size int // connections, free or lent
	free []C
	held map[int64]int  // by account
	wait []*Borrower[C] // in order of arrival
}

// Borrower waits for a connection.
type Borrower[C any] struct {
	account int64
	Conn    chan C // capacity 1
}

// NewPool returns a pool without connections.
func NewPool[C any]() *Pool[C] { return &Pool[C]{held: map[int64]int{}} }

// Add adds a connection. Of all, one in four is left to other accounts, one at least.
func (p *Pool[C]) Add(c C) {
	p.size++
	p.most = max(1, p.size-max(1, p.size/4))
	p.free = append(p.free, c)
}

// may reports whether an account may borrow another connection. The program's own work is not limited.
func (p *Pool[C]) may(account int64) bool { return account == NoAccount || p.held[account] < p.most }

// Ask lends a connection at once, or returns a borrower that waits.
func (p *Pool[C]) Ask(account int64) (c C, b *Borrower[C]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free) - 1; n >= 0 && p.may(account) {
		c = p.free[n]
		p.free = p.free[:n]
		p.held[account]++
		return c, nil
	}
	b = &Borrower[C]{account, make(chan C, 1)}
	p.wait = append(p.wait, b)
	return c, b
}

// Put takes a connection back from an account, and lends it to the next.
func (p *Pool[C]) Put(account int64, c C) {
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
	b.Conn <- c
}

// Leave removes a borrower that waits no more, and reports whether it was there. If not, a connection was lent to it.
func (p *Pool[C]) Leave(b *Borrower[C]) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.wait)
	p.wait = slices.DeleteFunc(p.wait, func(other *Borrower[C]) bool { return other == b })
	return len(p.wait) < n
}

// Size returns how many connections there are, free or lent.
func (p *Pool[C]) Size() int { return p.size }
