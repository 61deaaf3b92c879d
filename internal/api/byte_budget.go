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

// Bounds of the request bodies and of the replies in memory at one time (docs/operating.md, "Limits").
const (
	bodiesAtOnce   = 64 << 20 // bytes, over all connections, unless a body of the largest limit needs more
	largeBodies    = 8        // how many bodies of the largest limit there is memory for
	repliesAtOnce  = 64 << 20 // bytes, over all connections
	repliesWaiting = 16 << 20 // bytes of replies that wait until others have been read: they are in memory, too
	budgetWait     = 5 * time.Second
	accountWaiting = 100 // requests of one account that may wait for memory
	smallBody      = 64 << 10
)

// byteBudget bounds the bytes of all request bodies in memory, or of all replies. A request reserves what its body can
// grow to before the first byte is read, and releases it when the call is answered. A reply is reserved when its length is
// known, and released when it was written.
//
// An account may hold as many bytes as remain free. So some always remain for the next account, however many accounts
// take all they can. One key of an account may hold half of that. Small bodies, such as an acknowledgement, may
// exceed an account's bound up to twice.
type byteBudget struct {
	mu       sync.Mutex
	total    int64
	used     int64
	wait     time.Duration
	busy     error // what is answered when no bytes became free in time
	queue    int64 // bytes that may wait because they are in memory already; 0: what waits is not
	queued   int64
	accounts map[int64]int64
	keys     map[byteHolder]int64
	waiting  []*byteWaiter // in order of arrival
}

// byteHolder identifies whose bytes are counted. Without a key, the account is 0 and the network address stands for the key.
type byteHolder struct {
	account, key int64
	network      netip.Prefix
}

type byteWaiter struct {
	byteHolder
	bytes   int64
	granted chan struct{}
}

func newBodyBudget(total int64, wait time.Duration) *byteBudget {
	return &byteBudget{total: total, wait: wait, busy: errBusy, accounts: map[int64]int64{}, keys: map[byteHolder]int64{}}
}

func newReplyBudget(total, queue int64, wait time.Duration) *byteBudget {
	b := newBodyBudget(total, wait)
	b.busy, b.queue = errUnread, queue
	return b
}

// fits reports whether n more bytes may be held. When no bytes are held, any n fits: else a large body never could.
func (b *byteBudget) fits(h byteHolder, n int64) bool {
	free, bound := b.total-b.used, b.total-b.used
	if n <= smallBody {
		bound *= 2
	}
	return b.used == 0 || n <= free && b.accounts[h.account]+n <= bound && b.keys[h]+n <= bound/2
}

// reserve waits until n bytes may be held. It returns the fault Unavailable when none became free in time.
func (b *byteBudget) reserve(ctx context.Context, h byteHolder, n int64) error {
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
	if ahead >= accountWaiting || b.queue > 0 && b.queued+n > b.queue {
		b.mu.Unlock()
		return b.busy
	}
	w := &byteWaiter{h, n, make(chan struct{})}
	b.queued += n
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
		b.queued -= w.bytes
		return b.busy
	}
	return nil // it was granted after the timeout and before the lock
}

// reserveNow is reserve for what must not wait. It reports whether the bytes may be held.
func (b *byteBudget) reserveNow(h byteHolder, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	fits := b.fits(h, n)
	if fits {
		b.hold(h, n)
	}
	return fits
}

// force holds n bytes, whether they fit or not.
func (b *byteBudget) force(h byteHolder, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hold(h, n)
}

// held returns the bytes that are held now.
func (b *byteBudget) held() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

var (
	errBusy   = fault.New(fault.Unavailable, "too many request bodies are being read at the moment")
	errUnread = fault.New(fault.Unavailable, "too many replies have not been read at the moment")
)

// hold adds n to the held bytes; n is negative when bytes are released.
func (b *byteBudget) hold(h byteHolder, n int64) {
	b.used += n
	if b.accounts[h.account] += n; b.accounts[h.account] == 0 {
		delete(b.accounts, h.account)
	}
	if b.keys[h] += n; b.keys[h] == 0 {
		delete(b.keys, h)
	}
}

// release subtracts n bytes and wakes the waiters that fit now.
func (b *byteBudget) release(h byteHolder, n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hold(h, -n)
	b.admit()
}

// admit grants waiters in order of arrival. A waiter that does not fit stays and does not block the others.
func (b *byteBudget) admit() {
	b.waiting = slices.DeleteFunc(b.waiting, func(w *byteWaiter) bool {
		if !b.fits(w.byteHolder, w.bytes) {
			return false
		}
		b.hold(w.byteHolder, w.bytes)
		b.queued -= w.bytes
		close(w.granted)
		return true
	})
}

// setBusyRetry asks the caller to retry after 5 seconds, which is budgetWait, and longer than a database takes to be tried
// again.
func setBusyRetry(header http.Header) { header.Set("Retry-After", "5") }
