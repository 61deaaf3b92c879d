package ratelimit

import (
	"slices"
	"sync"
)

// Queue orders the requests that wait because their window is full. For each key the first one alone may ask the table;
// so they are accepted in the order in which they came, and the windows stay exact. It is safe for concurrent use. It
// must never hold more places than its bounds, nor a key without a place.
type Queue[K comparable] struct {
	bounds Bounds

	mu     sync.Mutex
	keys   map[K][]*Place
	owners map[int64]int
	places int
}

// Bounds are how many requests may wait: of one key, of all keys of one owner, and in all. One owner must not be able to
// take all places.
type Bounds struct{ PerKey, PerOwner, InAll int }

// Place is the place of one request in a Queue.
type Place struct {
	owner int64
	turn  chan struct{}
}

// Turn returns a channel that is closed when the request is the first of its key.
func (p *Place) Turn() <-chan struct{} { return p.turn }

// NewQueue returns an empty queue.
func NewQueue[K comparable](bounds Bounds) *Queue[K] {
	return &Queue[K]{bounds: bounds, keys: map[K][]*Place{}, owners: map[int64]int{}}
}

// Waiting returns how many requests of the key wait. A new one must not ask the table before them.
func (q *Queue[K]) Waiting(key K) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.keys[key])
}

// Places returns how many requests wait.
func (q *Queue[K]) Places() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.places
}

// Join adds a request behind the others of its key, and returns how many those are. The place is nil when the key, the
// owner or the queue has no place left.
func (q *Queue[K]) Join(key K, owner int64) (p *Place, ahead int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	ahead = len(q.keys[key])
	if ahead >= q.bounds.PerKey || q.owners[owner] >= q.bounds.PerOwner || q.places >= q.bounds.InAll {
		return nil, ahead
	}
	p = &Place{owner: owner, turn: make(chan struct{})}
	q.keys[key] = append(q.keys[key], p)
	q.owners[owner]++
	q.places++
	if ahead == 0 {
		close(p.turn)
	}
	return p, ahead
}

// Leave removes a request that was accepted, or that waits no more. The next one of its key has its turn then.
func (q *Queue[K]) Leave(key K, p *Place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.Index(q.keys[key], p)
	if at < 0 {
		return
	}
	left := slices.Delete(q.keys[key], at, at+1)
	q.places--
	if q.owners[p.owner]--; q.owners[p.owner] == 0 {
		delete(q.owners, p.owner)
	}
	if len(left) == 0 {
		delete(q.keys, key)
		return
	}
	q.keys[key] = left
	if at == 0 {
		close(left[0].turn)
	}
}
