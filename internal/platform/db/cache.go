package db

import (
	"container/list"
	"reflect"
	"sync"
)

// maxCache is how much a Cache keeps, in bytes as sizeOf estimates them.
const maxCache = 32 << 20

// Cache caches values derived from rows, such as decoded configuration, for transactions that read. A value belongs
// to an owner at a version and is returned only for exactly that version. The caller reads the version in its own
// transaction, so a value is never older than the transaction. Values are shared and must not be changed.
//
// Its size is bounded. When it is full, the owner with the most bytes loses its least recently used values, so that a
// large account does not evict the values of others.
type Cache struct {
	mu     sync.Mutex
	limit  int // bytes
	size   int // bytes
	owners map[int64]*owned
}

// owned holds the values of one owner, all of one version.
type owned struct {
	version int64
	size    int
	values  map[any]*list.Element // of *kept
	recent  *list.List            // the most recently used first
}

type kept struct {
	key, value any
	size       int
}

func newCache(limit int) *Cache { return &Cache{limit: limit, owners: map[int64]*owned{}} }

// Get returns a value that was stored at this version.
func (m *Cache) Get(owner, version int64, key any) (any, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.owners[owner]
	if o == nil || o.version != version {
		return nil, false
	}
	e := o.values[key]
	if e == nil {
		return nil, false
	}
	o.recent.MoveToFront(e)
	return e.Value.(*kept).value, true
}

// Put stores a value of this version. The first value of a newer version replaces all older ones. A value of an
// older version is not stored, nor one larger than an eighth of the limit.
func (m *Cache) Put(owner, version int64, key, value any) {
	seen := map[uintptr]bool{}
	k := &kept{key: key, value: value, size: entryOverhead + sizeOf(reflect.ValueOf(key), seen) + sizeOf(reflect.ValueOf(value), seen)}
	if k.size > m.limit/8 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.owners[owner]
	if o == nil || o.version < version {
		if o != nil {
			m.size -= o.size
		}
		o = &owned{version: version, values: map[any]*list.Element{}, recent: list.New()}
		m.owners[owner] = o
	}
	if o.version > version || o.values[key] != nil {
		return
	}
	o.values[key] = o.recent.PushFront(k)
	o.size += k.size
	m.size += k.size
	if m.size > m.limit {
		m.shrink()
	}
}

// entryOverhead is the size of an entry besides its key and value, in bytes.
const entryOverhead = 200

// shrink deletes values until an eighth of the limit is free, so that not every Put searches the owners. It takes
// them from the largest owner, a sixteenth of the limit at a time.
func (m *Cache) shrink() {
	for m.size > m.limit/8*7 {
		var largest int64
		for id, o := range m.owners {
			if m.owners[largest] == nil || o.size > m.owners[largest].size {
				largest = id
			}
		}
		o := m.owners[largest]
		for excess := min(o.size, m.limit/16); excess > 0; {
			k := o.recent.Remove(o.recent.Back()).(*kept)
			delete(o.values, k.key)
			excess = excess - k.size
			o.size = o.size - k.size
			m.size = m.size - k.size
		}
		if len(o.values) == 0 {
			delete(m.owners, largest)
		}
	}
}

// sizeOf estimates the bytes of a value with everything that it points to, each once. Values of package time, such
// as time zones, are shared by the whole program and not counted.
func sizeOf(v reflect.Value, seen map[uintptr]bool) int {
	if !v.IsValid() {
		return 0
	}
	return int(v.Type().Size()) + sizeBehind(v, seen)
}

// sizeBehind estimates the bytes that a value points to, without its own.
func sizeBehind(v reflect.Value, seen map[uintptr]bool) (n int) {
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Interface:
		return sizeOf(v.Elem(), seen)
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] || v.Type().Elem().PkgPath() == "time" {
			return 0
		}
		seen[v.Pointer()] = true
		return sizeOf(v.Elem(), seen)
	case reflect.Struct:
		for i := range v.NumField() {
			n += sizeBehind(v.Field(i), seen)
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			n = v.Cap() * int(v.Type().Elem().Size())
		}
		if v.Type().Elem().Kind() <= reflect.Complex128 {
			return n // numbers point to nothing
		}
		for i := range v.Len() {
			n += sizeBehind(v.Index(i), seen)
		}
	case reflect.Map:
		for each := v.MapRange(); each.Next(); {
			n += 16 + sizeOf(each.Key(), seen) + sizeOf(each.Value(), seen)
		}
	}
	return n
}

// Cache returns the cache of this database. It is nil in Write, which sees rows that may never be committed, or
// that the same transaction may change again.
func (t *Tx) Cache() *Cache { return t.memory }

// Steady reports whether all statements of the transaction see one state, as in a snapshot.
func (t *Tx) Steady() bool { return t.steady }
