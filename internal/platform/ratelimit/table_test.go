package ratelimit

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestExactlyLimitPassesUnderContention(t *testing.T) {
	table := New[string](0)
	var passed atomic.Int64
	var group sync.WaitGroup
	for g := range 16 {
		group.Go(func() {
			for i := range 200 {
				// Clocks read before the lock was won: late, but within the second.
				at := start.Add(time.Duration((g*31+i*17)%900) * time.Millisecond)
				if table.Allow("k", published, at).OK {
					passed.Add(1)
				}
				table.Allow(fmt.Sprint("other ", i%10), published, at)
			}
		})
	}
	group.Wait()
	if n := passed.Load(); n != 50 {
		t.Errorf("%d requests passed inside one second, want 50", n)
	}
}

func TestIdleKeysAreDeleted(t *testing.T) {
	table := New[int](0)
	for key := range 1000 {
		table.Allow(key, published, start.Add(time.Duration(key)*time.Millisecond))
	}
	if n := table.Sweep(start.Add(time.Minute)); n != 999 {
		t.Errorf("%d keys after a minute, want 999", n)
	}
	if n := table.Sweep(start.Add(time.Minute + 999*time.Millisecond)); n != 0 {
		t.Errorf("%d keys when all are idle", n)
	}
	if n := table.Sweep(start.Add(-time.Hour)); n != 0 {
		t.Errorf("%d keys", n)
	}
	// Without Sweep the requests delete idle keys themselves: an hour of ten new
	// keys a second leaves the keys of two minutes, not those of the hour.
	for i := range 36_000 {
		table.Allow(i, published, start.Add(time.Duration(i)*100*time.Millisecond))
	}
	if n := table.keys.Load(); n > 1300 {
		t.Errorf("%d keys after an hour", n)
	}
	// Keys from a clock that ran an hour fast have a minute left as well.
	table.Sweep(start)
	if n := table.Sweep(start.Add(time.Minute)); n != 0 {
		t.Errorf("%d keys from the future", n)
	}
}

func TestFullTableSharesOneWindow(t *testing.T) {
	rate := Rate{PerMinute: 3}
	table := New[int](100)
	passed := func(from, to int) (n int) {
		for key := from; key < to; key++ {
			for range 5 {
				if table.Allow(key, rate, start).OK {
					n++
				}
			}
		}
		return n
	}
	if n := passed(0, 100); n != 300 {
		t.Errorf("%d requests of the first hundred keys passed, want 300", n)
	}
	if n := passed(100, 5000); n != 3 {
		t.Errorf("%d requests of the other keys passed, want 3 altogether", n)
	}
	later := start.Add(2 * time.Minute)
	table.Sweep(later)
	if v := table.Allow(7000, rate, later); !v.OK || v.Remaining != 2 {
		t.Errorf("a new key in an emptied table: %+v", v)
	}
}

func TestNetwork(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.7":                "192.0.2.7/32",
		"::ffff:192.0.2.7":         "192.0.2.7/32",
		"2001:db8:1:2:3:4:5:6":     "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::":      "2001:db8:1:2::/64",
		"fe80::1%eth0":             "fe80::/64",
		"2001:db8:1:3:3:4:5:6%any": "2001:db8:1:3::/64",
	} {
		if got := Network(netip.MustParseAddr(addr)); got != netip.MustParsePrefix(want) {
			t.Errorf("Network(%s) = %v, want %s", addr, got, want)
		}
	}
	if got := Network(netip.Addr{}); got != (netip.Prefix{}) {
		t.Errorf("Network of nothing = %v", got)
	}
}

type key struct {
	account int64
	op      int32
}

func BenchmarkAllow(b *testing.B) {
	// The clock moves 70 ms a request, under the limit, or not at all, over it.
	for name, step := range map[string]time.Duration{"accepted": 70 * time.Millisecond, "refused": 0} {
		b.Run(name, func(b *testing.B) {
			table, now := New[key](0), start
			b.ReportAllocs()
			for b.Loop() {
				now = now.Add(step)
				table.Allow(key{1, 2}, published, now)
			}
		})
	}
	b.Run("10,000 keys in parallel", func(b *testing.B) {
		table := New[key](0)
		var calls atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				n := calls.Add(1)
				table.Allow(key{n % 10_000, 2}, published, start.Add(time.Duration(n)*time.Microsecond))
			}
		})
	})
}
