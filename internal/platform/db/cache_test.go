package db

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCacheIsMapWithVersions compares the cache with a naive model: Get returns the value that was stored at that
// version, and none of another version or owner.
func TestCacheIsMapWithVersions(t *testing.T) {
	t.Parallel()
	type place struct{ owner, version, key int64 }
	r := rand.New(rand.NewPCG(1, 2))
	m := newCache(20_000)
	model := map[place]string{}
	newest := map[int64]int64{}
	found := 0
	for range 50_000 {
		owner := r.Int64N(5)
		p := place{owner, newest[owner], r.Int64N(40)}
		switch r.IntN(100) {
		case 0:
			p.version++
		case 1:
			p.version--
		}
		if got, ok := m.Get(p.owner, p.version, p.key); ok {
			found++
			if want := model[p]; got != want || p.version != newest[p.owner] {
				t.Fatalf("Get(%+v) = %q, want %q of version %d", p, got, want, newest[p.owner])
			}
		} else {
			text := strings.Repeat("x", r.IntN(100))
			m.Put(p.owner, p.version, p.key, text)
			newest[p.owner] = max(newest[p.owner], p.version)
			if newest[p.owner] == p.version {
				model[p] = text
			}
		}
		size := 0
		for _, o := range m.owners {
			size += o.size
		}
		if size != m.size || size > m.limit {
			t.Fatalf("it keeps %d bytes, counts %d, may keep %d", size, m.size, m.limit)
		}
	}
	if found < 1000 {
		t.Errorf("only %d were found", found)
	}
}

// TestLargeOwnerEvictsOnlyItself: however much one owner stores, the values of the others stay.
func TestLargeOwnerEvictsOnlyItself(t *testing.T) {
	t.Parallel()
	m := newCache(1 << 20)
	for owner := range int64(20) {
		m.Put(owner, 1, "small", "value")
	}
	for key := range 10_000 {
		m.Put(99, 1, key, strings.Repeat("x", 1000))
	}
	for owner := range int64(20) {
		if _, ok := m.Get(owner, 1, "small"); !ok {
			t.Errorf("owner %d lost its value", owner)
		}
	}
	if _, ok := m.Get(99, 1, 9_999); !ok {
		t.Error("the large owner lost what it put last")
	}
	if _, ok := m.Get(99, 1, 0); ok || m.size > m.limit {
		t.Errorf("the large owner keeps its first value; %d bytes of %d", m.size, m.limit)
	}
	if m.Put(7, 1, "huge", strings.Repeat("x", 1<<20)); m.size > m.limit {
		t.Error("a value larger than the whole memory was kept")
	}
}

// TestSizesIncludeWhatValuePointsTo: the estimate is no less than the texts that a value points to.
func TestSizesIncludeWhatValuePointsTo(t *testing.T) {
	t.Parallel()
	type inner struct{ texts []string }
	type outer struct {
		by   map[string]*inner
		any  any
		self *outer
	}
	v := &outer{by: map[string]*inner{"a": {[]string{strings.Repeat("x", 5000)}}}, any: strings.Repeat("y", 3000)}
	v.self = v
	m := newCache(1 << 20)
	m.Put(1, 1, "key", v)
	if m.size < 8000 || m.size > 9000 {
		t.Errorf("8,000 bytes of text are estimated at %d", m.size)
	}
}
