package id

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"sync/atomic"
	"time"
)

// NilObject is used where an object id is required and there is no object, as
// in the from_incident_id of a silence rule that was not made from an incident.
const NilObject = "000000000000000000000000"

var (
	process = func() (p [5]byte) { rand.Read(p[:]); return }()
	start   = uint32(public.Uint64()) >> 10 // a quarter of the counter at most
	issued  atomic.Uint32
)

// Object returns the id of an alert, an event, an incident or a rule: 24
// lower-case hexadecimal digits made of now in seconds (4 bytes), a number
// drawn once per process (5 bytes) and a counter with a random start (3 bytes).
// Within one process and one second ids repeat only after 16,777,216 of them.
// The start is low, so that a process issues over 12 million ids before the
// counter begins again at 0, where the order of ids of one second breaks once.
func Object(now time.Time) string {
	var b [12]byte
	binary.BigEndian.PutUint32(b[:], uint32(now.Unix()))
	copy(b[4:], process[:])
	c := start + issued.Add(1)
	b[9] = byte(c >> 16)
	b[10] = byte(c >> 8)
	b[11] = byte(c)
	return hex.EncodeToString(b[:])
}

// After returns a text that is greater than every object id made before a moment or in its second, and less than those
// made later.
func After(now time.Time) string {
	return fmt.Sprintf("%08x", uint32(now.Unix()+1))
}

// IsObject reports whether s has the form of an object id: 24 hexadecimal
// digits. Both cases are well formed, but ids are compared as text and only
// lower-case ones are ever issued, so that an upper-case one is an unknown id
// rather than a malformed one.
func IsObject(s string) bool {
	if len(s) != len(NilObject) {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
		default:
			return false
		}
	}
	return true
}
