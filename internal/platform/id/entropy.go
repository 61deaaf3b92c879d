// Package id generates the program's identifiers and secrets.
//
// Every one of them is random enough to need no coordination between nodes.
// Public identifiers must never be treated as secrets: they appear in logs,
// addresses and replies, and some of them contain their time of creation. Only
// Token and AppKey return secrets.
package id

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
)

// public is the randomness behind public identifiers. Secrets do not come from
// here: they are drawn from the kernel one by one, so that none of them waits
// in memory before it is used.
var public pool

// pool returns the kernel's randomness from a buffer, because one system call
// per identifier can cost more than the rest of the identifier.
type pool struct {
	mu   sync.Mutex
	buf  [4096]byte
	left int // unused bytes at the end of buf
}

// Read fills p and never fails, as crypto/rand.Read never does.
func (e *pool) Read(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for n := 0; n < len(p); {
		if e.left == 0 {
			rand.Read(e.buf[:])
			e.left = len(e.buf)
		}
		took := copy(p[n:], e.buf[len(e.buf)-e.left:])
		e.left -= took
		n += took
	}
	return len(p), nil
}

// Uint64 makes the pool a source for math/rand/v2, which then does the
// unbiased arithmetic.
func (e *pool) Uint64() uint64 {
	var b [8]byte
	_, _ = e.Read(b[:]) // never fails
	return binary.BigEndian.Uint64(b[:])
}
