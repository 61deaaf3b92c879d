package id

import (
	"math/bits"
	"time"
)

// base57 leaves out the characters that are mistaken for one another when
// read aloud or copied by hand: 0, 1, I, O and l.
const base57 = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// Short returns 128 random bits as 22 characters of base57, always 22: the id
// of a RUM application or issue, and the tail of a delivery's event id.
func Short() string {
	return short(public.Uint64(), public.Uint64())
}

// ShortAt is Short with the time of the day in milliseconds in place of the first 27 bits, so that ids of one day sort by
// time: an index to which they are added is written at its end, and not all over.
func ShortAt(now time.Time) string {
	const day = 24 * 60 * 60 * 1000
	return short(uint64(now.UnixMilli()%day)<<37|public.Uint64()>>27, public.Uint64()) //nolint:gosec // not before 1970
}

// short writes the 128-bit number hi<<64|lo, most significant digit first and
// padded with the digit for zero. 57^22 is just above 2^128, so it always fits.
func short(hi, lo uint64) string {
	var s [22]byte
	for i := len(s) - 1; i >= 0; i-- {
		var rest uint64
		hi, rest = hi/57, hi%57
		lo, rest = bits.Div64(rest, lo, 57)
		s[i] = base57[rest]
	}
	return string(s[:])
}
