package api

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

// TestByteBudgetCounts reserves and releases in random order. The held bytes are the sum of the grants, never over the
// total (but for a single body), and an account and a key never exceed their bound at the moment of the grant. When
// everything is released, nothing is held and no request waits.
func TestByteBudgetCounts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		total := int64(1+random.IntN(8)) << 20
		b := newBodyBudget(total, time.Hour)
		type grant struct {
			byteHolder
			n int64
		}
		var granted []grant
		var sum int64
		for range 300 {
			if random.IntN(3) == 0 && len(granted) > 0 {
				n := random.IntN(len(granted))
				b.release(granted[n].byteHolder, granted[n].n)
				sum -= granted[n].n
				granted[n] = granted[len(granted)-1]
				granted = granted[:len(granted)-1]
				continue
			}
			g := grant{byteHolder{account: int64(random.IntN(4)), key: int64(random.IntN(3))}, 1 + random.Int64N(total/2)}
			if random.IntN(2) == 0 {
				g.n = 1 + random.Int64N(smallBody)
			}
			var account, key int64
			for _, other := range granted {
				if other.account == g.account {
					account += other.n
					if other.key == g.key {
						key += other.n
					}
				}
			}
			bound := total - sum
			if g.n <= smallBody {
				bound *= 2
			}
			want := sum == 0 || sum+g.n <= total && account+g.n <= bound && 2*(key+g.n) <= bound
			if got := b.fits(g.byteHolder, g.n); got != want {
				t.Fatalf("seed %d: %d bytes of %v fit: %v, want %v (%d of %d held)", seed, g.n, g.byteHolder, got, want, sum, total)
			}
			if want {
				if err := b.reserve(context.Background(), g.byteHolder, g.n); err != nil {
					t.Fatal(err)
				}
				granted, sum = append(granted, g), sum+g.n
			}
			if b.used != sum {
				t.Fatalf("seed %d: %d bytes are held, want %d", seed, b.used, sum)
			}
		}
		for _, g := range granted {
			b.release(g.byteHolder, g.n)
		}
		if b.used != 0 || len(b.accounts)+len(b.keys)+len(b.waiting) != 0 {
			t.Fatalf("seed %d: %d bytes are held by %v %v after everything was released", seed, b.used, b.accounts, b.keys)
		}
	}
}

// TestByteBudgetKeepsBytesForNextAccount: however many accounts take all they can, the next one is granted some, and
// so is a small body of an account that has used up its bound.
func TestByteBudgetKeepsBytesForNextAccount(t *testing.T) {
	t.Parallel()
	b := newBodyBudget(bodiesAtOnce, time.Hour)
	for account := range int64(6) {
		for key := range int64(4) {
			for h := (byteHolder{account: account, key: key}); b.fits(h, 4<<20); {
				b.hold(h, 4<<20)
			}
		}
		if h := (byteHolder{account: account, key: 99}); !b.fits(h, 16<<10) {
			t.Errorf("account %d cannot send a small body with another key; %d bytes are held", account, b.used)
		}
		if h := (byteHolder{account: 100 + account}); !b.fits(h, 1<<20) {
			t.Errorf("after %d greedy accounts the next cannot send 1 MiB; %d bytes are held", account+1, b.used)
		}
	}
}

// TestByteBudgetWaiters: waiters are granted in order of arrival as soon as they fit. They do not block those of other
// accounts, and one account has at most accountWaiting of them.
func TestByteBudgetWaiters(t *testing.T) {
	t.Parallel()
	b := newBodyBudget(8<<20, time.Hour)
	greedy, other := byteHolder{account: 1, key: 1}, byteHolder{account: 2, key: 1}
	b.hold(greedy, 2<<20)
	order := make(chan int, accountWaiting)
	ctx, cancel := context.WithCancel(context.Background())
	for n := range accountWaiting {
		go func() {
			if b.reserve(ctx, greedy, 2<<20) == nil {
				order <- n
			}
		}()
		for waits := 0; waits <= n; { // until it waits, so that the order is known
			b.mu.Lock()
			waits = len(b.waiting)
			b.mu.Unlock()
		}
	}
	if err := b.reserve(ctx, greedy, 2<<20); !errors.Is(err, errBusy) {
		t.Errorf("one more of that account: %v", err)
	}
	if err := b.reserve(ctx, other, 1<<20); err != nil {
		t.Errorf("another account: %v", err)
	}
	b.release(other, 1<<20)
	for n := range 3 {
		b.release(greedy, 2<<20)
		if got := <-order; got != n {
			t.Fatalf("waiter %d was granted, want %d", got, n)
		}
	}
	cancel()
}
