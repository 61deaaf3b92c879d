package ratelimit

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

// shards is how many locks a table is spread over.
const shards = 32

// Table holds the windows of all keys. It is safe for concurrent use.
type Table[K comparable] struct {
	seed   maphash.Seed
	max    int64
	share  *Share
	keys   atomic.Int64
	shards [shards]shard[K]

	mu     sync.Mutex
	shared window // for the keys beyond max
}

type shard[K comparable] struct {
	mu      sync.Mutex
	windows map[K]*window
	swept   int64
}

// New returns an empty table that tracks at most maxKeys keys, or any number
// if maxKeys is 0. Bound it where unknown clients choose the keys: keys beyond
// the bound share one window, so that a flood of new keys costs no more memory
// and is held to one rate altogether. A key is deleted one to two minutes after
// its last request.
func New[K comparable](maxKeys int) *Table[K] {
	t := &Table[K]{seed: maphash.MakeSeed(), max: int64(maxKeys)}
	for i := range t.shards {
		t.shards[i].windows = map[K]*window{}
	}
	return t
}

// Divided makes the table accept a share of each rate, and returns it. It is called before the first Allow.
func (t *Table[K]) Divided(share *Share) *Table[K] {
	t.share = share
	return t
}

// Allow decides on one request for the key and counts it if it is accepted. A
// clock that was set back locks no client out for longer than a minute.
func (t *Table[K]) Allow(key K, rate Rate, now time.Time) Result {
	return t.ask(key, rate, now, (*window).allow)
}

// Behind describes the turn of a request that comes behind so many others, which wait already: RetryAfter is how long
// until then. It counts nothing.
func (t *Table[K]) Behind(ahead int, key K, rate Rate, now time.Time) Result {
	v := t.ask(key, rate, now, func(w *window, rate Rate, now int64) Result { return w.behind(ahead, rate, now) })
	v.OK = false
	return v
}

// ask calls fn with the window of the key and this process's share of the rate.
func (t *Table[K]) ask(key K, rate Rate, now time.Time, fn func(w *window, rate Rate, now int64) Result) Result {
	rate = t.share.Of(rate)
	if rate.PerSecond <= 0 && rate.PerMinute <= 0 {
		return Result{OK: true}
	}
	ns := now.UnixNano()
	s := &t.shards[maphash.Comparable(t.seed, key)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if since := ns - s.swept; since >= oneMinute || since < -oneMinute {
		t.sweep(s, ns)
	}
	w := s.windows[key]
	if w == nil {
		if !t.admit() {
			t.mu.Lock()
			defer t.mu.Unlock()
			return fn(&t.shared, rate, ns)
		}
		w = new(window)
		s.windows[key] = w
	}
	return fn(w, rate, ns)
}

// Sweep deletes the keys that have been idle for a minute and returns how many
// are left. Allow does the same for the keys that share its lock, at most once a
// minute, so Sweep is needed only where a table may receive no requests at all.
func (t *Table[K]) Sweep(now time.Time) (left int) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		t.sweep(s, now.UnixNano())
		s.mu.Unlock()
	}
	return int(t.keys.Load())
}

// admit reports whether the table has a place for one more key, and reserves it.
func (t *Table[K]) admit() bool {
	if t.keys.Add(1) > t.max && t.max > 0 {
		t.keys.Add(-1)
		return false
	}
	return true
}

func (t *Table[K]) sweep(s *shard[K], now int64) {
	for key, w := range s.windows {
		switch age := now - w.latest; {
		case age >= oneMinute:
			delete(s.windows, key)
			t.keys.Add(-1)
		case age < -oneMinute:
			w.settle(now) // or it would stay until the clock has caught up
		}
	}
	s.swept = now
}
