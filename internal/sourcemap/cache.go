package sourcemap

import (
	"container/list"
	"sync"

	"tocsin/internal/core/symbols"
)

// maxCache is how much a cache keeps, in bytes.
const maxCache = 64 << 20

// cache keeps the maps that were read last. A map never changes: one that is uploaded again has another id.
type cache struct {
	mu     sync.Mutex
	limit  int
	size   int
	maps   map[cacheKey]*list.Element
	recent *list.List // of *cached, the most recently used first
}

type cacheKey struct {
	account int64
	id      string
}

type cached struct {
	cacheKey
	*symbols.Map
}

func newCache(limit int) *cache {
	return &cache{limit: limit, maps: map[cacheKey]*list.Element{}, recent: list.New()}
}

// get returns a map; nil: it is not there.
func (c *cache) get(k cacheKey) *symbols.Map {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.maps[k]
	if e == nil {
		return nil
	}
	c.recent.MoveToFront(e)
	return e.Value.(*cached).Map
}

// put keeps a map, in place of those that were used longest ago. One larger than a half of the limit is not kept.
func (c *cache) put(k cacheKey, m *symbols.Map) {
	if m.Size() > c.limit/2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.maps[k] != nil {
		return
	}
	c.maps[k] = c.recent.PushFront(&cached{k, m})
	c.size += m.Size()
	for c.size > c.limit {
		old := c.recent.Remove(c.recent.Back()).(*cached)
		delete(c.maps, old.cacheKey)
		c.size -= old.Size()
	}
}
