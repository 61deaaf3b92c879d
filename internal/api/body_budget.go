package api

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"tocsin/internal/platform/fault"
)

// Bounds of the request bodies in memory at one time (docs/operating.md, "Limits").
const (
	bodiesAtOnce   = 64 << 20 // bytes, over all connections, unless a body of the largest limit needs more
	largeBodies    = 8        // how many bodies of the largest limit there is memory for
	bodyWait       = 5 * time.Second
	accountWaiting = 100 // requests of one account that may wait for memory
	smallBody      = 64 << 10
)

// bodyBudget bounds the bytes of all request bodies in memory. A request reserves what its body can grow to before
// the first byte is read, and releases it when the call is answered.
//
// An account may hold as many bytes as remain free. So some always remain for the next account, however many accounts
// take all they can. One key of an account may hold half of that. Small bodies, such as an acknowledgement, may
// exceed an account's bound up to twice.
type bodyBudget struct {
	mu       sync.Mutex
	total    int64
	used     int64
	wait     time.Duration
	accounts map[int64]int64
	keys     map[bodyHolder]int64
	waiting  []*bodyWaiter // in order of arrival
}

// bodyHolder identifies whose bytes are counted. Without a key, the account is 0 and the network address stands for the key.
type bodyHolder struct {
	account, key int64
	network      netip.Prefix
}

type bodyWaiter struct {
	bodyHolder
	bytes   int64
	granted chan struct{}
}

func newBodyBudget(total int64, wait time.Duration) *bodyBudget {
	return &bodyBudget{total: total, wait: wait, accounts: map[int64]int64{}, keys: map[bodyHolder]int64{}}
}

// fits reports whether n more bytes may be held. When no bytes are held, any n fits: else a large body never could.
func (b *bodyBudget) fits(h bodyHolder, n int64) bool {
	free, bound := b.total-b.used, b.total-b.used
	if n <= smallBody {
		bound *= 2
	}
	return b.used == 0 || n <= free && b.accounts[h.account]+n <= bound && b.keys[h]+n <= bound/2
}

// reserve waits until n bytes may be held. It returns the fault Unavailable when none became free in time.
func (b *bodyBudget) reserve(ctx context.Context, h bodyHolder, n int64) error {
	b.mu.Lock()
	ahead := 0
	for _, w := range b.waiting {
		if w.account == h.account {
			ahead++
		}
	}
	if ahead == 0 && b.fits(h, n) {
		b.hold(h, n)
		b.mu.Unlock()
		return nil
	}
	if ahead >= accountWaiting {
		b.mu.Unlock()
		return errBusy
	}
	w := &bodyWaiter{h, n, make(chan struct{})}
	b.waiting = append(b.waiting, w)
	b.admit() // a small body may pass the large ones of its account
	b.mu.Unlock()

	timeout := time.NewTimer(b.wait)
	defer timeout.Stop()
	select {
	case <-w.granted:
		return nil
	case <-timeout.C:
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := slices.Index(b.waiting, w); n >= 0 {
		b.waiting = slices.Delete(b.waiting, n, n+1)
		return errBusy
	}
	return nil // it was granted after the timeout and before the lock
}

var errBusy = fault.New(fault.Unavailable, "too many request bodies are being read at the moment")

// hold adds n to the held bytes; n is negative when bytes are released.
func (b *bodyBudget) hold(h bodyHolder, n int64) {
	b.used += n
	if b.accounts[h.account] += n; b.accounts[h.account] == 0 {
		delete(b.accounts, h.account)
	}
	if b.keys[h] += n; b.keys[h] == 0 {
		delete(b.keys, h)
	}
}

// release subtracts n bytes and wakes the waiters that fit now.
func (b *bodyBudget) release(h bodyHolder, n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hold(h, -n)
	b.admit()
}

// admit grants waiters in order of arrival. A waiter that does not fit stays and does not block the others.
func (b *bodyBudget) admit() {
	b.waiting = slices.DeleteFunc(b.waiting, func(w *bodyWaiter) bool {
		if !b.fits(w.bodyHolder, w.bytes) {
			return false
		}
		b.hold(w.bodyHolder, w.bytes)
		close(w.granted)
		return true
	})
}

// setBusyRetry asks the caller to retry after 5 seconds, which is bodyWait, and longer than a database takes to be tried
// again.
func setBusyRetry(header http.Header) { header.Set("Retry-After", "5") }
