package db

import (
	"container/list"
	"reflect"
	"sync"
)

// maxMemory is how much a Memory keeps, in bytes as sizeOf estimates them.
const maxMemory = 32 << 20

// Cache caches what was made of rows, such as decoded configuration, for the transactions that read. A value belongs
// to an owner at a version and is returned only for exactly that version, which the caller reads in its own
// transaction: a value is never older than the transaction. Values are shared and must not be changed.
//
// Its size is bounded. When it is full, the owner with the most bytes loses its least recently used values, so that a
// large account does not evict the values of others.
type Cache struct {
	mu     sync.Mutex
	most   int // bytes
	size   int
	owners map[int64]*owned
}

// owned is what an owner keeps, all of it of one version.
type owned struct {
	version int64
	size    int
	values  map[any]*list.Element // of *kept
	recent  *list.List            // the most recently asked for first
}

type kept struct {
	key, value any
	size       int
}

func newMemory(most int) *Cache { return &Cache{most: most, owners: map[int64]*owned{}} }

// Get returns a value that was made at this version.
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

// Put stores a value that was made at this version. The first value of a newer version replaces all older ones; one
// of an older version is not stored, nor one larger than an eighth of the whole memory.
func (m *Cache) Put(owner, version int64, key, value any) {
	seen := map[uintptr]bool{}
	k := &kept{key: key, value: value, size: entryOverhead + sizeOf(reflect.ValueOf(key), seen) + sizeOf(reflect.ValueOf(value), seen)}
	if k.size > m.most/8 {
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
	if m.size > m.most {
		m.shrink()
	}
}

// entryOverhead is what an entry costs besides its key and value, in bytes.
const entryOverhead = 200

// shrink makes room until an eighth is free, so that the owners are not looked through for every value.
func (m *Cache) shrink() {
	for m.size > m.most/8*7 {
		var largest int64
		for id, o := range m.owners {
			if m.owners[largest] == nil || o.size > m.owners[largest].size {
				largest = id
			}
		}
		o := m.owners[largest]
		for limit := min(o.size, m.most/16); limit > 0; {
			k := o.recent.Remove(o.recent.Back()).(*kept)
			delete(o.values, k.key)
			limit, o.size, m.size = limit-k.size, o.size-k.size, m.size-k.size
		}
		if len(o.values) == 0 {
			delete(m.owners, largest)
		}
	}
}

// sizeOf estimates the bytes of a value with all that it leads to, each once. What packages of the standard library
// share, such as time zones, is not counted.
func sizeOf(v reflect.Value, seen map[uintptr]bool) int {
	if !v.IsValid() {
		return 0
	}
	return int(v.Type().Size()) + behind(v, seen)
}

// behind is what a value leads to besides its own bytes.
func behind(v reflect.Value, seen map[uintptr]bool) (n int) {
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
			n += behind(v.Field(i), seen)
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			n = v.Cap() * int(v.Type().Elem().Size())
		}
		if v.Type().Elem().Kind() <= reflect.Complex128 {
			return n // numbers lead nowhere
		}
		for i := range v.Len() {
			n += behind(v.Index(i), seen)
		}
	case reflect.Map:
		for each := v.MapRange(); each.Next(); {
			n += 16 + sizeOf(each.Key(), seen) + sizeOf(each.Value(), seen)
		}
	}
	return n
}

// Cache returns the cache of this database for its readers. It is nil in Write, which sees rows that may never be
// committed, or that the same transaction changes a moment later.
func (t *Tx) Cache() *Cache { return t.memory }

// Steady reports whether all statements of the transaction see one state, as those of a snapshot do.
func (t *Tx) Steady() bool { return t.steady }

// Version returns the version of an owner's rows. It calls ask once in a transaction.
func (t *Tx) Version(owner int64, ask func() (int64, error)) (int64, error) {
	if t.versionOf == owner && t.versioned {
		return t.version, nil
	}
	n, err := ask()
	if err == nil {
		t.versionOf, t.version, t.versioned = owner, n, true
	}
	return n, err
}
